// The history under load and on broken disks, with real processes that write it. What one process alone does is tested
// in the core (src/history/tests.rs), what Pi's user sees of it in __test__/pi/history.test.ts.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { findOrphans, history, readHistory } from "../../index.js";
import { killWriters, startWorker, work, writeAtOnce } from "../support/history/stress.ts";
import { poll } from "../support/wait.ts";

/** A path for a database in a folder that does not exist yet. */
function place(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "watchdog-history-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return join(folder, "deep", "state.db");
}

/** A small disk of its own at `$1` for a command, where the system lets us; `more` runs before the command. */
const withDisk = (folder: string, more = ":") => [
  "unshare",
  "--user",
  "--map-root-user",
  "--mount",
  "sh",
  "-c",
  `mount -t tmpfs -o size=512k none "$1" && ${more} && shift && exec "$@"`,
  "sh",
  folder,
];
const [unshare = "", ...probe] = [...withDisk(tmpdir()), "true"];
const noDisk = spawnSync(unshare, probe).status === 0 ? false : "no disk of one's own can be mounted here";

test("eight processes write one history at once and lose nothing", async (t) => {
  const sessions = await writeAtOnce(place(t), 8, 3);
  assert.ok(sessions > 8 * 5, `${sessions} sessions`);
});

test("a writer that is killed at any moment leaves a whole database with all that was written", async (t) => {
  // Different moments at every run would make a failure hard to find again.
  let seed = 20261130;
  const random = () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed / 2147483648;
  };
  assert.ok((await killWriters(place(t), 20, random)) > 0);
});

test("what happened is written by itself, and the file is its owner's alone", async (t) => {
  const path = place(t);
  const child = startWorker("background", path, 30);
  const found = await poll(
    async () => {
      const report = await readHistory(path).catch(() => undefined);
      return report?.sessionCount === 30 ? report : undefined;
    },
    () => "30 sessions that nobody asked for",
  );
  assert.equal(found.incidentCount, 30);
  if (process.platform !== "win32") assert.equal(statSync(path).mode & 0o077, 0);
  child.stdin?.end();
});

test("sessions of a killed process are found by its id and start time, those of a live one are not", async (t) => {
  const path = place(t);
  const mine = startWorker("background", path, 1);
  const killed = startWorker("acknowledge", path);
  const count = (pid: number | undefined) => async () => {
    const report = await readHistory(path, { session: `${pid}-` }).catch(() => undefined);
    return report !== undefined && report.sessionCount > 0 ? report : undefined;
  };
  for (const { pid } of [mine, killed]) await poll(count(pid), () => "the first session of each");
  // Their sessions end within the same moment; one that does not is made of one that did.
  const reopen = (pid: number | undefined) => {
    const database = new DatabaseSync(path);
    database.exec("PRAGMA busy_timeout = 5000");
    database.prepare("UPDATE runs SET ended_at = NULL WHERE session_id = ?").run(`${pid}-0`);
    database.close();
  };
  for (const { pid } of [mine, killed]) reopen(pid);
  assert.deepEqual(await findOrphans(path), [], "both live");
  killed.kill("SIGKILL");
  const [orphan, ...others] = await poll(
    async () => {
      const orphans = await findOrphans(path);
      return orphans.length > 0 ? orphans : undefined;
    },
    () => "the orphan",
  );
  assert.equal(orphan?.sessionId, `${killed.pid}-0`);
  assert.deepEqual([orphan?.running, orphan?.pid, others], [false, killed.pid, []]);
  mine.stdin?.end();
});

test("a database that another program holds locked costs one warning, and is written when it is free", async (t) => {
  const path = place(t);
  await work("once", path);
  const holder = new DatabaseSync(path);
  holder.exec("BEGIN IMMEDIATE");
  const said = await work("once", path);
  assert.deepEqual(
    { told: said.told, written: said.written, state: said.state },
    { told: true, written: false, state: "waiting" },
  );
  assert.equal(said.warnings.length, 1);
  assert.match(said.warnings[0], /locked by another program/);
  holder.exec("COMMIT");
  holder.close();
  assert.equal((await work("once", path)).written, true);
});

test("a full disk costs one warning, and what happened meanwhile is written when there is room", {
  skip: noDisk,
}, async (t) => {
  const path = place(t);
  const folder = join(path, "..");
  mkdirSync(folder);
  const said = await work("full", path, undefined, withDisk(folder));
  assert.equal(said.before.state, "waiting");
  assert.equal(said.before.warnings.length, 1, said.before.warnings.join("\n"));
  assert.match(said.before.warnings[0], /disk is full.*free some space/);
  assert.equal(said.told, true, "the watchdog goes on");
  assert.deepEqual([said.written, said.after.state, said.after.lost], [true, "open", 0]);
  assert.equal(said.after.warnings.length, 1);
});

test("a disk that can only be read costs one warning", { skip: noDisk }, async (t) => {
  const path = place(t);
  const folder = join(path, "..");
  mkdirSync(folder);
  await work("once", path);
  const before = statSync(path).mtimeMs;
  const copied = `cp "$1"/../kept "$1"/state.db && mount -o remount,ro "$1"`;
  spawnSync("cp", [path, join(folder, "..", "kept")]);
  const said = await work("once", path, undefined, withDisk(folder, copied));
  assert.deepEqual(
    { told: said.told, written: said.written, state: said.state },
    { told: true, written: false, state: "off" },
  );
  assert.equal(said.warnings.length, 1);
  assert.match(said.warnings[0], /its folder, is read-only.*make the file and its folder writable/);
  assert.equal(statSync(path).mtimeMs, before);
});

test("a history that was never opened says so", () => {
  assert.deepEqual(history.state(), { state: "closed", path: "", warnings: [], lost: 0 });
  assert.equal(history.flush(0), true, "there is nothing to write");
});

test("a wrong filter is a TypeError, and a missing file a rejection that names it", async (t) => {
  const path = place(t);
  await assert.rejects(readHistory(path), /state\.db cannot be read: there is no such file/);
  await assert.rejects(readHistory(path, { since: new Date("nonsense") }), TypeError);
  await assert.rejects(readHistory(path, { limit: -1 }), TypeError);
  await assert.rejects(readHistory(path, { open: "yes" as unknown as boolean }), TypeError);
  await assert.rejects(readHistory(7 as unknown as string), TypeError);
});

/** What opening a history says to a user who owns nothing here. */
const AS_NOBODY = `
const { history, readHistory } = await import(process.argv[1]);
const { state, warnings } = await history.open(process.argv[2], { maxDays: 90, maxMb: 64 });
const read = await readHistory(process.argv[2]).then(() => "read", (error) => error.message);
console.log(JSON.stringify({ state, warnings, read }));
`;
const NOBODY = { uid: 65_534, gid: 65_534 };
const library = join(import.meta.dirname, "..", "..", "index.js");
const canBeNobody =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, ["-e", `await import(${JSON.stringify(library)})`], NOBODY).status === 0;

test("a folder of another user costs the history and one warning, which says what to do", {
  skip: canBeNobody ? false : "only root can be another user, and only where that user may read this folder",
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "watchdog-history-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "state.db");
  const tried = () => {
    const { stdout, stderr } = spawnSync(process.execPath, ["-e", AS_NOBODY, library, path], {
      ...NOBODY,
      encoding: "utf8",
      timeout: 60_000,
    });
    assert.notEqual(stdout, "", stderr);
    const { state, warnings, read } = JSON.parse(stdout);
    assert.equal(state, "off");
    assert.equal(warnings.length, 1, warnings.join());
    assert.match(warnings[0], /goes on without a history; make .* writable for you, or set "history": false/);
    return read;
  };
  chmodSync(folder, 0o555);
  assert.match(tried(), /there is no such file/);

  chmodSync(folder, 0o755);
  writeFileSync(path, "");
  await history.open(path, { maxDays: 90, maxMb: 64 });
  history.close(5000);
  chmodSync(folder, 0o555);
  const modes = (mode: number) => {
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), mode);
  };
  modes(0o644);
  assert.equal(tried(), "read", "what may be read is read");
  modes(0o600);
  assert.match(tried(), /cannot be read/);
});
