// Time in real Pi: a model or a tool that is silent is told of to the user, what is at work is not, and no timer keeps
// Pi alive. Limits are set to a second; nothing waits for longer than it takes.

import { test } from "node:test";
import { Lab } from "../support/pi.ts";
import { bash, told } from "../support/scripts.ts";

test("a silent model is told of, once, with the time that it was silent", async (t) => {
  const lab = await Lab.open(t, {
    config: { idleTimeoutSec: 1 },
    script: () => ({ text: "", hang: true }),
  });
  const pi = await lab.rpc();
  pi.send({ type: "prompt", message: "go" });
  await pi.waitFor(() => /no sign of it for \d+ s/.test(told(pi)), "that the model is silent");
  await pi.close();
});

test("a tool that runs longer than it said is told of while it runs", async (t) => {
  const lab = await Lab.open(t, {
    config: { openToolTimeoutSec: 1 },
    script: (request) => (request.turn === 0 ? bash("sleep 30") : { text: "done" }),
  });
  const pi = await lab.rpc();
  pi.send({ type: "prompt", message: "go" });
  await pi.waitFor(() => /a call of bash has run for \d+ s/.test(told(pi)), "that the call is long");
  await pi.close();
});

test("who is watched again in the middle of a run has clocks again, and no call open that ended unseen", async (t) => {
  const { promise: seen, resolve: goOn } = Promise.withResolvers<void>();
  const lab = await Lab.open(t, {
    config: { idleTimeoutSec: 1 },
    script: async (request) => {
      if (request.turn === 0) return bash("until [ -e go ]; do sleep 0.05; done");
      if (request.turn > 1) return { text: "", hang: true };
      await seen;
      return bash("echo on");
    },
  });
  const pi = await lab.rpc();
  pi.send({ type: "prompt", message: "go" });
  await pi.waitFor(({ type }) => type === "tool_execution_start", "the first call");
  await pi.send({ type: "prompt", message: "/watchdog set enabled false" });
  lab.home.writeFile("go", "");
  await lab.server.request(({ turn }) => turn === 1, "the second turn");
  await pi.send({ type: "prompt", message: "/watchdog set enabled true" });
  goOn();
  await pi.waitFor(() => /no sign of it for \d+ s, and nothing is open/.test(told(pi)), "that the model is silent");
  await pi.close();
});
