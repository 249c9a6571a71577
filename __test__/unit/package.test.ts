// What is published, and what a user's package manager makes of it.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const text = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(text("package.json"));

const packed = (): string[] => {
  const json = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  // npm 11 gives a list, npm 12 an object keyed by name.
  const [report] = Object.values(JSON.parse(json) as Record<string, { files: { path: string }[] }>);
  return report?.files.map(({ path }) => path) ?? [];
};

describe("package", () => {
  it("has one version in package.json, Cargo.toml and the changelog", () => {
    const crate = /^version = "(.+)"$/m.exec(text("Cargo.toml"))?.[1];
    const latest = /^## \[(.+?)\]/m.exec(text("CHANGELOG.md"))?.[1];
    assert.deepEqual({ crate, latest }, { crate: manifest.version, latest: manifest.version });
  });

  it("names only files that exist", () => {
    const { exports, bin, pi, types } = manifest;
    const named = [types, exports["."].types, exports["."].default, exports["./schema"], ...Object.values(bin)];
    for (const path of [...named, ...pi.extensions, ...pi.skills, ...pi.prompts] as string[]) {
      assert.ok(existsSync(join(root, path)), `${path} is missing`);
    }
  });

  it("names resources without patterns, which would cost each start of Pi a glob library", () => {
    for (const path of Object.values(manifest.pi as Record<string, string[]>).flat())
      assert.doesNotMatch(path, /[*?{}!]/);
  });

  it("ships what is needed to load or build it, and nothing of the workshop", () => {
    const files = packed();
    for (const needed of [
      "LICENSE",
      "README.md",
      "index.js",
      "index.d.ts",
      "loader.js",
      "agents/watchdog.md",
      "extension/index.ts",
      "bin/pi-watchdog",
      "Cargo.toml",
      "Cargo.lock",
      "build.rs",
      "src/lib.rs",
      "scripts/build.mjs",
      "scripts/postinstall.mjs",
      "scripts/lib/native.mjs",
    ]) {
      assert.ok(files.includes(needed), `${needed} is not shipped`);
    }
    const workshop = files.filter((path) =>
      /^(__test__|bench|demo|target|native|node_modules|\.)|\.test\.|\.node$/.test(path),
    );
    assert.deepEqual(workshop, []);
  });

  it("leaves Pi's packages to Pi", () => {
    assert.equal(manifest.dependencies, undefined);
    for (const [name, range] of Object.entries(manifest.peerDependencies)) {
      assert.equal(range, "*", name);
      // The library and the command work without Pi.
      assert.equal(manifest.peerDependenciesMeta[name]?.optional, true, name);
      assert.match(manifest.devDependencies[name], /^\d+\.\d+\.\d+$/, `${name} is pinned for development`);
    }
  });

  it("imports in shipped code come from Node, the package itself or a peer", () => {
    const allowed = new Set(Object.keys(manifest.peerDependencies));
    const shipped = packed().filter((path) => /\.(ts|js|mjs)$/.test(path) || path.startsWith("bin/"));
    const foreign = shipped.flatMap((path) =>
      [...text(path).matchAll(/^(?:import|export)\b[^"']*?from\s+["']([^"'.][^"']*)["']/gm)]
        .map((match) => match[1] ?? "")
        .filter((name) => !name.startsWith("node:") && !allowed.has(packageName(name)))
        .map((name) => `${path}: ${name}`),
    );
    assert.deepEqual(foreign, []);
  });

  it("has a lock file without registry addresses", () => {
    assert.doesNotMatch(text("package-lock.json"), /"resolved"/);
  });
});

function packageName(specifier: string): string {
  const [first, second] = specifier.split("/");
  return first?.startsWith("@") ? `${first}/${second}` : (first ?? "");
}
