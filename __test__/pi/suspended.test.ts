// A process that is stopped for some seconds, as a closed lid stops a machine: nobody was silent meanwhile, and no healthy
// child is stopped for it, also where the user lets the watchdog stop children. Real Pi, a real SIGSTOP.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Family, Gates } from "../support/gotgenes/family.ts";
import { bash } from "../support/scripts.ts";

/** Longer than every limit of the test. */
const STOPPED_MS = 9000;

test("a stop of the process is no agent's silence, and one that is silent afterwards is found", async (t) => {
  const gates = new Gates();
  const family = await Family.open(t, {
    config: { autoKill: true, autoKillAfterSec: 6, staleAfterSec: 0, idleTimeoutSec: 5 },
    children: {
      a: async ({ turn }) => {
        if (turn > 0) await gates.pass(`a${turn}`);
        return turn < 2 ? bash(`echo step ${turn}`) : { text: "a is done" };
      },
      b: async () => {
        await gates.pass("never");
        return { text: "" };
      },
    },
  });
  const a = await family.spawn("a");
  await family.asks("a", 1);
  const { process: pi } = family.pi;
  pi.kill("SIGSTOP");
  await delay(STOPPED_MS);
  pi.kill("SIGCONT");
  // Whatever would have been found is found by the time that this child has answered.
  gates.open("a1", "a2");
  await family.ended(a);
  const notices = family.pi.uiRequests("notify").map(({ message }) => String(message));
  assert.deepEqual(
    notices.filter((message) => message.includes("job of a")),
    [],
  );
  assert.equal((await family.targets()).get("job of a").status, "completed");
  await family.spawn("b");
  await family.notified("job of b");
  await family.pi.close();
});
