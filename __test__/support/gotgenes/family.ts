// A main session as a puppet, and scripted children: a test calls the main agent's tools one by one, and decides when
// each child goes on. Real Pi, real child sessions, the stand-in package. No assertions.

import { fileURLToPath } from "node:url";
import { Lab, type LabOptions, type ModelRequest, type PiRecord, type PiRpc, type Reply } from "../pi.ts";
import { phase, textOf } from "../scripts.ts";

/** Directory of the stand-in, to be installed as a package. */
export const STAND_IN = fileURLToPath(new URL(".", import.meta.url));

/** The replies of one child, given its request. */
export type Child = (request: ModelRequest) => Reply | Promise<Reply>;

/** How the main agent deals with its sub-agent package. */
export interface Kit {
  /** Directory to install. */
  package: string;
  /** The tool that starts an agent. */
  tool: string;
  /** Finds the agent id in the answer of that tool. */
  started: RegExp;
  /** Whether a message tells the main agent of that agent's end. */
  tellsEnd(message: PiRecord["message"], agentId: string): boolean;
}

const STAND_IN_KIT: Kit = {
  package: STAND_IN,
  tool: "subagent",
  started: /Agent (\S+) started/,
  tellsEnd: (message, agentId) =>
    message.customType === "subagent-notification" && message.details?.agentId === agentId,
};

export interface FamilyOptions extends Omit<LabOptions, "script"> {
  /** By name; a child is started by {@link Family.spawn} with its name. */
  children: Record<string, Child>;
  /** See `quirks.ts`. */
  quirks?: string;
  /** Absent: the stand-in's. */
  kit?: Kit;
}

/** What a tool call of the main agent came to. */
export interface Outcome {
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: every tool has its own data, tests read single fields
  data: any;
  isError: boolean;
}

const CALL = "CALL ";
const TASK = "TASK ";

export class Family {
  readonly lab: Lab;
  readonly pi: PiRpc;
  readonly #kit: Kit;
  #calls = 0;

  private constructor(lab: Lab, pi: PiRpc, kit: Kit) {
    this.lab = lab;
    this.pi = pi;
    this.#kit = kit;
  }

  static async open(scope: Parameters<typeof Lab.open>[0], options: FamilyOptions): Promise<Family> {
    const { children, quirks, kit = STAND_IN_KIT, packages = [], env, ...rest } = options;
    const lab = await Lab.open(scope, {
      ...rest,
      packages: [kit.package, ...packages],
      env: { PI_SUBAGENTS_STAND_IN: quirks, ...env },
      script: (request) => {
        const child = request.prompt.startsWith(TASK) ? children[request.prompt.slice(TASK.length)] : undefined;
        return child ? child(request) : puppet(request);
      },
    });
    return new Family(lab, await lab.rpc({ args: ["--no-session"] }), kit);
  }

  /** Lets the main agent call a tool; resolves when the call has ended. */
  async call(name: string, args: Record<string, unknown> = {}): Promise<Outcome> {
    const id = `call${++this.#calls}`;
    const message = CALL + JSON.stringify({ id, name, args });
    await this.pi.send({ type: "prompt", message, streamingBehavior: "followUp" });
    const fits = (record: PiRecord) => record.type === "tool_execution_end" && record.toolCallId === id;
    const { result, isError } = await this.pi.waitFor(fits, `the end of ${name}`);
    return { text: textOf(result), data: result.structuredContent, isError };
  }

  /** Starts a child in the background; its agent id. */
  async spawn(child: string, args: Record<string, unknown> = {}): Promise<string> {
    const { text } = await this.call(this.#kit.tool, { ...this.task(child), run_in_background: true, ...args });
    return this.#kit.started.exec(text)?.[1] ?? "";
  }

  /** Arguments of a call that starts a child. */
  task(child: string): Record<string, unknown> {
    return { subagent_type: "Explore", description: `job of ${child}`, prompt: TASK + child };
  }

  /** Resolves when the child asks the model for its nth turn (0: its first). */
  async asks(child: string, turn = 0): Promise<ModelRequest> {
    return this.lab.server.request(
      (request) => request.prompt === TASK + child && request.turn >= turn,
      `turn ${turn} of ${child}`,
    );
  }

  /** What the child was sent, and nobody else. */
  requestsOf(child: string): ModelRequest[] {
    return this.lab.server.requests.filter((request) => request.prompt === TASK + child);
  }

  /** A background agent's end, as the package tells the main agent. */
  async ended(agentId: string): Promise<string> {
    const message = await this.pi.waitFor(
      ({ type, message }) =>
        type === "message_end" && message.role === "custom" && this.#kit.tellsEnd(message, agentId),
      `the end of ${agentId}`,
    );
    return textOf(message.message);
  }

  /** Texts of the alerts in the main session so far. */
  alerts(): string[] {
    return this.pi.customMessages("watchdog-alert").map(textOf);
  }

  /** The first alert, past or coming, that contains the text. */
  async alert(part: string): Promise<string> {
    const fits = ({ type, message }: PiRecord) =>
      type === "message_end" && message.customType === "watchdog-alert" && textOf(message).includes(part);
    return textOf((await this.pi.waitFor(fits, `an alert with ${part}`)).message);
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

/** Promises by name that a test resolves: a child that awaits one goes on when the test says so. */
export class Gates {
  readonly #waiting = new Map<string, { opened: Promise<void>; open: () => void }>();

  #of(name: string) {
    const known = this.#waiting.get(name);
    if (known) return known;
    const { promise, resolve } = Promise.withResolvers<void>();
    const gate = { opened: promise, open: resolve };
    this.#waiting.set(name, gate);
    return gate;
  }

  pass(name: string): Promise<void> {
    return this.#of(name).opened;
  }

  open(...names: string[]): void {
    for (const name of names) this.#of(name).open();
  }
}

/** Calls what the latest prompt says, then rests. */
function puppet(request: ModelRequest): Reply {
  const { prompt, turn } = phase(request);
  if (!prompt.startsWith(CALL) || turn > 0) return { text: "Noted." };
  return { toolCalls: [JSON.parse(prompt.slice(CALL.length))] };
}
