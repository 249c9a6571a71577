// A process that writes a history: `worker.ts <mode> <database> [number]`. Writes JSON lines; what each mode does is said
// beside it. Loads the library and nothing else of the package.

import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { defaultConfig, history, store } from "../../../index.js";

const [mode = "", path = "", number = "1"] = process.argv.slice(2);
const LIMITS = { maxDays: 90, maxMb: 1024 };
const LONG = 50_000;
const config = defaultConfig();
const USD = 0.25;
let made = 0;

const say = (value: unknown) => writeSync(1, `${JSON.stringify(value)}\n`);

/** A session with a loop that is told, a price and an end. Returns whether the loop was told. */
function session(project = "/p"): boolean {
  const id = `${process.pid}-${made++}`;
  let at = Date.now();
  const handle = store.open(id, at, { name: `session ${id}`, project }, config);
  for (let turn = 1; turn <= 3; turn++) {
    store.observeToolCall(handle, at++, turn, "c", "bash", '{"command":"ls"}');
    store.observeToolResult(handle, at++, turn, "c", "bash", "the same", false, "", "");
  }
  store.observeUsage(handle, at, 10, 1, 0, 0, USD);
  const told = store.takeNotice(handle, at) !== null;
  store.end(handle, at, "completed");
  return told;
}

/** One session; says what became of the history, and that the loop was found all the same. */
async function once(): Promise<void> {
  await history.open(path, LIMITS);
  const told = session();
  const written = history.flush(LONG);
  say({ told, written, ...history.state() });
}

/** Sessions at the pace of a very busy Pi, for so many seconds; says how many there must be. */
async function pace(seconds: number): Promise<void> {
  await history.open(path, LIMITS);
  const end = performance.now() + seconds * 1000;
  let told = 0;
  while (performance.now() < end) {
    for (let n = 0; n < 5; n++) told += Number(session());
    await pause(50);
  }
  const written = history.close(LONG);
  say({ sessions: made, told, usd: made * USD, written, lost: history.state().lost });
}

/** Sessions without end; says after each few how many are written for sure. */
async function acknowledge(): Promise<void> {
  await history.open(path, LIMITS);
  for (;;) {
    for (let n = 0; n < 5; n++) session();
    if (history.flush(LONG)) say({ written: made });
    await pause(1);
  }
}

/** So many sessions, and nobody asks for them to be written; ends when its stdin ends. */
async function background(sessions: number): Promise<void> {
  await history.open(path, LIMITS);
  for (let n = 0; n < sessions; n++) session();
  process.stdin.resume();
}

/** Fills the disk, says what the history says of it, and what is written when there is room again. */
async function full(): Promise<void> {
  const filler = join(dirname(path), "filler");
  const file = openSync(filler, "w");
  await history.open(path, LIMITS);
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch {
    closeSync(file);
  }
  // What was reserved before the disk was full may take some.
  for (let tries = 0; history.state().state === "open" && tries < 200; tries++) {
    session("x".repeat(8192));
    history.flush(LONG);
  }
  const before = history.state();
  const told = session();
  rmSync(filler);
  say({ before, told, written: history.flush(LONG), sessions: made, after: history.state() });
}

switch (mode) {
  case "once":
    await once();
    break;
  case "pace":
    await pace(Number(number));
    break;
  case "acknowledge":
    await acknowledge();
    break;
  case "background":
    await background(Number(number));
    break;
  case "full":
    await full();
    break;
  default:
    throw new Error(`there is no mode ${mode}`);
}
