// A recorded session of any size, as Pi writes one: system prompt, turns with thinking, text and calls, results of
// every kind and size, edits with their diffs, compactions; now and then the agent falls into a loop. The same file for
// the same size and seed.

import { closeSync, openSync, writeSync } from "node:fs";
import { random } from "./corpus.ts";

const WORDS =
  "the agent reads a module and its tests then looks for callers of the function that fails because state is shared between requests so the cache must be keyed by tenant".split(
    " ",
  );
const NAMES = "cache session tenant parser router handler client store index config schema worker queue stream".split(
  " ",
);

type Next = () => number;
const pick = <T>(next: Next, from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
const upTo = (next: Next, most: number): number => Math.floor(next() * most);

function prose(next: Next, words: number): string {
  return `${Array.from({ length: words }, () => pick(next, WORDS)).join(" ")}.`;
}

/** Text of about `bytes`, line by line. */
function lines(bytes: number, line: (number: number) => string): string {
  let text = "";
  for (let number = 1; text.length < bytes; number += 1) text += `${line(number)}\n`;
  return text;
}

type Kind = (next: Next, bytes: number) => string;

const sourceCode: Kind = (next, bytes) =>
  lines(bytes, () => {
    const [a, b] = [pick(next, NAMES), pick(next, NAMES)];
    return pick(next, [
      `\tconst ${a} = await this.${b}.get("${a}/${upTo(next, 1000)}", { timeout: ${upTo(next, 9000)} });`,
      `\tif (${a} !== undefined && ${b}.length > 0) {`,
      `\t\tthrow new Error(\`no ${a} for \${${b}}\`);`,
      "\t}",
      `\t// ${prose(next, 9)}`,
      "",
    ]);
  });

/** A coloured test run with times. */
const testRun: Kind = (next, bytes) =>
  lines(
    bytes,
    () => `\u001b[32m✓\u001b[39m ${pick(next, NAMES)} › ${prose(next, 5)} \u001b[2m(${upTo(next, 900)} ms)\u001b[22m`,
  );

const searchResults: Kind = (next, bytes) =>
  lines(
    bytes,
    () =>
      `src/${pick(next, NAMES)}/${pick(next, NAMES)}.ts:${upTo(next, 900)}:${upTo(next, 80)}:  return ${pick(next, NAMES)}(${pick(next, NAMES)});`,
  );

/** Clock times, process ids and request ids. */
const serviceLog: Kind = (next, bytes) =>
  lines(
    bytes,
    (number) =>
      `2026-03-0${1 + (number % 9)}T1${number % 10}:0${number % 6}:1${number % 10}.${100 + upTo(next, 900)}Z [pid ${upTo(next, 60_000)}] GET /${pick(next, NAMES)}/${upTo(next, 99)} → 200 in ${upTo(next, 400)}ms req=${Math.floor(next() * 2 ** 32).toString(16)}`,
  );

const json: Kind = (next, bytes) =>
  lines(bytes, () => `  "${pick(next, NAMES)}": { "version": "${upTo(next, 9)}.${upTo(next, 20)}.0", "ok": true },`);

/** Coding agents mostly read code and search it. */
const KINDS = [sourceCode, sourceCode, sourceCode, searchResults, searchResults, testRun, serviceLog, json];

/** Most outputs are short, some are files, a few are as long as Pi lets them be. */
function outputBytes(next: Next): number {
  const roll = next();
  if (roll < 0.5) return 100 + upTo(next, 900);
  if (roll < 0.95) return 1000 + upTo(next, 9000);
  return 20_000 + upTo(next, 30_000);
}

interface Call {
  name: string;
  arguments: Record<string, unknown>;
  output: string;
  isError: boolean;
  details?: unknown;
}

export interface Corpus {
  bytes: number;
  lines: number;
  /** Results written. */
  results: number;
  /** Loops that the agent fell into. */
  loops: number;
}

export function writeSession(path: string, bytes: number, seed = 1): Corpus {
  const next = random(seed);
  // Bodies are taken from a pool and made distinct by a first line: generating every byte anew would take minutes.
  const pool = Array.from({ length: 600 }, (_, index) =>
    (KINDS[index % KINDS.length] ?? sourceCode)(next, outputBytes(next)),
  );
  const file = openSync(path, "w");
  const corpus: Corpus = { bytes: 0, lines: 0, results: 0, loops: 0 };
  let buffered = "";
  let clock = Date.UTC(2026, 2, 1, 9);
  let parentId: string | null = null;
  let serial = 0;

  const flush = () => {
    corpus.bytes += writeSync(file, buffered);
    buffered = "";
  };
  const write = (value: unknown) => {
    buffered += `${JSON.stringify(value)}\n`;
    corpus.lines += 1;
    if (buffered.length > 1 << 20) flush();
  };
  const entry = (type: string, fields: Record<string, unknown>) => {
    clock += 200 + upTo(next, 4000);
    serial += 1;
    const id = (Math.imul(serial, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0");
    write({ type, id, parentId, timestamp: new Date(clock).toISOString(), ...fields });
    parentId = id;
    return id;
  };
  const message = (fields: Record<string, unknown>) => entry("message", { message: { ...fields, timestamp: clock } });

  const turn = (calls: readonly Call[]) => {
    const usage = {
      input: upTo(next, 4000),
      output: upTo(next, 900),
      cacheRead: upTo(next, 90_000),
      cacheWrite: upTo(next, 3000),
    };
    const cost = { input: 0.01, output: 0.01, cacheRead: 0.02, cacheWrite: 0.01, total: 0.05 };
    const ids = calls.map((_, index) => `toolu_${serial}_${index}`);
    message({
      role: "assistant",
      content: [
        {
          type: "thinking",
          thinking: prose(next, 20 + upTo(next, 80)),
          thinkingSignature: "c2lnbmF0dXJl".repeat(20),
        },
        { type: "text", text: `${prose(next, 8 + upTo(next, 20))} (${serial})` },
        ...calls.map((call, index) => ({
          type: "toolCall",
          id: ids[index],
          name: call.name,
          arguments: call.arguments,
        })),
      ],
      api: "anthropic-messages",
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      usage: { ...usage, totalTokens: 0, cost },
      stopReason: calls.length > 0 ? "toolUse" : "stop",
    });
    for (const [index, call] of calls.entries()) {
      corpus.results += 1;
      message({
        role: "toolResult",
        toolCallId: ids[index],
        toolName: call.name,
        content: [{ type: "text", text: call.output }],
        details: call.details,
        isError: call.isError,
      });
    }
  };

  const work = (): Call => {
    const roll = next();
    const name = pick(next, NAMES);
    const output = `${name} ${serial}\n${pick(next, pool)}`;
    if (roll < 0.4) {
      const args = { path: `src/${name}/${pick(next, NAMES)}${serial}.ts`, offset: 1 + upTo(next, 400), limit: 200 };
      return { name: "read", arguments: args, output, isError: false };
    }
    if (roll < 0.55) {
      const oldText = prose(next, 12);
      const newText = prose(next, 14);
      const path = `src/${name}/${pick(next, NAMES)}.ts`;
      return {
        name: "edit",
        arguments: { path, edits: [{ oldText: `${oldText} ${serial}`, newText: `${newText} ${serial}` }] },
        output: `Successfully replaced 1 block(s) in ${path}.`,
        isError: false,
        details: { diff: `-12 ${oldText}\n+12 ${newText}`, firstChangedLine: 12 },
      };
    }
    const command = `rg -n "${name}${serial}" src/${pick(next, NAMES)} | head -${10 + upTo(next, 90)}`;
    return { name: "bash", arguments: { command, timeout: 60 }, output, isError: roll > 0.92 };
  };

  write({
    type: "session",
    version: 3,
    id: "0197a0c0-0000-7000-8000-000000000001",
    timestamp: new Date(clock).toISOString(),
    cwd: "/project",
  });
  message({ role: "system", content: "", sections: { preamble: prose(next, 2000) }, toolsAdded: [] });
  while (corpus.bytes + buffered.length < bytes) {
    message({ role: "user", content: [{ type: "text", text: `${prose(next, 30)} (${serial})` }] });
    for (let turns = 20 + upTo(next, 60); turns > 0; turns -= 1) {
      turn(Array.from({ length: next() < 0.15 ? 2 + upTo(next, 3) : 1 }, work));
    }
    if (next() < 0.3) {
      corpus.loops += 1;
      const call: Call = {
        name: "bash",
        arguments: { command: `npm test -- ${pick(next, NAMES)}${serial}` },
        output: `${pick(next, pool)}\n\nCommand exited with code 1`,
        isError: true,
      };
      for (let laps = 4 + upTo(next, 4); laps > 0; laps -= 1) turn([call]);
    }
    turn([]);
    if (next() < 0.3) {
      entry("compaction", { summary: prose(next, 300), firstKeptEntryId: parentId, tokensBefore: 150_000 });
    }
  }
  flush();
  closeSync(file);
  return corpus;
}
