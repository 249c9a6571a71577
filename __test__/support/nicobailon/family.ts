// A main session as a puppet that uses the real npm package pi-subagents: a test starts runs and decides when each agent
// goes on. No assertions.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Child } from "../gotgenes/family.ts";
import { type Lab, type LabOptions, type ModelRequest, type PiRpc, REPOSITORY } from "../pi.ts";
import { Puppet } from "../puppet.ts";

export const PACKAGE = "pi-subagents";
const DIRECTORY = join(REPOSITORY, "node_modules", PACKAGE);
const PROBE = fileURLToPath(new URL("probe.ts", import.meta.url));
const TASK = "TASK ";

/** Pi before 1.0: there background runs of the installed version start. */
export const PI_0 = join(REPOSITORY, "node_modules", "pi-0-87");

/** Whether the Pi that the tests run on is before 1.0. */
export function isBefore1(): boolean {
  const directory = process.env.PI_UNDER_TEST ?? join(REPOSITORY, "node_modules/@earendil-works/pi-coding-agent");
  return JSON.parse(readFileSync(join(directory, "package.json"), "utf8")).version.startsWith("0.");
}

/** An agent without the installed extensions: what it does is seen from outside only. */
const PLAIN = `---
name: plain
description: Does what it is told
tools: read, bash, edit, write
extensions:
---

You do what you are told.
`;

export interface NicobailonOptions extends Omit<LabOptions, "script"> {
  /** By name; an agent is started by {@link Nicobailon.spawn} or {@link Nicobailon.run} with its name. */
  children: Record<string, Child>;
  /** Whether sessions are saved; default: yes, as users have it. */
  saved?: boolean;
  /** `delegate` loads the installed extensions where it runs in the background; default: `plain`, which never does. */
  agent?: "delegate" | "plain";
}

/** What the package says on the bus; tests read single fields. */
// biome-ignore lint/suspicious/noExplicitAny: payloads have no common shape
export type Said = Record<string, any>;

export class Nicobailon extends Puppet {
  readonly #agent: string;

  private constructor(lab: Lab, pi: PiRpc, agent: string) {
    super(lab, pi);
    this.#agent = agent;
  }

  static async open(scope: Parameters<typeof Puppet.start>[0], options: NicobailonOptions): Promise<Nicobailon> {
    const { children, packages = [], settings, saved = true, agent = "plain", files, ...rest } = options;
    const [lab, pi] = await Puppet.start(scope, {
      ...rest,
      saved,
      files: { ".pi/agents/plain.md": PLAIN, ...files },
      packages: [DIRECTORY, ...packages],
      settings: { defaultThinkingLevel: "off", ...settings, extensions: [PROBE] },
      child: (request) => children[taskOf(request) ?? ""]?.(request),
    });
    return new Nicobailon(lab, pi, agent);
  }

  /** Arguments of a call that starts an agent. */
  task(child: string): Record<string, unknown> {
    return { agent: this.#agent, task: TASK + child };
  }

  /** Name of an agent's target. */
  nameOf(child: string): string {
    return `${this.#agent}: ${TASK}${child}`;
  }

  /** Starts a background run; what the package says of it. */
  async spawn(child: string): Promise<Said> {
    const { text } = await this.call("subagent", { ...this.task(child), async: true });
    const id = /Async: \S+ \[([^\]]+)\]/.exec(text)?.[1];
    if (id === undefined) throw new Error(`no run was started: ${text}`);
    return this.said("subagent:async-started", id);
  }

  /** Arguments of a call that runs several agents at once, in the foreground. */
  together(...names: string[]): Record<string, unknown> {
    const agents = names.map((name) => ({ key: name, ...this.task(name), async: false }));
    return { workflowScript: `return runs.all(${JSON.stringify(agents)})`, async: false };
  }

  /** The payload of a channel for a run, past or coming. */
  async said(channel: string, runId: string, from = 0): Promise<Said> {
    const { message } = await this.pi.waitFor(
      ({ type, method, message }) =>
        type === "extension_ui_request" &&
        method === "notify" &&
        String(message).startsWith(`${channel} `) &&
        String(message).includes(runId),
      `${channel} of ${runId}`,
      { from },
    );
    return JSON.parse(String(message).slice(channel.length));
  }

  /** Asks the package over the bus. */
  async ask(method: string, params: Record<string, unknown>): Promise<Said> {
    const from = this.pi.records.length;
    await this.pi.send({ type: "prompt", message: `/package-ask ${JSON.stringify({ method, params })}` });
    return this.said("answer", "", from);
  }

  async emit(channel: string, payload: unknown): Promise<void> {
    await this.pi.send({ type: "prompt", message: `/package-emit ${JSON.stringify({ channel, payload })}` });
  }

  /** Resolves when the agent asks the model for its nth turn (0: its first). */
  async asks(child: string, turn = 0): Promise<ModelRequest> {
    return this.lab.server.request(
      (request) => taskOf(request) === child && request.turn >= turn,
      `turn ${turn} of ${child}`,
    );
  }

  /** What the agent was sent, and nobody else. */
  requestsOf(child: string): ModelRequest[] {
    return this.lab.server.requests.filter((request) => taskOf(request) === child);
  }
}

/** The agent that asks; undefined for the main one, whose prompts quote the task. */
function taskOf({ prompt }: ModelRequest): string | undefined {
  return prompt.startsWith(`Task: ${TASK}`) ? /^Task: TASK (\w+)/.exec(prompt)?.[1] : undefined;
}
