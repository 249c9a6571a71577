// Writes what happens to sub-agents into the native store: targets, aliases, notes and ends. An agent has no target
// before it has a session, so what was said of it until then waits here. Decides nothing about links.

import type { TargetInfo, TargetStatus, WatchdogEventType, WatchdogStore } from "../../index.js";
import { findLive } from "../root.ts";
import type { WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { isWatchdogType, kindOfType } from "./kind.ts";
import type { Agent } from "./roster.ts";

const NAME_CHARS = 80;

interface Note {
  at: number;
  type: WatchdogEventType;
  summary: string;
}

export class Chronicle {
  readonly #store: WatchdogStore;
  readonly #session: WatchedSession;
  readonly #now: () => number;
  /** Target handles by session id. */
  readonly #handles = new Map<string, number>();
  readonly #waiting = new Map<Agent, Note[]>();

  readonly #backend: string | undefined;

  /** `session` started the agents; `backend` is the package by which it did. */
  constructor(store: WatchdogStore, session: WatchedSession, now: () => number, backend?: string) {
    this.#store = store;
    this.#session = session;
    this.#now = now;
    this.#backend = backend;
  }

  note(agent: Agent, type: WatchdogEventType, summary: string): void {
    const note = { at: this.#now(), type, summary: oneLine(summary) };
    const handle = this.handleOf(agent);
    if (handle !== undefined) this.#store.note(handle, note.at, note.type, note.summary);
    else if (!agent.ended) this.#waiting.set(agent, [...(this.#waiting.get(agent) ?? []), note]);
  }

  /** The agent's session is known now, or is running again. */
  open(agent: Agent, sessionId: string): void {
    const info = this.#info(agent, findLive(sessionId) !== undefined);
    this.#entitle(agent, sessionId, this.#store.open(sessionId, this.#now(), info, this.#session.config));
  }

  /** A session that has a target already turned out to be this agent's: it goes on as it is. */
  adopt(agent: Agent, sessionId: string): void {
    const handle = this.#handles.get(sessionId);
    if (handle === undefined) {
      this.open(agent, sessionId);
      return;
    }
    this.#store.update(handle, this.#info(agent, true));
    this.#entitle(agent, sessionId, handle);
  }

  #entitle(agent: Agent, sessionId: string, handle: number): void {
    this.#handles.set(sessionId, handle);
    if (agent.link === "exact") this.#store.alias(handle, agent.agentId);
    for (const note of this.#waiting.get(agent) ?? []) this.#store.note(handle, note.at, note.type, note.summary);
    this.#waiting.delete(agent);
  }

  /** The link is not what it was. */
  relink(agent: Agent): void {
    const handle = this.handleOf(agent);
    if (handle !== undefined) this.#store.update(handle, { link: agent.link });
  }

  /** A child session that no agent could be told for. */
  openUnlinked(sessionId: string): void {
    const info: TargetInfo = { ...this.#family(), name: "sub-agent", kind: "unknown", status: "running", link: "none" };
    this.#handles.set(sessionId, this.#store.open(sessionId, this.#now(), info, this.#session.config));
  }

  end(agent: Agent, status: TargetStatus): void {
    this.#waiting.delete(agent);
    if (agent.sessionId !== undefined) this.endSession(agent.sessionId, status);
  }

  endSession(sessionId: string, status: TargetStatus, summary?: string): void {
    const handle = this.#handles.get(sessionId);
    if (handle === undefined) return;
    const at = this.#now();
    if (summary !== undefined) this.#store.note(handle, at, "subagent_completed", summary);
    this.#store.end(handle, at, status);
    this.#handles.delete(sessionId);
  }

  /** The agent's target, as long as it runs. */
  handleOf(agent: Agent): number | undefined {
    return agent.sessionId === undefined ? undefined : this.#handles.get(agent.sessionId);
  }

  #family(): TargetInfo {
    const backend = this.#backend === undefined ? {} : { backend: this.#backend };
    return { rootId: this.#session.rootId, parentId: this.#session.id, ...backend };
  }

  /** `known`: the target is there already. */
  #info(agent: Agent, known: boolean): TargetInfo {
    const agentType = oneLine(agent.type, NAME_CHARS);
    // What the session's own tools say goes before a type that says nothing of it.
    const kind: Pick<TargetInfo, "kind"> = isWatchdogType(agent.type) || !known ? { kind: kindOfType(agent.type) } : {};
    return {
      ...this.#family(),
      name: oneLine(agent.description, NAME_CHARS) || agentType || "sub-agent",
      ...kind,
      status: "running",
      agentType,
      link: agent.link,
    };
  }
}
