// A small language for traces of several agents that work at the same time. Every agent has its own clock; their events
// are brought into one order at the end. Builds the events of `docs/trace.md`, deterministically; knows no detector.

import type { TraceEvent } from "../../../index.d.ts";
import { Noise } from "../noise.ts";

export interface SpawnOptions {
  background?: boolean;
  agentType?: string;
  task?: string;
  /** Folder that it works in, where that is not its parent's. */
  cwd?: string;
  worktree?: string;
}

export interface BashOptions {
  /** Seconds that the call takes. */
  secs?: number;
  /** Seconds that it says it may take. */
  timeout?: number;
  failed?: boolean;
  output?: string;
}

export class Stage {
  readonly noise: Noise;
  readonly main: Actor;
  readonly #events: TraceEvent[] = [];

  constructor(seed: number) {
    this.noise = new Noise(seed);
    this.main = new Actor(this, undefined, undefined);
  }

  push(event: TraceEvent): void {
    this.#events.push(event);
  }

  /** All agents' events in the order of time; what happens at one time stays in the order of telling. */
  events(): TraceEvent[] {
    return this.#events
      .map((event, index) => ({ event, index }))
      .sort((a, b) => a.event.at - b.event.at || a.index - b.index)
      .map(({ event }) => event);
  }
}

/** One agent, with its own clock. */
export class Actor {
  readonly stage: Stage;
  readonly name: string | undefined;
  at = 0;
  #turn = 0;
  #calls = 0;
  #files = 0;

  constructor(stage: Stage, name: string | undefined, parent: Actor | undefined) {
    this.stage = stage;
    this.name = name;
    this.at = parent?.at ?? 0;
  }

  get label(): string {
    return this.name ?? "main";
  }

  wait(seconds: number): this {
    this.at += seconds;
    return this;
  }

  /** Its clock goes on to where the others are. */
  until(...others: Actor[]): this {
    this.at = Math.max(this.at, ...others.map((other) => other.at));
    return this;
  }

  user(text: string): this {
    this.at += this.stage.noise.between(5, 30);
    return this.#push({ type: "user", text });
  }

  /** A program speaks to it: the notice that a child is done, a reminder. */
  program(text: string): this {
    this.at += 0.2;
    return this.#push({ type: "user", text, synthetic: true });
  }

  say(text: string, stopReason = "stop"): this {
    this.#think();
    this.#turn += 1;
    return this.#push({ type: "assistant", turn: this.#turn, text, stopReason, usage: this.#usage() });
  }

  /** A message that is written slowly. */
  stream(pieces: number, pause: number): this {
    this.#turn += 1;
    const words: string[] = [];
    for (let n = 0; n < pieces; n++) {
      const text = `Part ${n + 1} of ${this.label}: ${this.stage.noise.id(9)} calls ${this.stage.noise.id(7)}, see ${this.stage.noise.hex(6)}. `;
      words.push(text);
      this.wait(pause).#push({ type: "assistant", turn: this.#turn, text, partial: true });
    }
    const text = words.join("");
    return this.#push({ type: "assistant", turn: this.#turn, text, stopReason: "stop", usage: this.#usage() });
  }

  life(event: string, fields: Record<string, unknown> = {}): this {
    this.at += 0.1;
    return this.#push({ type: "lifecycle", event, ...fields });
  }

  /** Asks for a tool; what comes of it is told by `close`. */
  open(tool: string, args: unknown): string {
    this.#think();
    this.#turn += 1;
    this.#calls += 1;
    const callId = `${this.label}_${this.#calls}`;
    this.#push({ type: "assistant", turn: this.#turn, text: "", stopReason: "toolUse", usage: this.#usage() });
    this.#push({ type: "tool_call", turn: this.#turn, callId, tool, args });
    return `${this.#turn} ${callId} ${tool}`;
  }

  close(call: string, output: string, isError = false): this {
    const [turn, callId, tool] = call.split(" ");
    this.at += 0.1;
    return this.#push({ type: "tool_result", turn: Number(turn), callId: callId!, tool: tool!, output, isError });
  }

  call(tool: string, args: unknown, output: string, secs = 0.4, isError = false): this {
    const call = this.open(tool, args);
    return this.wait(secs).close(call, output, isError);
  }

  bash(command: string, options: BashOptions = {}): this {
    const { secs = this.stage.noise.between(0.3, 4), timeout, failed = false } = options;
    const output = options.output ?? `${this.stage.noise.id(12)} ok in ${secs.toFixed(2)}s`;
    return this.call("bash", { command, ...(timeout !== undefined && { timeout }) }, output, secs, failed);
  }

  read(path: string): this {
    return this.call("read", { path }, `export const ${this.stage.noise.id(8)} = ${this.stage.noise.int(1, 9999)};\n`);
  }

  edit(path: string): this {
    const edits = [{ oldText: this.stage.noise.id(10), newText: this.stage.noise.id(12) }];
    return this.call("edit", { path, edits }, `Successfully replaced 1 block(s) in ${path}.`);
  }

  write(path: string): this {
    const content = `// ${this.stage.noise.id(24)}\n`;
    return this.call("write", { path, content }, `Successfully wrote ${content.length} bytes to ${path}`);
  }

  /** So many rounds of looking, changing and trying in files of its own. */
  work(rounds: number, pause = 5): this {
    for (let n = 0; n < rounds; n++) {
      this.#files += 1;
      const path = `src/${this.label}/part_${this.#files}.ts`;
      this.wait(pause).read(path);
      if (n % 2 === 0) this.edit(path);
      else this.bash(`npx vitest run ${path.replace(".ts", ".test.ts")}`, { secs: this.stage.noise.between(2, 40) });
    }
    return this;
  }

  /** So many rounds of looking only. */
  look(rounds: number, pause = 5): this {
    for (let n = 0; n < rounds; n++) {
      this.#files += 1;
      this.wait(pause).read(`docs/${this.label}/page_${this.#files}.md`);
    }
    return this;
  }

  spawn(name: string, options: SpawnOptions = {}): Actor {
    const child = new Actor(this.stage, name, this);
    const { cwd, worktree, ...fields } = options;
    child.life("subagent_spawn", {
      ...(this.name !== undefined && { parent: this.name }),
      task: `Do the part of the work that is called ${name}.`,
      ...fields,
    });
    if (cwd !== undefined) child.life("session_start", { cwd, ...(worktree !== undefined && { worktree }) });
    return child;
  }

  /** Says what came of it, and is over. */
  end(text = `The part of ${this.label} is done.`, status = "completed"): this {
    return this.say(text).wait(0.5).life("subagent_end", { status });
  }

  /** A child that it starts in the background. */
  background(name: string, options: SpawnOptions = {}): Actor {
    const call = this.open("Agent", { description: name, prompt: options.task ?? name, run_in_background: true });
    const child = this.spawn(name, { background: true, ...options });
    this.close(call, `Agent started in background.\nAgent ID: ${name}`);
    return child.until(this);
  }

  /** A child that it waits for, with what the child does. */
  foreground(name: string, act: (child: Actor) => void, options: SpawnOptions = {}): Actor {
    const call = this.open("Agent", { description: name, prompt: options.task ?? `Do ${name}.` });
    const child = this.spawn(name, options);
    act(child);
    this.until(child).close(call, `${name}: done.`);
    return child;
  }

  /** The children have ended and it is told. */
  hears(...children: Actor[]): this {
    return this.until(...children)
      .wait(1)
      .program(`Background agents done: ${children.map((child) => child.label).join(", ")}`);
  }

  /** Reads the result of a child that has ended. */
  fetch(child: Actor): this {
    return this.until(child).call(
      "get_subagent_result",
      { agent_id: child.label },
      `${child.label} says ${this.stage.noise.id(20)}`,
    );
  }

  #think(): void {
    this.at += this.stage.noise.between(1.5, 9);
  }

  #usage(): { input: number; output: number; cost: { total: number } } {
    return { input: 1200 + this.#turn * 85, output: 90, cost: { total: 0.004 } };
  }

  #push(event: object): this {
    const at = Math.round(this.at * 1000) / 1000;
    this.stage.push({ at, ...(this.name !== undefined && { agent: this.name }), ...event } as TraceEvent);
    return this;
  }
}

export interface FamilyScenario {
  name: string;
  /** Why a person who watches would not call any of them to account. */
  why: string;
  build(main: Actor, stage: Stage): void;
}

/** The events of a scenario; the same at every call. */
export function perform(scenario: FamilyScenario): TraceEvent[] {
  let seed = 11;
  for (const letter of scenario.name) seed = (seed * 31 + letter.charCodeAt(0)) >>> 0;
  const stage = new Stage(seed);
  scenario.build(stage.main, stage);
  return stage.events();
}
