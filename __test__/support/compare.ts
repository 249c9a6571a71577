// The same run with the watchdog and without it: a scripted main agent and scripted children, in print, json or RPC
// mode. What a user pays (model calls, input) and gets (stdout, the answer) is given back for both.

import type { TestContext } from "node:test";
import { Lab, type LabOptions, type ModelRequest, type PiRecord, type PiRpc, type Reply } from "./pi.ts";
import { textOf } from "./scripts.ts";

export interface Scene extends Omit<LabOptions, "script" | "watchdog"> {
  mode: "print" | "json" | "rpc";
  prompts?: string[];
  /** The main agent's replies, one for each time that it has seen results or a prompt. */
  main(request: ModelRequest, step: number): Reply | Promise<Reply>;
  /** By name; a child's first message is `TASK ` and its name. */
  children?: Record<string, (request: ModelRequest) => Reply | Promise<Reply>>;
  /** Instead of the prompts, in RPC mode. */
  drive?(pi: PiRpc, lab: Lab): Promise<void>;
}

export interface Outcome {
  code: number | null;
  stdout: string;
  /** Lines of stderr that the watchdog wrote. */
  lines: string[];
  /** The main agent's last words. */
  answer: string;
  mainCalls: number;
  /** Characters of all messages that the main agent's model was sent; ids and numbers count as one. */
  input: number;
  childCalls: Record<string, number>;
  /** Roles and custom types of the main session's messages, those of the watchdog left out. */
  course: string[];
  /** What the watchdog put into the main agent's context. */
  ours: string[];
  records: PiRecord[];
}

const TASK = "TASK ";
const OWN = "watchdog-";

/** What a real model does with an alert that is the last thing it was told: it comments on it. */
const COMMENT: Reply = { text: "I will keep waiting." };

export async function compare(t: TestContext, scene: Scene): Promise<{ without: Outcome; with: Outcome }> {
  const without = await run(t, scene, "none");
  return { without, with: await run(t, scene, "package") };
}

export async function run(t: TestContext, scene: Scene, watchdog: "package" | "none"): Promise<Outcome> {
  const { mode, prompts = ["Do it."], main, children = {}, drive, ...options } = scene;
  const childOf = ({ prompt }: ModelRequest) => (prompt.startsWith(TASK) ? prompt.slice(TASK.length) : undefined);
  const lab = await Lab.open(t, {
    ...options,
    watchdog,
    script: (request) => {
      const child = childOf(request);
      if (child !== undefined) return children[child]?.(request) ?? { text: `no script for ${child}` };
      return isAlone(request) ? COMMENT : main(request, stepOf(request));
    },
  });
  let result: { code: number | null; stdout: string; stderr: string; records: PiRecord[] };
  if (mode === "rpc") {
    const pi = await lab.rpc({ args: ["--no-session"] });
    if (drive === undefined) for (const prompt of prompts) await pi.prompt(prompt);
    else await drive(pi, lab);
    const { code } = await pi.close();
    result = { code, stdout: "", stderr: pi.stderr, records: pi.records };
  } else result = await lab.run({ mode, prompts, args: ["--no-session"] });
  const { code, stdout, stderr, records } = result;
  const calls = lab.server.requests.filter((request) => childOf(request) === undefined);
  const childCalls: Record<string, number> = {};
  for (const request of lab.server.requests) {
    const child = childOf(request);
    if (child !== undefined) childCalls[child] = (childCalls[child] ?? 0) + 1;
  }
  const messages = records.filter(({ type }) => type === "message_end").map(({ message }) => message);
  const isOurs = (message: PiRecord["message"]) => String(message.customType ?? "").startsWith(OWN);
  return {
    code,
    stdout,
    lines: stderr.split("\n").filter((line) => line.startsWith("pi-watchdog-supervisor:")),
    answer: answerIn(mode, stdout, messages),
    mainCalls: calls.length,
    input: calls.reduce(
      (sum, { messages: all }) => sum + all.reduce((length, { text }) => length + text.replace(VARYING, "#").length, 0),
      0,
    ),
    childCalls,
    course: messages.filter((message) => !isOurs(message)).map(({ role, customType }) => `${role} ${customType ?? ""}`),
    ours: messages.filter(isOurs).map(textOf),
    records,
  };
}

/** What differs from run to run: ids, times, paths of temporary folders. */
const VARYING = /watchdog-test-\w+|[0-9a-f-]{6,}|\d+(?:\.\d+)?/g;

function answerIn(mode: Scene["mode"], stdout: string, messages: PiRecord["message"][]): string {
  if (mode === "print") return stdout.trim();
  const last = messages.findLast(({ role }) => role === "assistant");
  return last === undefined ? "" : textOf(last);
}

/** Nothing is new but words of the watchdog. */
function isAlone({ toolResults, newUserTexts }: ModelRequest): boolean {
  return (
    toolResults.length === 0 && newUserTexts.length > 0 && newUserTexts.every((text) => text.startsWith("[Watchdog"))
  );
}

/** How far the main agent is: answers so far, its comments on the watchdog left out. */
function stepOf({ messages }: ModelRequest): number {
  return messages.filter(({ role, text }) => role === "assistant" && text !== COMMENT.text).length;
}
