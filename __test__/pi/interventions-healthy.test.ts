// What looks like silence and is none, in real Pi with a limit of one second: nobody is told of anything. Each test ends
// in a model that is silent and must be found, which shows that the clock ran all the time.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Lab, type LabOptions, type PiRpc, type Reply, type Script } from "../support/pi.ts";
import { bash, call, phase, told } from "../support/scripts.ts";
import { TINTINWEB } from "../support/tintinweb/kit.ts";

const MATTERS = fileURLToPath(new URL("../support/matters.ts", import.meta.url));

/** Longer than every limit of these tests. */
const LONG = 3000;
const HANG: Reply = { text: "", hang: true };

interface Health extends Omit<LabOptions, "script"> {
  /** What the model answers to the prompt "begin"; absent: nothing for a long time, then a word. */
  quiet?: Script;
  /** What is done instead of that prompt. */
  act?(pi: PiRpc, lab: Lab): Promise<void>;
  /** The silence that is found at last. */
  proof?: RegExp;
}

const slow: Script = async () => {
  await delay(LONG);
  return { text: "Here I am." };
};

/** Words of which none comes twice, as many as a model needs some time for. */
const LONG_TALK = Array.from({ length: 120 }, (_, n) =>
  (7919 * (n + 100)).toString(36).replaceAll(/\d/g, (digit) => "ghijklmnop"[Number(digit)] ?? ""),
).join(" ");
const LIMITED: Reply = { error: { status: 429, message: "Rate limit: try again in 30 s" } };
const agent = (): Reply => ({
  toolCalls: [call("Agent", { subagent_type: "Explore", description: "the child", prompt: "CHILD" })],
});

const HEALTHY: Record<string, Health> = {
  "a tool that runs long within its bound": {
    quiet: (request) => (phase(request).turn === 0 ? bash("sleep 3; echo ready") : { text: "It is ready." }),
  },
  "much thinking": {
    act: async (pi) => {
      await pi.send({ type: "set_thinking_level", level: "xhigh" });
      await pi.prompt("begin");
      await pi.send({ type: "set_thinking_level", level: "low" });
    },
  },
  "a slow stream": {
    config: { idleTimeoutSec: 2 },
    quiet: () => ({ thinking: LONG_TALK.slice(0, 240), text: LONG_TALK.slice(240, 480), pace: 400 }),
  },
  "a call that is long in the writing": {
    config: { idleTimeoutSec: 2 },
    quiet: (request) =>
      phase(request).turn === 0
        ? { toolCalls: [call("write", { path: "talk.txt", content: LONG_TALK.slice(0, 480) })], pace: 400 }
        : { text: "It is written." },
  },
  "an open dialog": {
    extensions: [MATTERS],
    quiet: (request) =>
      phase(request).turn === 0 ? { toolCalls: [call("ask_user", { question: "Shall I?" })] } : { text: "I was told." },
    config: { idleTimeoutSec: 1, openToolTimeoutSec: 1 },
    act: async (pi) => {
      const settled = pi.prompt("begin");
      const question = await pi.waitFor(({ method }) => method === "confirm", "the question");
      await delay(LONG);
      pi.write({ type: "extension_ui_response", id: question.id, confirmed: true });
      await settled;
    },
  },
  "a compaction": {
    settings: { compaction: { keepRecentTokens: 1 } },
    quiet: (request, conversation) =>
      phase(request).prompt === "begin" ? { text: LONG_TALK } : slow(request, conversation),
    act: async (pi) => {
      await pi.prompt("begin");
      await pi.prompt("begin");
      await pi.send({ type: "compact" });
    },
  },
  "a request that Pi sends again later": {
    settings: { retry: { baseDelayMs: LONG } },
    quiet: ({ index }) =>
      index === 0 ? { error: { status: 429, message: "Rate limit: try again in 30 s" } } : { text: "Now it went." },
  },
  "a child that is retried later, and its parent": {
    packages: [TINTINWEB.package],
    settings: { retry: { baseDelayMs: LONG } },
    quiet: (request, { calls }) => {
      if (request.prompt === "CHILD") return calls === 0 ? LIMITED : { text: "Now it went." };
      return phase(request).turn === 0 ? agent() : { text: "The child is done." };
    },
  },
  "a parent whose child works": {
    packages: [TINTINWEB.package],
    quiet: (request) => {
      if (request.prompt === "CHILD")
        return request.turn < 12 ? bash(`sleep 0.4; echo ${request.turn}`) : { text: "Done." };
      return phase(request).turn === 0 ? agent() : { text: "The child is done." };
    },
    config: { idleTimeoutSec: 2, openToolTimeoutSec: 2 },
  },
};

for (const [what, health] of Object.entries(HEALTHY)) {
  test(`${what} is no silence`, async (t) => {
    const { quiet = slow, act = (pi: PiRpc) => pi.prompt("begin").then(() => {}), ...options } = health;
    const lab = await Lab.open(t, {
      config: { idleTimeoutSec: 1 },
      ...options,
      script: async (request, conversation) => {
        if (phase(request).prompt === "hang") return HANG;
        return quiet(request, conversation);
      },
    });
    // Levels of thinking are for models that think.
    const models = JSON.parse(readFileSync(join(lab.home.agentDir, "models.json"), "utf8"));
    for (const { models: known } of Object.values<{ models: Record<string, unknown>[] }>(models.providers))
      for (const model of known) Object.assign(model, { reasoning: true, thinkingLevelMap: { xhigh: "high" } });
    lab.home.writeAgentFile("models.json", models);

    const pi = await lab.rpc({ args: ["--thinking", "low"] });
    await act(pi, lab);
    assert.doesNotMatch(told(pi), /\[Watchdog|Watchdog:/);
    await pi.send({ type: "prompt", message: "hang" });
    await pi.waitFor(() => /main: no sign of it for \d+ s/.test(told(pi)), "that the clock ran");
    await pi.send({ type: "abort" });
    await pi.close();
  });
}
