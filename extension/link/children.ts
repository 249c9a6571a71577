// The sessions that other processes watch and report: who announced which, what of their reports goes into the store,
// and what becomes of them when they fall silent. A connection can speak only for the sessions that it announced itself.

import type { TargetInfo, TargetStatus, WatchdogStore } from "../../index.js";
import { findLive, findMain, type LiveSession, publishLive } from "../root.ts";
import type { WatchedSession } from "../runtime.ts";
import { isSessionId } from "./address.ts";
import { Allowance } from "./budget.ts";
import { endStatus, fieldsOf, line, liveStatus, note, readNotice, targetKind } from "./check.ts";
import type { Connection } from "./connection.ts";
import {
  GRACE_MS,
  MAX_ENDED,
  MAX_SESSIONS,
  MAX_SESSIONS_EVER,
  NOTICE_EVERY_MS,
  NOTICES_AT_ONCE,
  RETURN_MS,
} from "./limits.ts";
import { isAlive } from "./place.ts";
import type { Frame } from "./wire.ts";

/** Named as the package that such children came from. */
export const LINK = "process (link)";

const NAME_CHARS = 80;
/** What a session without a name says of itself; another part may know better. */
const UNNAMED = "sub-agent";

export interface Child {
  readonly id: string;
  readonly handle: number;
  readonly run: string;
  readonly pid: number;
  readonly startedAt: number;
  name: string;
  type: string;
  status: Exclude<TargetStatus, "idle">;
  endedAt: number | undefined;
  parentId: string;
  /** Absent while the process is out of contact. */
  connection: Connection | undefined;
  /** When the connection was lost. */
  lostAt: number;
  /** Number of the latest notice that was taken. */
  told: number;
  readonly live: LiveSession;
  readonly unpublish: () => void;
}

export interface ChildrenHost {
  readonly store: WatchdogStore;
  readonly session: WatchedSession;
  now(): number;
}

interface Speaker {
  /** Sessions that it speaks for now. */
  readonly children: Set<Child>;
  sessions: number;
  readonly notices: Allowance;
}

export class Children {
  readonly #host: ChildrenHost;
  readonly #children = new Map<string, Child>();
  readonly #speakers = new WeakMap<Connection, Speaker>();
  /** Notices that were not shown, because a process sent too many. */
  muted = 0;
  /** Processes that were ever here. */
  seen = 0;

  constructor(host: ChildrenHost) {
    this.#host = host;
  }

  all(): Child[] {
    return [...this.#children.values()];
  }

  get(sessionId: string): Child | undefined {
    return this.#children.get(sessionId);
  }

  /** Takes one frame of a proved connection. False when it was no frame of ours. */
  take(connection: Connection, frame: Frame): boolean {
    const { s } = frame;
    if (frame.t === "beat" || frame.t === "bye") return this.#heard(connection);
    if (!isSessionId(s)) return false;
    if (frame.t === "open") return this.#open(connection, s, frame);
    const child = this.#children.get(s);
    // Also of one that was refused or has ended: it may not have heard of it yet.
    if (child === undefined || child.connection !== connection) return KNOWN.has(frame.t);
    const { store, now } = this.#host;
    switch (frame.t) {
      case "events":
        connection.send({ t: "ack", s, q: store.importEvents(child.handle, now(), JSON.stringify(frame.e ?? [])) });
        findMain(this.#host.session.id)?.tend();
        return this.#heard(connection);
      case "state":
        this.#state(child, fieldsOf(frame.d));
        return this.#heard(connection);
      case "notice":
        this.#notice(connection, child, frame);
        return this.#heard(connection);
      case "tried":
        if (typeof frame.what === "string")
          findMain(this.#host.session.id)?.attempted?.(s, frame.what, frame.done === true);
        return this.#heard(connection);
      case "end":
        this.#end(child, endStatus(frame.status));
        return true;
      default:
        return false;
    }
  }

  /** The connection is gone; its sessions may come back over another one. */
  lost(connection: Connection): void {
    for (const child of this.#of(connection)) {
      this.#speaker(connection).children.delete(child);
      child.connection = undefined;
      child.lostAt = this.#host.now();
      this.#host.store.remoteContact(child.handle, child.lostAt, false);
    }
  }

  /** Ends the targets of processes that did not come back. */
  look(): void {
    const now = this.#host.now();
    for (const child of this.all()) {
      if (child.endedAt !== undefined || child.connection !== undefined) continue;
      const patience = child.pid > 0 && isAlive(child.pid) ? RETURN_MS : GRACE_MS;
      if (now - child.lostAt < patience) continue;
      const summary = "its process is gone and did not say how the session ended";
      this.#host.store.note(child.handle, now, "subagent_failed", summary);
      this.#end(child, "error");
    }
  }

  close(): void {
    for (const child of this.all()) {
      if (child.endedAt === undefined) this.#end(child, "stopped");
      child.unpublish();
    }
    this.#children.clear();
  }

  /** The session goes on in a new instance: its children stay what they are. */
  leave(): void {
    for (const child of this.all()) child.unpublish();
    this.#children.clear();
  }

  #of(connection: Connection): Child[] {
    return [...this.#speaker(connection).children];
  }

  #heard(connection: Connection): true {
    const now = this.#host.now();
    for (const child of this.#of(connection)) this.#host.store.remoteContact(child.handle, now, true);
    return true;
  }

  #open(connection: Connection, id: string, frame: Frame): boolean {
    const refusal = this.#refusal(connection, id);
    if (refusal !== undefined) {
      connection.send({ t: "denied", s: id, ...refusal });
      return true;
    }
    const known = this.#children.get(id);
    if (known !== undefined) this.#forget(known);
    const { store, session, now } = this.#host;
    const at = now();
    const speaker = this.#speaker(connection);
    speaker.sessions += 1;
    this.seen += 1;
    const name = line(frame.name, NAME_CHARS) || "process";
    const type = line(frame.agentType, NAME_CHARS);
    const parentId = this.#parent(id, frame.parent);
    const handle = this.#target(id, at, { name, agentType: type, kind: targetKind(frame.kind), parentId });
    const { pid } = connection;
    store.update(handle, { status: liveStatus(frame.status), ...(pid > 0 ? { pid } : {}) });
    const taken = store.attachRemote(handle, connection.run, at);
    const live: LiveSession = {
      id,
      rootId: session.id,
      file: undefined,
      // The backend is the way, and says what became of it.
      steer: () => false,
      // Its process is told by the connection.
      refresh: () => {},
    };
    const child: Child = {
      id,
      handle,
      run: connection.run,
      pid: connection.pid,
      startedAt: known?.startedAt ?? at,
      name,
      type,
      status: "running",
      endedAt: undefined,
      parentId,
      connection,
      lostAt: 0,
      told: known?.run === connection.run ? known.told : 0,
      live,
      unpublish: publishLive(live, () => {}),
    };
    this.#children.set(id, child);
    speaker.children.add(child);
    connection.send({ t: "opened", s: id, q: taken });
    return true;
  }

  /** Why a session cannot be reported over this connection; `again`: it may be tried later. */
  #refusal(connection: Connection, id: string): { why: string; again: boolean } | undefined {
    const { session } = this.#host;
    const child = this.#children.get(id);
    if (id === session.id || findMain(id) !== undefined) return { why: "it is a main session", again: false };
    const live = findLive(id);
    if (live !== undefined && live !== child?.live) return { why: "it runs in another process", again: false };
    if (child !== undefined && child.endedAt === undefined && child.run !== connection.run)
      return { why: "another process reports it", again: true };
    if (child?.connection !== undefined && child.connection !== connection)
      return { why: "another connection reports it", again: true };
    const other = this.#host.store.resolve(id);
    const target = other.ok && other.id === id ? this.#host.store.target(other.handle) : null;
    if (target !== null && target.rootId !== session.id && target.endedAt === undefined)
      return { why: "it belongs to another main session", again: false };
    const alive = this.#of(connection).length;
    if (alive >= MAX_SESSIONS || this.#speaker(connection).sessions >= MAX_SESSIONS_EVER)
      return { why: "too many sessions of one process", again: false };
    return undefined;
  }

  /** What a package knows of the session is worth more than what the session says of itself. */
  #target(id: string, at: number, said: TargetInfo): number {
    const { store, session } = this.#host;
    const found = store.resolve(id, session.id);
    const before = found.ok && found.id === id ? store.target(found.handle) : null;
    const family: TargetInfo = { rootId: session.id, link: "exact", visibility: "full" };
    if (found.ok && before !== null && before.endedAt === undefined) {
      store.update(found.handle, family);
      return found.handle;
    }
    const own: TargetInfo = before === null || before.backend === LINK ? { ...said, backend: LINK } : {};
    return store.open(id, at, { ...own, ...family }, session.config);
  }

  #parent(id: string, said: unknown): string {
    const { store, session } = this.#host;
    if (!isSessionId(said) || said === id) return session.id;
    const found = store.resolve(said, session.id);
    return found.ok && found.id === said ? said : session.id;
  }

  #state(child: Child, state: Record<string, unknown>): void {
    const { store, session, now } = this.#host;
    const stuck = store.target(child.handle)?.likelyStuck;
    store.importState(child.handle, now(), JSON.stringify(state));
    const target = store.target(child.handle);
    const name = line(state.name, NAME_CHARS);
    const own = target?.backend === LINK && name !== "" && name !== UNNAMED;
    if (own) child.name = name;
    store.update(child.handle, { status: liveStatus(state.status), ...(own ? { name } : {}) });
    // What it spent may be too much for the tree; what shows how many are stuck shows another number.
    findMain(session.id)?.tend();
    if (target?.likelyStuck !== stuck) findLive(session.id)?.refresh();
  }

  #notice(connection: Connection, child: Child, frame: Frame): void {
    const { store, session, now } = this.#host;
    const number = typeof frame.n === "number" && Number.isSafeInteger(frame.n) ? frame.n : 0;
    connection.send({ t: "told", s: child.id, n: number });
    // Sent again after a reconnect.
    if (number <= child.told) return;
    child.told = number;
    if (store.paused(session.id)) return;
    if (!this.#speaker(connection).notices.take(now())) {
      this.muted += 1;
      return;
    }
    const words = note(frame.note);
    const target = store.target(child.handle);
    const notice = readNotice(frame.notice, child.id, target?.name ?? child.name);
    // Another process must not be able to start a turn here.
    if (notice !== undefined) findMain(session.id)?.deliver(notice, words, { wake: false });
  }

  #end(child: Child, status: TargetStatus): void {
    const { store, now } = this.#host;
    child.endedAt = now();
    child.status = status === "idle" ? "completed" : status;
    const target = store.target(child.handle);
    store.remoteContact(child.handle, child.endedAt, false);
    // A package that knows the session says itself how it ended.
    if (target?.backend === LINK) store.end(child.handle, child.endedAt, status);
    if (child.connection !== undefined) this.#speaker(child.connection).children.delete(child);
    child.connection = undefined;
    child.unpublish();
    const ended = this.all().filter(({ endedAt }) => endedAt !== undefined);
    for (const old of ended.slice(0, -MAX_ENDED)) this.#children.delete(old.id);
  }

  #forget(child: Child): void {
    child.unpublish();
    this.#children.delete(child.id);
  }

  #speaker(connection: Connection): Speaker {
    const known = this.#speakers.get(connection);
    if (known !== undefined) return known;
    const speaker = {
      children: new Set<Child>(),
      sessions: 0,
      notices: new Allowance(NOTICES_AT_ONCE, NOTICE_EVERY_MS),
    };
    this.#speakers.set(connection, speaker);
    return speaker;
  }
}

const KNOWN: ReadonlySet<string> = new Set(["events", "state", "notice", "tried", "end", "did"]);
