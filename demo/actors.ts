// The scripted model of the demo, in both its parts: a main agent that hands a search to a sub-agent, and a sub-agent
// that repeats one fruitless search until somebody tells it to stop.

import { setTimeout as delay } from "node:timers/promises";
import type { ModelRequest, Reply, Script } from "../__test__/support/pi.ts";

export const TASK = "Where is the retry limit of the client set?";
export const CHILD_TASK = "Search src for the place where the retry limit of the client is set.";
export const RESCUE = "You are repeating yourself. Stop, sum up what you know, and search for something else.";

/** The search that finds nothing: the name in the files is another one. */
export const FRUITLESS = 'grep -rn "MAX_RETRIES" src';

/** A type of the user's own, whose sessions are saved: by default the package keeps them in memory only. */
const SCOUT = "---\ndescription: Looks things up\npersist_session: true\n---\nYou look things up in this repository.\n";

export const FILES = {
  ".pi/agents/scout.md": SCOUT,
  "src/client.ts": [
    'import { backoff } from "./backoff.ts";',
    "",
    "export const client = {",
    "  retryLimit: 5,",
    "  wait: backoff(200),",
    "};",
    "",
  ].join("\n"),
  "src/backoff.ts": "export const backoff = (base: number) => (attempt: number) => base * 2 ** attempt;\n",
};

export const isChild = (request: ModelRequest) => request.prompt === CHILD_TASK;
export const isRescued = (request: ModelRequest) => request.newUserTexts.some((text) => text.includes(RESCUE));

/** Loops that nobody ends are ended here, so that the demo is bounded. */
const PATIENCE = 10;

/** `pace`: milliseconds that the model takes to answer, so that a person can follow. */
export function actors(pace: number): Script {
  return async (request, conversation) => {
    await delay(pace);
    return isChild(request) ? child(request, conversation.data) : main(request);
  };
}

function main(request: ModelRequest): Reply {
  const usage = { input: 1800, output: 60, cacheRead: 900 * request.turn };
  if (request.turn === 0) {
    const args = {
      subagent_type: "scout",
      description: "find the retry limit",
      prompt: CHILD_TASK,
      run_in_background: true,
    };
    return { text: "That is a search. I give it to a sub-agent.", toolCalls: [{ name: "Agent", args }], usage };
  }
  if (request.turn === 1) return { text: "The sub-agent is searching. I wait for it.", usage };
  const told = request.newUserTexts.some((text) => text.includes("[Watchdog Alert]"));
  const answer = "src/client.ts sets it: retryLimit is 5.";
  return { text: told ? `${answer} (The sub-agent was stuck on the way; the watchdog said so.)` : answer, usage };
}

function child(request: ModelRequest, memory: Record<string, unknown>): Reply {
  const usage = { input: 2400, output: 45, cacheRead: 1200 * request.turn };
  if (isRescued(request)) memory.rescuedAt = request.turn;
  if (memory.rescuedAt === undefined) {
    if (request.turn >= PATIENCE) return { text: "I could not find it.", usage };
    return { text: "I search for it.", toolCalls: [{ name: "bash", args: { command: FRUITLESS } }], usage };
  }
  switch (request.turn - (memory.rescuedAt as number)) {
    case 0:
      return {
        text: "MAX_RETRIES is nowhere. It may have another name.",
        toolCalls: [{ name: "bash", args: { command: 'grep -rni "retry" src' } }],
        usage,
      };
    case 1:
      return { toolCalls: [{ name: "read", args: { path: "src/client.ts" } }], usage };
    default:
      return { text: "The limit is retryLimit in src/client.ts, and it is 5.", usage };
  }
}
