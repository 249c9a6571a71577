// What the extension adds to Pi's start: real Pi in RPC mode, offline, from spawn to the answer to its first command. In
// turn without any extension, with the installed package, and with a package that does nothing: most of what an extension
// costs is the TypeScript loader, which Pi loads for the first one.
//
// The result is processor time of Pi's main thread where the system tells it (Linux): other work on the machine disturbs
// it less than the time on the wall, which is given beside it.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CleanupStack, type Scope } from "../__test__/support/cleanup.ts";
import { ModelServer } from "../__test__/support/model-server.ts";
import { PiHome } from "../__test__/support/pi-home.ts";
import { PiRpc } from "../__test__/support/pi-rpc.ts";
import { median, medianError } from "./measure.ts";
import type { Row } from "./report.ts";

const LIMIT_MS = 15;

export async function startUp(starts: number): Promise<Row[]> {
  const scope = new CleanupStack();
  try {
    const server = await ModelServer.start(() => ({ text: "never asked" }), scope);
    const homes = {
      plain: new PiHome(server, scope, { watchdog: "none" }),
      watched: new PiHome(server, scope, { watchdog: "package" }),
      empty: new PiHome(server, scope, { watchdog: "none", packages: [emptyPackage(scope)] }),
    };
    // Fills the cache of the TypeScript loader, as a user's second start finds it.
    for (const home of Object.values(homes)) await startOnce(home);
    await assertLoaded(homes.watched);
    const samples: Record<keyof typeof homes, Start[]> = { plain: [], watched: [], empty: [] };
    for (let round = 0; round < starts; round += 1) {
      const names = Object.keys(homes) as (keyof typeof homes)[];
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        samples[name].push(await startOnce(homes[name]));
      }
    }
    const added = (name: keyof typeof homes, figure: keyof Start) =>
      samples[name].map((start, index) => start[figure] - (samples.plain[index]?.[figure] ?? Number.NaN));
    const hasThreadTime = samples.plain.every(({ threadMs }) => !Number.isNaN(threadMs));
    const figure = hasThreadTime ? "threadMs" : "wallMs";
    const row = (what: string, name: keyof typeof homes): Row => {
      const typical = (of: keyof typeof homes) => median(samples[of].map((start) => start[figure])).toFixed(0);
      const wall = `on the wall ${signed(median(added(name, "wallMs")))} ± ${medianError(added(name, "wallMs")).toFixed(0)} ms`;
      const error = medianError(added(name, figure)).toFixed(1);
      return {
        what,
        detail: `${typical("plain")} → ${typical(name)} ms, ± ${error}, ${starts} pairs; ${wall}`,
        result: `${median(added(name, figure)).toFixed(1)} ms`,
      };
    };
    const ours = row("added to Pi's start", "watched");
    const met = Number.parseFloat(ours.result) < LIMIT_MS;
    return [{ ...ours, goal: `< ${LIMIT_MS} ms`, met }, row("the same by a package that does nothing", "empty")];
  } finally {
    await scope.close();
  }
}

function signed(ms: number): string {
  return `${ms < 0 ? "−" : "+"}${Math.abs(ms).toFixed(0)}`;
}

function emptyPackage(scope: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), "pi-watchdog-empty-"));
  scope.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "empty", pi: { extensions: ["./index.ts"] } }));
  writeFileSync(join(folder, "index.ts"), "export default function empty(): void {}\n");
  return folder;
}

interface Start {
  /** From spawn to the first answer. */
  wallMs: number;
  /** Processor time of the main thread until then; NaN where it is not known. */
  threadMs: number;
}

async function startOnce(home: PiHome): Promise<Start> {
  const scope = new CleanupStack();
  const start = performance.now();
  const pi = new PiRpc(home, scope);
  try {
    await pi.send({ type: "get_state" });
    return { wallMs: performance.now() - start, threadMs: mainThreadMs(pi.process.pid) };
  } finally {
    await scope.close();
  }
}

function mainThreadMs(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** A figure of an extension that did not load would be a lie. */
async function assertLoaded(home: PiHome): Promise<void> {
  const scope = new CleanupStack();
  const pi = new PiRpc(home, scope);
  try {
    const { commands } = await pi.send({ type: "get_commands" });
    const loaded = commands.some(
      ({ name, source }: { name: string; source: string }) => name === "watchdog" && source === "extension",
    );
    if (!loaded) throw new Error(`the extension did not load\n${pi.stderr}`);
  } finally {
    await scope.close();
  }
}
