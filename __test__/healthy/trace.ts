// A small language for traces that read like a session: who says what, which tool is called, what it answers. Builds
// the events of `docs/trace.md`, deterministically; knows nothing of the detector.

import type { TraceEvent, TraceUsage } from "../../index.d.ts";
import { Noise } from "./noise.ts";

export interface CallOptions {
  error?: boolean;
  /** Path → content hash after the call, as far as it is known. */
  files?: Record<string, string>;
  blockedBy?: string;
  /** What the agent says with the call. */
  say?: string;
  /** Seconds that the call takes. */
  secs?: number;
}

/** One call of a parallel batch. */
export interface Call extends CallOptions {
  tool: string;
  args: unknown;
  output: string;
}

export interface BashOptions extends CallOptions {
  /** Exit code; anything but 0 is an error and named at the end of the output, as Pi does. */
  code?: number;
}

export class Trace {
  readonly events: TraceEvent[] = [];
  readonly noise: Noise;
  /** Tool calls so far; a message without one is a step as well. */
  steps = 0;
  #at = 0;
  #turn = 0;
  #agent: string | undefined;

  constructor(seed: number) {
    this.noise = new Noise(seed);
  }

  /** What follows belongs to this agent; `undefined`: the main one. */
  as(agent: string | undefined): this {
    this.#agent = agent;
    return this;
  }

  /** Time passes and nothing happens. */
  wait(seconds: number): this {
    this.#at += seconds;
    return this;
  }

  /** A person speaks; people think before they do. */
  user(text: string): this {
    this.#at += this.noise.between(5, 40);
    return this.#push({ type: "user", text });
  }

  /** A program speaks to the agent: a hook, a reminder, a notice. */
  program(text: string): this {
    this.#at += 0.2;
    return this.#push({ type: "user", text, synthetic: true });
  }

  /** The agent answers and asks for no tool. */
  say(text: string, stopReason: "stop" | "length" | "aborted" | "error" | "toolUse" = "stop"): this {
    this.#think();
    this.#turn += 1;
    this.steps += 1;
    return this.#push({ type: "assistant", turn: this.#turn, text, stopReason, usage: this.#usage(text) });
  }

  call(tool: string, args: unknown, output: string, options: CallOptions = {}): this {
    return this.batch([{ tool, args, output, ...options }]);
  }

  /** Several calls of one assistant message; their results come in order. */
  batch(calls: readonly Call[]): this {
    this.#think();
    this.#turn += 1;
    const turn = this.#turn;
    const said = calls.find((call) => call.say !== undefined)?.say ?? "";
    this.#push({ type: "assistant", turn, text: said, stopReason: "toolUse", usage: this.#usage(said) });
    const ids = calls.map(() => `call_${this.noise.id(8)}`);
    calls.forEach((call, index) => {
      this.#push({ type: "tool_call", turn, callId: ids[index]!, tool: call.tool, args: call.args });
    });
    calls.forEach((call, index) => {
      this.#at += call.secs ?? this.noise.between(0.05, 1.5);
      this.steps += 1;
      this.#push({
        type: "tool_result",
        turn,
        callId: ids[index]!,
        tool: call.tool,
        output: call.output,
        isError: call.error ?? false,
        ...(call.files && { files: call.files }),
        ...(call.blockedBy && { blockedBy: call.blockedBy }),
      });
    });
    return this;
  }

  bash(command: string, output = "(no output)", options: BashOptions = {}): this {
    return this.batch([shell(command, output, options)]);
  }

  read(path: string, output: string, range: { offset?: number; limit?: number } = {}, options?: CallOptions): this {
    return this.call("read", { path, ...range }, output, options);
  }

  edit(path: string, oldText: string, newText: string, options?: CallOptions): this {
    const output = `Successfully replaced 1 block(s) in ${path}.`;
    return this.call("edit", { path, edits: [{ oldText, newText }] }, output, options);
  }

  failedEdit(path: string, oldText: string, newText: string): this {
    const output = `Could not find the exact text in ${path}. The old text must match exactly including all whitespace and newlines.`;
    return this.call("edit", { path, edits: [{ oldText, newText }] }, output, { error: true });
  }

  write(path: string, content: string, options?: CallOptions): this {
    return this.call("write", { path, content }, `Successfully wrote ${content.length} bytes to ${path}`, options);
  }

  lifecycle(event: string, fields: Record<string, unknown> = {}): this {
    this.#at += 0.1;
    return this.#push({ type: "lifecycle", event, ...fields });
  }

  #think(): void {
    this.#at += this.noise.between(1.5, 9);
  }

  #usage(text: string): TraceUsage {
    return { input: 1200 + this.#turn * 85, output: 60 + Math.ceil(text.length / 4), cost: { total: 0.004 } };
  }

  #push(event: object): this {
    const at = Math.round(this.#at * 1000) / 1000;
    this.events.push({ at, ...(this.#agent !== undefined && { agent: this.#agent }), ...event } as TraceEvent);
    return this;
  }
}

/** A call of Pi's shell, for a batch. */
export function shell(command: string, output = "(no output)", { code = 0, ...options }: BashOptions = {}): Call {
  const args = { command };
  if (code === 0) return { tool: "bash", args, output, ...options };
  const said = output === "" || output === "(no output)" ? "(no output)" : output;
  return { tool: "bash", args, output: `${said}\n\nCommand exited with code ${code}`, error: true, ...options };
}

export interface Scenario {
  name: string;
  /** Why a person who watches would not call this stuck. */
  why: string;
  build(t: Trace): void;
}

/** The events of a scenario; the same at every call. */
export function play(scenario: Scenario): Trace {
  let seed = 7;
  for (const letter of scenario.name) seed = (seed * 31 + letter.charCodeAt(0)) >>> 0;
  const trace = new Trace(seed);
  scenario.build(trace);
  return trace;
}
