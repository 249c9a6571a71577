// Setup and build in a copy of the project whose compiler is a stand-in that notes its calls: what is done, and when not.

import assert from "node:assert/strict";
import { type SpawnSyncReturns, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const project = fileURLToPath(new URL("../..", import.meta.url));
const skip = process.platform === "win32" ? "the stand-in compiler is a shell script" : false;

describe("setup", { skip }, () => {
  let root: string;

  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "pi-watchdog-setup-")));
    for (const path of ["scripts", "loader.js", "package.json", "package-lock.json"]) {
      cpSync(join(project, path), join(root, path), { recursive: true });
    }
    mkdirSync(join(root, "src"));
    writeFileSync(join(root, "src", "lib.rs"), "// one\n");
    symlinkSync(join(project, "node_modules"), join(root, "node_modules"));
    mkdirSync(join(root, "tools"));
    script("rustc", 'echo "rustc 1.0.0-stand-in"');
    const image = join(root, "image.so");
    const message = { reason: "compiler-artifact", target: { kind: ["cdylib"] }, filenames: [image] };
    script("cargo", `echo called >> "${root}/calls"; date +%N > "${image}"; echo '${JSON.stringify(message)}'`);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const script = (name: string, body: string) => {
    writeFileSync(join(root, "tools", name), `#!/bin/sh\n${body}\n`);
    chmodSync(join(root, "tools", name), 0o755);
  };
  const setup = (): SpawnSyncReturns<string> =>
    spawnSync(process.execPath, [join(root, "scripts", "setup.mjs")], {
      encoding: "utf8",
      env: {
        ...process.env,
        PATH: [join(root, "tools"), dirname(process.execPath), "/bin", "/usr/bin"].join(delimiter),
      },
    });
  const builds = () =>
    existsSync(join(root, "calls")) ? readFileSync(join(root, "calls"), "utf8").split("\n").length - 1 : 0;
  const image = () => {
    const name = readdirSync(join(root, "native")).find((file) => file.endsWith(".node"));
    assert.ok(name, "no image");
    return join(root, "native", name);
  };

  it("builds once, and has nothing to do the second time", () => {
    assert.match(setup().stdout, /^addon: built$/m);
    const second = setup();
    assert.equal(second.status, 0, second.stderr);
    assert.match(second.stdout, /^dependencies: fresh$/m);
    assert.match(second.stdout, /^addon: fresh$/m);
    assert.equal(builds(), 1);
  });

  it("builds anew when a source, the compiler or the image has changed", () => {
    setup();
    appendFileSync(join(root, "src", "lib.rs"), "// two\n");
    setup();
    assert.equal(builds(), 2, "after a change of a source");
    script("rustc", 'echo "rustc 2.0.0-stand-in"');
    setup();
    assert.equal(builds(), 3, "with another compiler");
    rmSync(image());
    setup();
    assert.equal(builds(), 4, "without the image");
  });

  it("puts a new file in the place of the old image, which a process may have loaded", () => {
    setup();
    const before = statSync(image()).ino;
    appendFileSync(join(root, "src", "lib.rs"), "// two\n");
    setup();
    assert.notEqual(statSync(image()).ino, before);
    assert.deepEqual(
      readdirSync(join(root, "native")).filter((name) => !/^pi-watchdog.*node$|^build\.json$/.test(name)),
      [],
    );
  });

  it("leaves the image alone when the build fails, and says so in the exit code", () => {
    setup();
    const before = readFileSync(image(), "utf8");
    appendFileSync(join(root, "src", "lib.rs"), "// broken\n");
    script("cargo", "echo 'error: broken' >&2; exit 101");
    const failed = setup();
    assert.equal(failed.status, 1);
    assert.match(failed.stderr, /cargo build failed \(exit code 101\)/);
    assert.equal(readFileSync(image(), "utf8"), before);
  });

  it("says in one line that Rust is missing", () => {
    script("rustc", "exit 127");
    const { status, stderr } = setup();
    assert.equal(status, 1);
    assert.match(stderr, /^setup: Rust is missing: .*rustup\.rs.*\n$/);
  });

  it("needs no Rust when the addon was built from the same sources", () => {
    setup();
    script("rustc", "exit 127");
    const { status, stdout } = setup();
    assert.equal(status, 0);
    assert.match(stdout, /^addon: fresh$/m);
  });
});

describe("after an install", { skip }, () => {
  it("a package without an addon and without Rust is installed all the same, with one line that says what to do", () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-watchdog-install-")));
    try {
      for (const path of ["scripts", "loader.js", "package.json"]) {
        cpSync(join(project, path), join(root, path), { recursive: true });
      }
      mkdirSync(join(root, "src"));
      const { status, stderr } = spawnSync(process.execPath, [join(root, "scripts", "postinstall.mjs")], {
        cwd: root,
        encoding: "utf8",
        env: { PATH: root, INIT_CWD: root, npm_config_omit: "dev" },
      });
      assert.equal(status, 0);
      assert.match(stderr, /^pi-watchdog-supervisor: no addon yet\. Rust is missing: .*\n$/);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
