// A main session whose agent starts Pi processes by its shell, and scripted children. The main agent is a puppet: it
// calls what the prompt says. Real processes, the link between them as it is. No judgement but of an orderly end.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { alertWith } from "../alerts.ts";
import {
  Lab,
  type LabOptions,
  MODEL,
  type ModelRequest,
  type PiRecord,
  type PiRpc,
  piCli,
  poll,
  provider,
  type Reply,
} from "../pi.ts";
import { phase, textOf } from "../scripts.ts";

export type Child = (request: ModelRequest) => Reply | Promise<Reply>;

export interface LinkLabOptions extends Omit<LabOptions, "script"> {
  /** By name. */
  children: Record<string, Child>;
}

const CALLS = "CALLS ";
const TASK = "TASK ";

export class LinkLab {
  readonly lab: Lab;
  readonly pi: PiRpc;
  #calls = 0;

  private constructor(lab: Lab, pi: PiRpc) {
    this.lab = lab;
    this.pi = pi;
  }

  static async open(scope: Parameters<typeof Lab.open>[0], { children, ...options }: LinkLabOptions): Promise<LinkLab> {
    const lab = await Lab.open(scope, {
      ...options,
      script: (request) => {
        const child = request.prompt.startsWith(TASK) ? children[request.prompt.slice(TASK.length)] : undefined;
        return child ? child(request) : puppet(request);
      },
    });
    return new LinkLab(lab, await lab.rpc({ args: ["--no-session"] }));
  }

  /** The shell line of a child process; what it prints goes to a file. */
  command(child: string, mode = "--mode json -p"): string {
    const words = [process.execPath, piCli(), ...mode.split(" "), "--no-session"];
    const model = `${provider("openai-completions")}/${MODEL}`;
    return `${[...words, "--model", model, `'${TASK}${child}'`].join(" ")} > out-${child} 2> err-${child}`;
  }

  /** Starts children beside each other; the main agent waits for them in one batch of calls. */
  async start(...children: string[]): Promise<void> {
    await this.run(...children.map((child) => this.command(child)));
  }

  /** Shell lines that the main agent runs in one batch. */
  async run(...commands: string[]): Promise<void> {
    await this.calls(...commands.map((command) => ({ name: "bash", args: { command } })));
  }

  async calls(...calls: { name: string; args: Record<string, unknown> }[]): Promise<string[]> {
    const toolCalls = calls.map((call) => ({ id: `call${++this.#calls}`, ...call }));
    await this.pi.send({ type: "prompt", message: CALLS + JSON.stringify(toolCalls), streamingBehavior: "followUp" });
    return toolCalls.map(({ id }) => id);
  }

  /** Lets the main agent call a tool; its text and data. */
  async call(
    name: string,
    args: Record<string, unknown> = {},
  ): Promise<{ text: string; data: PiRecord["data"]; isError: boolean }> {
    const [id] = await this.calls({ name, args });
    const fits = (record: PiRecord) => record.type === "tool_execution_end" && record.toolCallId === id;
    const { result, isError } = await this.pi.waitFor(fits, `the end of ${name}`);
    return { text: textOf(result), data: result.structuredContent, isError };
  }

  /** Starts children that the main agent does not wait for. */
  async inBackground(...children: string[]): Promise<void> {
    for (const child of children) {
      const line = `(${this.command(child)} & echo $! > pid-${child}; wait $!; echo $? > code-${child})`;
      await this.call("bash", { command: `${line} > /dev/null 2>&1 &` });
    }
  }

  #file(name: string): string | undefined {
    const path = join(this.lab.home.cwd, name);
    const text = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
    return text === "" ? undefined : text;
  }

  pid(child: string): number {
    return Number(this.#file(`pid-${child}`));
  }

  exitCode(child: string): number | undefined {
    const text = this.#file(`code-${child}`);
    return text === undefined ? undefined : Number(text);
  }

  /** Resolves when a child in the background has ended. */
  async ends(child: string): Promise<void> {
    await poll(
      () => this.exitCode(child),
      () => `the end of ${child}`,
    );
  }

  /** The target of a child that runs in the background, by its process. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read single fields
  async target(child: string): Promise<any> {
    const started = await poll(
      () => /"type":"session"[^\n]*"id":"([^"]+)"/.exec(this.#file(`out-${child}`) ?? "")?.[1],
      () => `the session id of ${child}`,
    );
    const targets = await this.targetsWhen((all) => all.some(({ id }) => id === started), `the target of ${child}`);
    return targets.find(({ id }) => id === started);
  }

  /** Resolves when the shell line that runs the child has ended. */
  async childEnds(child: string): Promise<PiRecord> {
    const started = await this.pi.waitFor(
      (record) => record.type === "tool_execution_start" && String(record.args?.command).includes(`${TASK}${child}'`),
      `the start of ${child}`,
    );
    return this.pi.waitFor(
      (record) => record.type === "tool_execution_end" && record.toolCallId === started.toolCallId,
      `the end of ${child}`,
    );
  }

  asks(child: string, turn = 0): Promise<ModelRequest> {
    return this.lab.server.request(
      (request) => request.prompt === TASK + child && request.turn >= turn,
      `turn ${turn} of ${child}`,
    );
  }

  requestsOf(child: string): ModelRequest[] {
    return this.lab.server.requests.filter((request) => request.prompt === TASK + child);
  }

  alerts(): string[] {
    return this.pi.customMessages("watchdog-alert").map(textOf);
  }

  alert(part: string): Promise<string> {
    return alertWith(this.pi, part);
  }

  async type(text: string): Promise<string> {
    const from = this.pi.records.length;
    await this.pi.send({ type: "prompt", message: text });
    return this.pi.records
      .slice(from)
      .map((record) => (record.type === "message_end" ? textOf(record.message) : String(record.message ?? "")))
      .join("\n");
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests read single fields
  async targets(): Promise<any[]> {
    return (await this.call("watchdog_list_targets", { includeCompleted: true })).data.targets;
  }

  /** The targets, when they are as wished. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read single fields
  targetsWhen(fits: (targets: any[]) => boolean, what: string): Promise<any[]> {
    return poll(
      async () => {
        const targets = await this.targets();
        return fits(targets) ? targets : undefined;
      },
      () => what,
    );
  }

  /** Folders of sockets that are there. */
  places(): string[] {
    const { TMPDIR = "" } = this.lab.home.env;
    return readdirSync(TMPDIR)
      .filter((name) => name.startsWith("pi-wd-"))
      .map((name) => join(TMPDIR, name));
  }

  async endsInOrder(): Promise<void> {
    assert.deepEqual(await this.pi.close(), { code: 0, signal: null });
    assert.doesNotMatch(this.pi.stderr, /stale|Error|panick/);
    assert.deepEqual(this.places(), [], "no socket is left");
  }
}

/** Calls what the latest prompt says, then rests. */
function puppet(request: ModelRequest): Reply {
  const { prompt, turn } = phase(request);
  if (!prompt.startsWith(CALLS) || turn > 0) return { text: "Noted." };
  return { toolCalls: JSON.parse(prompt.slice(CALLS.length)) };
}
