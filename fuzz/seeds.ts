// Seeds for the fuzzer, made from the healthy traces of the tests and a few sessions with branches and loops. The
// fuzzer finds the rest; what it finds is kept in corpus/ and not in the repository.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scenarios } from "../__test__/healthy/scenarios/index.ts";
import { play } from "../__test__/healthy/trace.ts";
import type { TraceEvent } from "../index.d.ts";

/** Long inputs make a fuzzer slow; the beginning of a trace has its shapes. */
const EVENTS = 24;
const BYTES = 2000;

const jsonLines = (lines: readonly unknown[]): string => `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;

/** The same commands over and over, with a branch every seventh entry when `branches`. */
function session(rounds: number, version: number, branches: boolean): unknown[] {
  const lines: unknown[] = [{ type: "session", version, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" }];
  const ids: string[] = [];
  const entry = (fields: Record<string, unknown>) => {
    const id = `e${ids.length}`;
    const at = branches && ids.length % 7 === 6 ? ids.length - 4 : ids.length - 1;
    const tree = version < 2 ? {} : { id, parentId: ids[at] ?? null };
    lines.push({ ...tree, timestamp: new Date(Date.UTC(2026, 0, 1) + ids.length * 1000).toISOString(), ...fields });
    ids.push(id);
  };
  const message = (fields: Record<string, unknown>) => entry({ type: "message", message: fields });
  message({ role: "user", content: "begin" });
  for (let round = 0; round < rounds; round += 1) {
    const call = { type: "toolCall", id: `c${round}`, name: "bash", arguments: { command: "npm test" } };
    const usage = { input: 9, output: 1, cost: { total: 0.01 } };
    const content = [{ type: "thinking", thinking: "Hm." }, { type: "text", text: "Again." }, call];
    message({ role: "assistant", content, usage, stopReason: "toolUse" });
    const result = [{ type: "text", text: `${round % 2} failed\n\nCommand exited with code 1` }];
    message({ role: "toolResult", toolCallId: `c${round}`, toolName: "bash", content: result, isError: true });
  }
  entry({ type: "compaction", summary: "s", firstKeptEntryId: "e1", tokensBefore: 5000 });
  entry({ type: "branch_summary", fromId: "e2", summary: "s" });
  entry({ type: "context_edit", targetId: "e1", replacement: null });
  entry({ type: "custom_message", customType: "watchdog-rescue", content: "stop", display: true });
  message({ role: "bashExecution", command: "ls", output: "", exitCode: 1 });
  return lines;
}

function texts(event: TraceEvent): string[] {
  if (event.type === "tool_result") return [event.output ?? ""];
  return event.type === "assistant" ? [event.text ?? "", event.thinking ?? ""] : [];
}

/** Fills `corpus/TARGET` below `folder`. `head`: bytes of the numbers that a target takes before its text. */
export function writeSeeds(folder: string): void {
  const write = (target: string, seeds: Iterable<string>, head: readonly number[] = []) => {
    const directory = join(folder, "corpus", target);
    mkdirSync(directory, { recursive: true });
    let number = 0;
    for (const seed of seeds) {
      writeFileSync(join(directory, `seed-${number}`), Buffer.concat([Buffer.from(head), Buffer.from(seed)]));
      number += 1;
    }
  };
  const traces = scenarios.map((scenario) => play(scenario).events.slice(0, EVENTS));
  const sessions = [3, 2, 1].flatMap((version) => [session(4, version, false), session(12, version, true)]);
  const cases = traces.slice(0, 3).map((events, index) => ({ id: `k${index}`, label: "not_stuck", events }));
  write("session", [...sessions, ...traces, cases].map(jsonLines));
  const outputs = new Set(traces.flatMap((events) => events.flatMap(texts)).map((text) => text.slice(0, BYTES)));
  outputs.delete("");
  write("text", outputs, [200, 0, 20]);
  write("stream", outputs, [7, 12, 0, 0]);
  mkdirSync(join(folder, "corpus", "observe"), { recursive: true });
}
