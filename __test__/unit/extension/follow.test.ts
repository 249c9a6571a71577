// Files of JSON lines that grow, break and change hands while they are read.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type FollowOptions, follow } from "../../../extension/subagents/follow.ts";
import { LineReader } from "../../../extension/subagents/lines.ts";
import { poll } from "../../support/wait.ts";

/** Looks only when told to. */
function followed(t: TestContext, options: Partial<FollowOptions> = {}) {
  const directory = mkdtempSync(join(tmpdir(), "follow-test-"));
  const path = join(directory, "file.jsonl");
  const lines: unknown[] = [];
  let restarts = 0;
  const follower = follow(path, {
    line: (value) => lines.push(value),
    restarted: () => {
      restarts += 1;
    },
    pollMs: 1_000_000,
    ...options,
  });
  t.after(() => {
    follower.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, path, lines, follower, restarts: () => restarts };
}

test("each whole line is given once, whenever its parts come", async (t) => {
  const { path, lines, follower } = followed(t);
  await follower.look();
  writeFileSync(path, '{"n":1}\n{"n":');
  await follower.look();
  assert.deepEqual(lines, [{ n: 1 }]);
  appendFileSync(path, "2}\n\n  \n");
  await Promise.all([follower.look(), follower.look()]);
  appendFileSync(path, '{"n":3}\n{"n":4}');
  await follower.end();
  assert.deepEqual(lines, [{ n: 1 }, { n: 2 }, { n: 3 }]);
  assert.equal(follower.unreadable, 0);
});

test("a character that lies across two reads is whole", () => {
  const reader = new LineReader();
  const bytes = Buffer.from('"→"\n');
  const lines = [...bytes].flatMap((_, i) => reader.take(bytes.subarray(i, i + 1)));
  assert.deepEqual(lines, ['"→"']);
});

test("a line too long is left out and counted, and the next one is read", async (t) => {
  const { path, lines, follower } = followed(t, { maxLine: 100 });
  writeFileSync(path, `"${"x".repeat(5_000_000)}"\n"next"\n`);
  await follower.look();
  assert.deepEqual(lines, ["next"]);
  assert.equal(follower.unreadable, 1);
});

test("broken lines are counted, and what a listener throws stays in the follower", async (t) => {
  const given: unknown[] = [];
  const { path, follower } = followed(t, {
    line: (value) => {
      given.push(value);
      if (value === 2) throw new Error("not to its liking");
    },
  });
  writeFileSync(path, "1\n{broken\n\u0000\n2\n3\n");
  await follower.look();
  assert.deepEqual(given, [1, 2, 3]);
  assert.equal(follower.unreadable, 3);
});

test("a file that is cut is read from its new beginning", async (t) => {
  const { path, lines, follower, restarts } = followed(t);
  writeFileSync(path, "1\n2\n3");
  await follower.look();
  truncateSync(path);
  appendFileSync(path, "4\n");
  await follower.look();
  assert.deepEqual(lines, [1, 2, 4]);
  assert.equal(restarts(), 1);
});

test("of a file that is moved away the end is read, and then the new one of its name", async (t) => {
  const { path, lines, follower } = followed(t);
  writeFileSync(path, "1\n");
  await follower.look();
  appendFileSync(path, "2\n");
  renameSync(path, `${path}.1`);
  await follower.look();
  writeFileSync(path, "3\n");
  await follower.look();
  assert.deepEqual(lines, [1, 2, 3]);
});

test("a removed file may come back, also under the same inode", async (t) => {
  const { path, lines, follower } = followed(t);
  for (const n of [1, 2, 3, 4]) {
    writeFileSync(path, `${n}\n${n}\n`);
    await follower.look();
    unlinkSync(path);
  }
  await follower.look();
  assert.deepEqual(lines, [1, 1, 2, 2, 3, 3, 4, 4]);
});

test("directories, pipes and dangling names hold nothing up", { skip: process.platform === "win32" }, async (t) => {
  const { directory, path, lines, follower } = followed(t);
  symlinkSync(join(directory, "nowhere"), path);
  await follower.look();
  unlinkSync(path);
  symlinkSync(directory, path);
  await follower.look();
  unlinkSync(path);
  assert.equal(spawnSync("mkfifo", [path]).status, 0);
  await follower.look();
  unlinkSync(path);
  writeFileSync(path, "1\n");
  await follower.end();
  assert.deepEqual(lines, [1]);
});

test("what is written is seen without being asked for, also by a writer in another process", async (t) => {
  const { path, lines } = followed(t, { pollMs: 20 });
  spawnSync(process.execPath, ["-e", "require('fs').appendFileSync(process.argv[1], '1\\n2\\n')", path]);
  await poll(
    () => (lines.length === 2 ? true : undefined),
    () => "both lines",
  );
});

test("after closing nothing is given any more, and no handle keeps the process alive", async (t) => {
  const { path, lines, follower } = followed(t);
  writeFileSync(path, "1\n");
  await follower.look();
  follower.close();
  follower.close();
  appendFileSync(path, "2\n");
  await follower.look();
  await follower.end();
  assert.deepEqual(lines, [1]);
  const program = `import { follow } from ${JSON.stringify(new URL("../../../extension/subagents/follow.ts", import.meta.url).href)};
    const follower = follow(process.argv[1], { line() {} });
    await follower.look();`;
  const run = spawnSync(process.execPath, ["--input-type=module", "-e", program, path], { timeout: 20_000 });
  assert.equal(run.status, 0, String(run.stderr));
});
