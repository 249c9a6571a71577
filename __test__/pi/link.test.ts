// Children that are Pi processes of their own, started by the main agent's shell: they report over the link. What the
// watchdog does to a child is read from the child's own model requests.

import assert from "node:assert/strict";
import { test } from "node:test";
import { LinkLab } from "../support/link/lab.ts";
import { bash, RESCUE, rescued, rescues } from "../support/scripts.ts";

const GREP = "grep -n TOKEN src.txt";
const files = { "src.txt": "TOKEN\n" };

test("a looping child process is told of in the main session, with its name and evidence, and a working one is not", async (t) => {
  const lab = await LinkLab.open(t, {
    files,
    children: {
      a: (request) => (request.turn >= 6 ? { text: "I stop here." } : bash(GREP)),
      b: ({ turn }) => (turn < 3 ? bash(`echo step ${turn}`) : { text: "b is done" }),
    },
  });
  await lab.start("a", "b");
  const alert = await lab.alert(GREP);
  await lab.childEnds("a");
  await lab.childEnds("b");

  assert.match(alert, /^\[Watchdog Alert\]\n\nTarget: .*\nStatus: likely stuck\nConfidence: \w+\n\nEvidence:\n- /);
  const targets = await lab.targets();
  const a = targets.find(({ id }) => alert.includes(id));
  assert.ok(a, alert);
  assert.equal(a.parentId, a.rootId ?? a.parentId);
  assert.equal(a.link, "exact");
  assert.ok(
    lab.alerts().every((text) => text.includes(a.id)),
    "no other child is named",
  );
  assert.equal(targets.filter(({ parentId }) => parentId !== undefined).length, 2);
  assert.ok(
    lab.requestsOf("a").every((request) => rescues(request) === 0),
    "main_only sends the child nothing",
  );
  await lab.endsInOrder();
});

test("with both, the looping child process gets the rescue before its next model call, and the other does not", async (t) => {
  const lab = await LinkLab.open(t, {
    files,
    config: { alertMode: "both", rescueMessage: RESCUE },
    children: {
      a: (request) => (rescued(request) || request.turn >= 12 ? { text: "I stop here." } : bash(GREP)),
      b: ({ turn }) => (turn < 3 ? bash(`echo step ${turn}`) : { text: "b is done" }),
    },
  });
  await lab.start("a", "b");
  await lab.alert(GREP);
  await lab.childEnds("a");
  await lab.childEnds("b");
  assert.equal(rescues(lab.requestsOf("a").at(-1)), 1);
  assert.ok(lab.requestsOf("b").every((request) => rescues(request) === 0));
  await lab.endsInOrder();
});
