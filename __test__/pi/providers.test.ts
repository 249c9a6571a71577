// The same verdicts on every provider shape: observation takes Pi's own messages, never a provider's payload.

import assert from "node:assert/strict";
import { test } from "node:test";
import { APIS, Lab, type Reply } from "../support/pi.ts";
import {
  bash,
  call,
  edit,
  quietThenLoop,
  RESCUE,
  read,
  rescued,
  rescues,
  watchdogTexts,
  write,
} from "../support/scripts.ts";

const TEN_DIFFERENT_TURNS: readonly Reply[] = [
  { thinking: "First an overview.", ...bash("ls -a") },
  { text: "Now the first file.", ...read("a.txt") },
  read("b.txt"),
  bash("grep -n two a.txt"),
  write("c.txt", "alpha\n"),
  bash("cat c.txt"),
  edit("c.txt", "alpha", "beta"),
  bash("wc -l c.txt"),
  read("missing.txt"),
  { toolCalls: [call("bash", { command: "pwd" }), call("read", { path: "c.txt" })] },
];

for (const api of APIS) {
  test(`${api}: ten different tool turns are silent, and a loop is found`, async (t) => {
    const lab = await Lab.open(t, {
      config: { rescueMessage: RESCUE },
      files: { "a.txt": "one\ntwo\n", "b.txt": "three\n" },
      script: quietThenLoop(TEN_DIFFERENT_TURNS),
    });
    const pi = await lab.rpc({ api });
    await pi.prompt("begin");
    assert.equal(lab.server.requests.length, 11);
    assert.ok(lab.server.requests.every((request) => request.api === api));
    assert.deepEqual(lab.server.requests.map(rescues), Array(11).fill(0));
    assert.deepEqual(watchdogTexts(pi.records), []);

    await pi.prompt("and now?");
    const rounds = lab.server.requests.slice(11);
    const found = rounds.findIndex(rescued);
    assert.ok(found >= 3 && found <= 5, `the loop is due after round 3 to 5, came in request ${found}`);
    assert.equal(rescues(rounds.at(-1)), 1, "once");
  });
}
