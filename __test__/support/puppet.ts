// A main session as a puppet: a test calls the main agent's tools one by one and reads what the watchdog made of it. Real
// Pi. No assertions.

import { alertWith } from "./alerts.ts";
import { Lab, type LabOptions, type ModelRequest, type PiRecord, type PiRpc, type Reply } from "./pi.ts";
import { phase, textOf } from "./scripts.ts";

/** What a tool call of the main agent came to. */
export interface Outcome {
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: every tool has its own data, tests read single fields
  data: any;
  isError: boolean;
}

export interface PuppetOptions extends Omit<LabOptions, "script"> {
  /** Whether sessions are saved; default: no. */
  saved?: boolean;
  /** Answers for every session but the main one; undefined: it is the main one. */
  child(request: ModelRequest): Reply | Promise<Reply> | undefined;
}

const CALL = "CALL ";

export class Puppet {
  readonly lab: Lab;
  readonly pi: PiRpc;
  #calls = 0;

  constructor(lab: Lab, pi: PiRpc) {
    this.lab = lab;
    this.pi = pi;
  }

  static async start(
    scope: Parameters<typeof Lab.open>[0],
    { child, saved, ...options }: PuppetOptions,
  ): Promise<[Lab, PiRpc]> {
    const lab = await Lab.open(scope, { ...options, script: (request) => child(request) ?? puppet(request) });
    return [lab, await lab.rpc({ args: saved ? [] : ["--no-session"] })];
  }

  /** Lets the main agent begin a tool call; its id. */
  async begin(name: string, args: Record<string, unknown> = {}): Promise<string> {
    const id = `call${++this.#calls}`;
    const message = CALL + JSON.stringify({ id, name, args });
    await this.pi.send({ type: "prompt", message, streamingBehavior: "followUp" });
    return id;
  }

  /** What the call came to, when it has ended. */
  async end(id: string): Promise<Outcome> {
    const fits = (record: PiRecord) => record.type === "tool_execution_end" && record.toolCallId === id;
    const { result, isError } = await this.pi.waitFor(fits, `the end of ${id}`);
    return { text: textOf(result), data: result.structuredContent, isError };
  }

  /** Lets the main agent call a tool; resolves when the call has ended. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<Outcome> {
    return this.end(await this.begin(name, args));
  }

  /** Calls a tool as the watchdog writes it, `tool {…, "message": "…"}`, with a message in place. */
  async callAsNamed(call: string, message: string): Promise<Outcome> {
    const [, tool = "", args = ""] = /^(\w+) (\{.*\})$/.exec(call) ?? [];
    return this.call(tool, { ...JSON.parse(args), message });
  }

  /** Texts of the alerts in the main session so far. */
  alerts(): string[] {
    return this.pi.customMessages("watchdog-alert").map(textOf);
  }

  /** The first alert, past or coming, that contains the text; see `alertWith`. */
  alert(part: string): Promise<string> {
    return alertWith(this.pi, part);
  }

  /** The first notification, past or coming, that contains the text. */
  async notified(part: string): Promise<string> {
    const fits = ({ type, method, message }: PiRecord) =>
      type === "extension_ui_request" && method === "notify" && String(message).includes(part);
    return String((await this.pi.waitFor(fits, `a notification with ${part}`)).message);
  }

  /** A slash command; resolves with what it answered in the session or by notification. */
  async command(text: string): Promise<string> {
    const from = this.pi.records.length;
    await this.pi.send({ type: "prompt", message: text });
    return this.pi.records
      .slice(from)
      .map((record) => (record.type === "message_end" ? textOf(record.message) : String(record.message ?? "")))
      .join("\n");
  }

  /** The targets of the tree, by name. */
  // biome-ignore lint/suspicious/noExplicitAny: as in Outcome
  async targets(): Promise<Map<string, any>> {
    const { data } = await this.call("watchdog_list_targets", { includeCompleted: true });
    return new Map(data.targets.map((target: { name: string }) => [target.name, target]));
  }
}

/** Calls what the latest prompt says, then rests. */
function puppet(request: ModelRequest): Reply {
  const { prompt, turn } = phase(request);
  if (!prompt.startsWith(CALL) || turn > 0) return { text: "Noted." };
  return { toolCalls: [JSON.parse(prompt.slice(CALL.length))] };
}
