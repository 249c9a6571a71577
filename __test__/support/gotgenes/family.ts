// A main session as a puppet, and scripted children of the stand-in package: a test decides when each child goes on.
// Real Pi, real child sessions. No assertions.

import { fileURLToPath } from "node:url";
import type { Lab, LabOptions, ModelRequest, PiRecord, PiRpc, Reply } from "../pi.ts";
import { Puppet } from "../puppet.ts";
import { textOf } from "../scripts.ts";

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
  /** Whether sessions are saved; default: no. */
  saved?: boolean;
}

const TASK = "TASK ";

export class Family extends Puppet {
  readonly #kit: Kit;

  private constructor(lab: Lab, pi: PiRpc, kit: Kit) {
    super(lab, pi);
    this.#kit = kit;
  }

  static async open(scope: Parameters<typeof Lab.open>[0], options: FamilyOptions): Promise<Family> {
    const { children, quirks, kit = STAND_IN_KIT, packages = [], env, ...rest } = options;
    const [lab, pi] = await Puppet.start(scope, {
      ...rest,
      packages: [kit.package, ...packages],
      env: { PI_SUBAGENTS_STAND_IN: quirks, ...env },
      child: (request) =>
        request.prompt.startsWith(TASK) ? children[request.prompt.slice(TASK.length)]?.(request) : undefined,
    });
    return new Family(lab, pi, kit);
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
