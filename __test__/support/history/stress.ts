// What a history must survive, with real processes: many writers at once, and ends at any moment. Throws when something
// is lost; the tests take a short part of it, bench/history-stress.ts the whole.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { readHistory } from "../../../index.js";
import { adopt } from "../cleanup.ts";
import { deadline } from "../wait.ts";

const WORKER = fileURLToPath(new URL("worker.ts", import.meta.url));

export function startWorker(mode: string, path: string, number?: number, wrap: string[] = []): ChildProcess {
  const [program = process.execPath, ...before] = [...wrap, process.execPath];
  const args = [...before, WORKER, mode, path, ...(number === undefined ? [] : [String(number)])];
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  adopt(child);
  return child;
}

/** Runs a worker to its end; its last line. */
export async function work(mode: string, path: string, number?: number, wrap?: string[]) {
  const child = startWorker(mode, path, number, wrap);
  const [output, [code]] = await deadline(
    Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, "close")]),
    () => `the worker ${mode}`,
    120_000 + (number ?? 0) * 1000,
  );
  assert.equal(code, 0, output);
  return JSON.parse(output.trim().split("\n").at(-1) ?? "null");
}

/** So many processes write one history for so long. Returns how many sessions they wrote. */
export async function writeAtOnce(path: string, processes: number, seconds: number): Promise<number> {
  const said = await Promise.all(Array.from({ length: processes }, () => work("pace", path, seconds)));
  const sum = (of: (one: { sessions: number; told: number; usd: number }) => number) =>
    said.reduce((total, one) => total + of(one), 0);
  for (const one of said) assert.deepEqual({ written: one.written, lost: one.lost }, { written: true, lost: 0 });
  const report = await readHistory(path, { limit: 10_000_000 });
  assert.equal(
    report.sessionCount,
    sum(({ sessions }) => sessions),
  );
  assert.equal(
    report.incidentCount,
    sum(({ told }) => told),
  );
  assert.equal(report.incidentCount, report.sessionCount, "every session had a loop");
  const usd = report.sessions.reduce((total, { usage }) => total + usage.usd, 0);
  assert.ok(Math.abs(usd - sum((one) => one.usd)) < 1e-6, `$${usd}`);
  assert.ok(report.sessions.every(({ endedAt, status }) => endedAt !== undefined && status === "completed"));
  await checkIntegrity(path);
  return report.sessionCount;
}

/**
 * A writer is killed at a random moment, again and again, always on the same database. After each the database is whole
 * and holds all that was said to be written. `random`: 0 to 1. Returns how many sessions that were.
 */
export async function killWriters(path: string, kills: number, random: () => number): Promise<number> {
  let all = 0;
  for (let kill = 0; kill < kills; kill++) {
    const child = startWorker("acknowledge", path);
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    let written = 0;
    const first = Promise.withResolvers<void>();
    lines.on("line", (line) => {
      written = JSON.parse(line).written;
      first.resolve();
    });
    const closed = Promise.all([once(child, "close"), once(lines, "close")]);
    // Every tenth dies while it opens the database, or before.
    if (kill % 10 !== 9) await deadline(first.promise, () => "the first session");
    setTimeout(() => child.kill("SIGKILL"), random() * 120);
    await deadline(closed, () => "the end of the killed writer");
    all += written;
    if (all === 0) continue;
    await checkIntegrity(path);
    const { sessions } = await readHistory(path, { session: `${child.pid}-`, limit: 10_000_000 });
    assert.ok(sessions.length >= written, `${sessions.length} of ${written} sessions after kill ${kill + 1}`);
  }
  return all;
}

async function checkIntegrity(path: string): Promise<void> {
  const { DatabaseSync } = await import("node:sqlite");
  const database = new DatabaseSync(path);
  try {
    assert.deepEqual(
      database
        .prepare("PRAGMA integrity_check")
        .all()
        .map((row) => row.integrity_check),
      ["ok"],
    );
  } finally {
    database.close();
  }
}
