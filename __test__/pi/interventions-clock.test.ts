// The clock of a tree in real Pi: it stops with `enabled: false`, its notices wait while the watchdog is paused, and a
// reload or a new session in mid-run leaves nothing of it behind.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Family } from "../support/gotgenes/family.ts";
import { Lab, type LabOptions, type PiRpc, poll } from "../support/pi.ts";
import { phase, textOf, told } from "../support/scripts.ts";

const ODD_TOOLS = fileURLToPath(new URL("../support/odd-tools.ts", import.meta.url));
const SILENT = /Watchdog: main: no sign of it for \d+ s/g;
/** Longer than the limit of these tests. */
const LONG = 3000;

const open = (t: Parameters<typeof Lab.open>[0], options: Partial<LabOptions> = {}) =>
  Lab.open(t, {
    config: { idleTimeoutSec: 1 },
    script: (request) => (phase(request).prompt.startsWith("hang") ? { text: "", hang: true } : { text: "Noted." }),
    ...options,
  });

const silences = (pi: PiRpc): number => told(pi).match(SILENT)?.length ?? 0;

async function hang(pi: PiRpc, lab: Lab, prompt: string): Promise<void> {
  await pi.send({ type: "prompt", message: prompt });
  await lab.server.request((request) => request.newUserTexts.includes(prompt), prompt);
}

const found = (pi: PiRpc, count: number) => pi.waitFor(() => silences(pi) === count, `silence number ${count}`);

async function command(pi: PiRpc, text: string): Promise<string> {
  const from = pi.records.length;
  await pi.send({ type: "prompt", message: text });
  return pi.customMessages("watchdog-answer", from).map(textOf).join("\n");
}

test("`enabled: false` in mid-run stops the clock, and `true` lets it go on with the next run", async (t) => {
  const lab = await open(t, { config: { idleTimeoutSec: 2 } });
  const pi = await lab.rpc();
  await hang(pi, lab, "hang one");
  await command(pi, "/watchdog set enabled false");
  await delay(LONG);
  await pi.send({ type: "abort" });
  await command(pi, "/watchdog set enabled true");
  await hang(pi, lab, "hang two");
  await found(pi, 1);
  await pi.send({ type: "abort" });
  await pi.close();
});

test("what the clock finds while the watchdog is paused is known, and told when it goes on", async (t) => {
  const family = await Family.open(t, {
    config: { idleTimeoutSec: 1 },
    children: { a: () => ({ text: "so far", hang: true }) },
  });
  await family.command("/watchdog pause");
  await family.spawn("a");
  await poll(
    async () => (await family.targets()).get("job of a")?.likelyStuck || undefined,
    () => "that the silence is known",
  );
  assert.doesNotMatch(told(family.pi), /job of a/);
  await family.command("/watchdog resume");
  assert.match(await family.alert("job of a"), /- no sign of it for \d+ s/);
  await family.pi.close();
});

for (const [what, leave] of [
  ["a new session", (pi: PiRpc) => pi.send({ type: "new_session" })],
  ["a reload", (pi: PiRpc) => pi.send({ type: "prompt", message: "/test-reload" })],
] as const) {
  test(`${what} in mid-run takes the clock along, and the next run has one of its own`, async (t) => {
    const lab = await open(t, { config: { idleTimeoutSec: 2 }, extensions: [ODD_TOOLS] });
    const pi = await lab.rpc();
    await hang(pi, lab, "hang one");
    await leave(pi);
    const rests = async () => (await pi.send({ type: "get_state" })).isStreaming === false || undefined;
    if ((await rests()) === undefined) await pi.send({ type: "abort" });
    await poll(rests, () => "that Pi rests");
    await delay(LONG);
    const before = silences(pi);
    await hang(pi, lab, "hang two");
    await found(pi, before + 1);
    assert.equal(before, 0, "nobody was silent while nothing ran");
    await pi.send({ type: "abort" });
    assert.deepEqual(await pi.close(), { code: 0, signal: null });
    assert.doesNotMatch(pi.stderr, /stale|The watchdog failed|Event handler error/);
  });
}
