// What the extension adds to Pi's start: real Pi in RPC mode, offline, from spawn to the answer to its first command,
// with and without the installed package, in turn.

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
    const plain: number[] = [];
    const watched: number[] = [];
    for (let round = 0; round < starts; round += 1) {
      const pair: [PiHome, number[]][] = [
        [without, plain],
        [with_, watched],
      ];
      for (const [home, samples] of round % 2 === 0 ? pair : pair.toReversed()) samples.push(await startOnce(home));
    }
    const added = watched.map((ms, index) => ms - (plain[index] ?? Number.NaN));
    const result = median(added);
    return {
      what: "added to Pi's start",
      detail: `${median(plain).toFixed(0)} → ${median(watched).toFixed(0)} ms, median of ${starts} pairs, ± ${medianError(added).toFixed(1)} ms`,
      result: `${result.toFixed(1)} ms`,
      goal: `< ${LIMIT_MS} ms`,
      met: result < LIMIT_MS,
    };
  } finally {
    await scope.close();
  }
}

/** Milliseconds from spawn to the first answer. */
async function startOnce(home: PiHome): Promise<number> {
  const scope = new CleanupStack();
  const start = performance.now();
  const pi = new PiRpc(home, scope);
  try {
    await pi.send({ type: "get_state" });
    return performance.now() - start;
  } finally {
    await scope.close();
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
