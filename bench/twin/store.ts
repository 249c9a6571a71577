// The JS twin of the store's event path: normalise, hash, push into an array that drops its oldest, read it all again.

import type { WatchdogConfig } from "../../index.js";
import type { ObservingStore } from "../session.ts";
import { actionOf, type TwinAction } from "./action.ts";
import { rescan, type TwinEvent, type TwinEvidence } from "./detect.ts";
import { maskNoise } from "./noise.ts";
import { digest, firstLines, sha256, stripAnsi } from "./text.ts";

interface Target {
  id: string;
  config: WatchdogConfig;
  ring: TwinEvent[];
  seq: number;
  open: Map<string, TwinAction>;
  evidence: TwinEvidence[];
}

export class TwinStore implements ObservingStore {
  readonly #targets: Target[] = [];
  /** Off: text and hashes only, to see what of the time is detection. */
  readonly #detects: boolean;

  constructor(detects = true) {
    this.#detects = detects;
  }

  open(id: string, _at: number, _info: { name?: string }, config: WatchdogConfig): number {
    return this.#targets.push({ id, config, ring: [], seq: 0, open: new Map(), evidence: [] });
  }

  events(handle: number): readonly TwinEvent[] {
    return this.#target(handle).ring;
  }

  evidence(handle: number): readonly TwinEvidence[] {
    return this.#target(handle).evidence;
  }

  observeToolCall(handle: number, at: number, turn: number, callId: string, tool: string, args: string): number {
    const target = this.#target(handle);
    const action = actionOf(tool, args);
    target.open.set(callId, action);
    return this.#push(target, {
      id: "",
      type: action.isEdit ? "edit" : "tool_call",
      at,
      turn,
      callId,
      action,
      commandKey: action.key,
      summary: `${tool}: ${action.key}`,
    });
  }

  observeToolResult(
    handle: number,
    at: number,
    turn: number,
    callId: string,
    tool: string,
    output: string,
    isError: boolean,
  ): number {
    const target = this.#target(handle);
    const action = target.open.get(callId) ?? actionOf(tool, "");
    target.open.delete(callId);
    const stripped = stripAnsi(output);
    const masked = `${maskNoise(stripped)}${isError ? "!" : "."}`;
    const outcome = digest(masked);
    return this.#push(target, {
      id: "",
      type: "tool_result",
      at,
      turn,
      callId,
      action,
      commandKey: action.key,
      summary: `${action.key}${isError ? " failed" : ""}`,
      outputHash: sha256(stripped),
      outputPreview: firstLines(stripped, target.config.maxPreviewLines),
      isError,
      outcome,
      shape: digest(masked.slice(0, 2048).replace(/\d+/g, "0") + masked.slice(2048)),
      pair: action.hash + outcome,
    });
  }

  #push(target: Target, event: TwinEvent): number {
    event.id = `${target.id}-${++target.seq}`;
    target.ring.push(event);
    if (target.ring.length > target.config.maxEventsPerAgent) target.ring.shift();
    if (!this.#detects) return 0;
    const before = target.evidence.length;
    target.evidence = rescan(target.ring, target.config);
    return before === 0 && target.evidence.length === 0 ? 0 : 1;
  }

  #target(handle: number): Target {
    const target = this.#targets[handle - 1];
    if (target === undefined) throw new RangeError(`no target ${handle}`);
    return target;
  }

  observeAssistant(): number {
    return 0;
  }
}
