// What the extension adds to Pi's start: real Pi in RPC mode, offline, from spawn to the answer to its first command,
// with and without the installed package, in turn. Where the system tells it (Linux), also the processor time until then,
// which other work on the machine disturbs less.

import { readdirSync, readFileSync } from "node:fs";
import { CleanupStack } from "../__test__/support/cleanup.ts";
import { ModelServer } from "../__test__/support/model-server.ts";
import { PiHome } from "../__test__/support/pi-home.ts";
import { PiRpc } from "../__test__/support/pi-rpc.ts";
import { median, medianError } from "./measure.ts";
import type { Row } from "./report.ts";

const LIMIT_MS = 15;

export async function startUp(starts: number): Promise<Row> {
  const scope = new CleanupStack();
  try {
    const server = await ModelServer.start(() => ({ text: "never asked" }), scope);
    const without = new PiHome(server, scope, { watchdog: "none" });
    const with_ = new PiHome(server, scope, { watchdog: "package" });
    // Fills the cache of the TypeScript loader, as a user's second start finds it.
    for (const home of [without, with_]) await startOnce(home);
    await assertLoaded(with_);
    const plain: Start[] = [];
    const watched: Start[] = [];
    for (let round = 0; round < starts; round += 1) {
      const pair: [PiHome, Start[]][] = [
        [without, plain],
        [with_, watched],
      ];
      for (const [home, samples] of round % 2 === 0 ? pair : pair.toReversed()) samples.push(await startOnce(home));
    }
    const added = (figure: keyof Start) =>
      watched.map((start, index) => start[figure] - (plain[index]?.[figure] ?? Number.NaN));
    const [wall, cpu] = [median(added("wallMs")), median(added("cpuMs"))];
    const [from, to] = [plain, watched].map((samples) => median(samples.map(({ wallMs }) => wallMs)).toFixed(0));
    const processor = Number.isNaN(cpu) ? "" : `; processor time +${cpu.toFixed(1)} ms`;
    return {
      what: "added to Pi's start",
      detail: `${from} → ${to} ms, median of ${starts} pairs, ± ${medianError(added("wallMs")).toFixed(1)} ms${processor}`,
      result: `${wall.toFixed(1)} ms`,
      goal: `< ${LIMIT_MS} ms`,
      met: wall < LIMIT_MS,
    };
  } finally {
    await scope.close();
  }
}

interface Start {
  /** From spawn to the first answer. */
  wallMs: number;
  /** Of all threads until then; NaN where it is not known. */
  cpuMs: number;
}

async function startOnce(home: PiHome): Promise<Start> {
  const scope = new CleanupStack();
  const start = performance.now();
  const pi = new PiRpc(home, scope);
  try {
    await pi.send({ type: "get_state" });
    return { wallMs: performance.now() - start, cpuMs: processorMs(pi.process.pid) };
  } finally {
    await scope.close();
  }
}

function processorMs(pid: number | undefined): number {
  try {
    const tasks = `/proc/${pid}/task`;
    const used = readdirSync(tasks).map((task) =>
      Number(readFileSync(`${tasks}/${task}/schedstat`, "utf8").split(" ")[0]),
    );
    return used.reduce((sum, ns) => sum + ns, 0) / 1e6;
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
