// The JS twin of `replayFile`, as one would write it in JavaScript: readline over a stream, JSON.parse, regular
// expressions, node:crypto, an array that drops its oldest event and is read again at each new one. It keeps nothing
// that replaying does not need. Linear session files without synthetic messages, which is what is measured.

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { WatchdogConfig } from "../index.js";
import { actionOf, type TwinAction } from "./twin/action.ts";
import { rescan, type TwinEvent } from "./twin/detect.ts";
import { maskNoise } from "./twin/noise.ts";
import { digest, stripAnsi } from "./twin/text.ts";

const MOMENTS = /\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?\b|\b\d\d?:\d\d:\d\d\b/g;
const IDS = /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b|\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{12,}\b/gi;

function normalizeMessage(text: string): string {
  return stripAnsi(text)
    .replace(MOMENTS, "<time>")
    .replace(IDS, "<id>")
    .replace(/\d+/g, "<n>")
    .replace(/\s+/g, " ")
    .trim();
}

/** Where an incident was first told. */
export interface TwinFinding {
  line: number;
  entryId: string;
  rule: string;
}

interface Block {
  type: string;
  text?: string;
  thinking?: string;
  id?: string;
  name?: string;
  arguments?: unknown;
}

export async function replayTwin(path: string, config: WatchdogConfig): Promise<TwinFinding[]> {
  const findings: TwinFinding[] = [];
  const ring: TwinEvent[] = [];
  const open = new Map<string, TwinAction>();
  let turn = 0;
  let lineNumber = 0;
  let stuck = false;
  let lastBody = "";
  let sameBodies = 0;

  const push = (event: TwinEvent, entryId: string) => {
    ring.push(event);
    if (ring.length > config.maxEventsPerAgent) ring.shift();
    const [evidence] = rescan(ring, config);
    if (evidence !== undefined && !stuck) findings.push({ line: lineNumber, entryId, rule: evidence.type });
    stuck = evidence !== undefined;
  };

  for await (const line of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    lineNumber += 1;
    const entry = JSON.parse(line);
    if (entry.type !== "message") continue;
    const at = Date.parse(entry.timestamp);
    const { message } = entry;
    if (message.role === "user") {
      // A person spoke: nothing that was counted goes on.
      ring.length = 0;
      stuck = false;
    } else if (message.role === "assistant") {
      turn += 1;
      const parts = (part: (block: Block) => string | undefined) =>
        normalizeMessage((message.content as Block[]).flatMap((block) => part(block) ?? []).join("\n"));
      const body = digest(`${parts(({ text }) => text)}\0${parts(({ thinking }) => thinking)}`);
      if (message.stopReason !== "toolUse") {
        sameBodies = body === lastBody ? sameBodies + 1 : 1;
        lastBody = body;
        if (sameBodies === config.llmRepeatThreshold) {
          findings.push({ line: lineNumber, entryId: entry.id, rule: "repeated_llm_output" });
        }
      }
      for (const block of message.content as Block[]) {
        if (block.type !== "toolCall") continue;
        const { id: callId = "", name: tool = "" } = block;
        const action = actionOf(tool, JSON.stringify(block.arguments));
        open.set(callId, action);
        const type = action.isEdit ? "edit" : "tool_call";
        push({ id: "", type, at, turn, callId, action, commandKey: action.key, summary: "" }, entry.id);
      }
    } else if (message.role === "toolResult") {
      const { toolCallId: callId, isError } = message;
      const action = open.get(callId) ?? actionOf(message.toolName, "");
      open.delete(callId);
      const output = (message.content as Block[]).map(({ text = "" }) => text).join("\n");
      const masked = `${maskNoise(stripAnsi(output))}${isError ? "!" : "."}`;
      const outcome = digest(masked);
      push(
        {
          id: "",
          type: "tool_result",
          at,
          turn,
          callId,
          action,
          commandKey: action.key,
          summary: "",
          isError,
          outcome,
          shape: digest(masked.slice(0, 2048).replace(/\d+/g, "0")),
          pair: action.hash + outcome,
        },
        entry.id,
      );
    }
  }
  return findings;
}
