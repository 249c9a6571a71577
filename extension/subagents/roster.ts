// Which agent runs in which session. Holds the links and their rules; asks no package and writes to no store.

import type { ChildLink } from "../runtime.ts";

/** Ended agents that are remembered, so that one that is resumed is known again. */
const MAX_ENDED = 200;

export interface Agent {
  readonly agentId: string;
  readonly type: string;
  readonly description: string;
  /** Set together with `link`. */
  sessionId: string | undefined;
  link: ChildLink["link"];
  ended: boolean;
  disposed: boolean;
}

export class Roster {
  readonly #agents = new Map<string, Agent>();
  readonly #sessions = new Map<string, Agent>();
  /** Sessions of this package that no agent could be told for. */
  readonly #unlinked = new Set<string>();

  get(agentId: string): Agent | undefined {
    return this.#agents.get(agentId);
  }

  agents(): Agent[] {
    return [...this.#agents.values()];
  }

  unlinked(): string[] {
    return [...this.#unlinked];
  }

  add(agentId: string, type: string, description: string): Agent {
    const known = this.#agents.get(agentId);
    if (known) return known;
    this.#forget();
    const agent: Agent = {
      agentId,
      type,
      description,
      sessionId: undefined,
      link: "none",
      ended: false,
      disposed: false,
    };
    this.#agents.set(agentId, agent);
    return agent;
  }

  bySession(sessionId: string): Agent | undefined {
    return this.#sessions.get(sessionId);
  }

  /**
   * Links a session to the agent whose async context it was created in. False when the agent has another session: it
   * has only one.
   */
  linkExact(agent: Agent, sessionId: string): boolean {
    if (agent.sessionId !== undefined) return false;
    this.#link(agent, sessionId, "exact");
    return true;
  }

  /** What was inferred is certain now. */
  confirm(agent: Agent): void {
    agent.link = "exact";
  }

  /** Without a context only one thing can be said: when a single agent waits for its session, this is probably it. */
  linkInferred(sessionId: string): Agent | undefined {
    const [only, ...others] = this.agents().filter((agent) => agent.sessionId === undefined && !agent.ended);
    if (only === undefined || others.length > 0) return undefined;
    this.#link(only, sessionId, "inferred");
    return only;
  }

  addUnlinked(sessionId: string): void {
    this.#unlinked.add(sessionId);
  }

  forgetUnlinked(sessionId: string): boolean {
    return this.#unlinked.delete(sessionId);
  }

  /** Sessions of agents that may be others'. */
  uncertain(): string[] {
    const inferred = this.agents().filter(({ link, ended }) => link === "inferred" && !ended);
    return [...inferred.flatMap(({ sessionId }) => sessionId ?? []), ...this.#unlinked];
  }

  /** What is known of a session; the agent id only where it is beyond doubt. */
  child(sessionId: string): ChildLink | undefined {
    const agent = this.#sessions.get(sessionId);
    if (agent) {
      const known = { agentType: agent.type, description: agent.description, link: agent.link };
      return agent.link === "exact" ? { agentId: agent.agentId, ...known } : known;
    }
    return this.#unlinked.has(sessionId) ? { link: "none" } : undefined;
  }

  #link(agent: Agent, sessionId: string, link: "exact" | "inferred"): void {
    agent.sessionId = sessionId;
    agent.link = link;
    this.#sessions.set(sessionId, agent);
  }

  #forget(): void {
    const ended = this.agents().filter((agent) => agent.ended);
    for (const agent of ended.slice(0, Math.max(0, ended.length - MAX_ENDED + 1))) {
      this.#agents.delete(agent.agentId);
      if (agent.sessionId !== undefined) this.#sessions.delete(agent.sessionId);
    }
  }
}
