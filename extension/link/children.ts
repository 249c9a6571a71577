// The sessions that other processes watch and report: who announced which, what of their reports goes into the store,
// and what becomes of them when they fall silent. A connection can speak only for the sessions that it announced itself.

import type { TargetInfo, TargetStatus, WatchdogStore } from "../../index.js";
import { findLive, findMain, type LiveSession, publishLive } from "../root.ts";
import type { WatchedSession } from "../runtime.ts";
import type { SubagentRecord } from "../subagents/backend.ts";
import { isSessionId } from "./address.ts";
import { Allowance } from "./budget.ts";
import { endStatus, fieldsOf, line, liveStatus, note, readNotice, targetKind } from "./check.ts";
import type { Connection } from "./connection.ts";
import { closeLedger, type Ledger, type Left, ledgerOf } from "./ledger.ts";
import {
  GRACE_MS,
  MAX_ALL_SESSIONS,
  MAX_ENDED,
  MAX_SESSIONS,
  NAME_EVERY_MS,
  NAMES_AT_ONCE,
  RETURN_MS,
  STATE_EVERY_MS,
  STATES_AT_ONCE,
  STIR_EVERY_MS,
} from "./limits.ts";
import { UNNAMED } from "./names.ts";
import { type Claimant, disputed, LINK, type Refusal, recordsOf, refusal } from "./owners.ts";
import { parentOf } from "./parent.ts";
import { type Peer, type Processes, runsOn, samePeer } from "./peer.ts";
import { isAlive } from "./place.ts";
import type { Frame } from "./wire.ts";

const NAME_CHARS = 80;
export interface Child {
  readonly id: string;
  readonly handle: number;
  readonly run: string;
  /** Id of its process as that says itself. */
  readonly pid: number;
  /** Its process, where the system proves it. */
  readonly process: Peer | undefined;
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
  readonly states: Allowance;
  readonly names: Allowance;
  /** Verdict and figures that came too fast. */
  waiting: Record<string, unknown> | undefined;
  readonly live: LiveSession;
  readonly unpublish: () => void;
}

export interface ChildrenHost {
  readonly store: WatchdogStore;
  readonly session: WatchedSession;
  readonly processes: Partial<Processes> | undefined;
  now(): number;
  /** Runs what may throw. */
  run(work: () => void): void;
}

export class Children {
  readonly #host: ChildrenHost;
  readonly #ledger: Ledger;
  readonly #children = new Map<string, Child>();
  /** Processes that were ever here. */
  seen = 0;
  #stirredAt = 0;
  /** Another number of sessions is stuck. */
  #restuck = false;
  #stirring: NodeJS.Timeout | undefined;

  constructor(host: ChildrenHost) {
    this.#host = host;
    this.#ledger = ledgerOf(host.session.id);
    for (const left of this.#ledger.left) this.#welcomeBack(left);
    this.#ledger.left = [];
  }

  /** Notices that were not shown, because there were too many. */
  get muted(): number {
    return this.#ledger.muted;
  }

  /** Whether one more process may report. */
  joins(): boolean {
    return this.#ledger.joins.take(this.#host.now());
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
        this.#stir();
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
      this.#catchUp(child);
      child.connection = undefined;
      child.lostAt = this.#host.now();
      this.#host.store.remoteContact(child.handle, child.lostAt, false);
    }
  }

  /** Ends the targets of processes that did not come back, and takes back what was never theirs. */
  look(): void {
    const now = this.#host.now();
    const records = recordsOf(this.#host);
    for (const child of this.all()) {
      if (child.endedAt !== undefined || this.#expelIfDisputed(child, records)) continue;
      if (child.connection !== undefined) {
        this.#catchUp(child);
        continue;
      }
      if (now - child.lostAt < (this.#mayReturn(child) ? RETURN_MS : GRACE_MS)) continue;
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
    clearTimeout(this.#stirring);
    closeLedger(this.#host.session.id);
  }

  /** The session goes on in a new instance: its children stay what they are, and nobody else can take their place. */
  leave(): void {
    const open = this.all().filter(({ endedAt }) => endedAt === undefined);
    this.#ledger.left = open.map(({ id, handle, run, pid, process, startedAt, name, type, parentId, told }) => {
      return { id, handle, run, pid, process, startedAt, name, type, parentId, told };
    });
    for (const child of this.all()) child.unpublish();
    this.#children.clear();
    clearTimeout(this.#stirring);
  }

  #mayReturn({ process, pid }: Child): boolean {
    if (process !== undefined)
      return runsOn(this.#host.processes, process) || this.#host.processes?.start === undefined;
    return pid > 0 && isAlive(pid);
  }

  /** It was here before a reload. */
  #welcomeBack(left: Left): void {
    const { store, now } = this.#host;
    const target = store.target(left.handle);
    if (target === null || target.endedAt !== undefined || findLive(left.id) !== undefined) return;
    const lostAt = now();
    store.remoteContact(left.handle, lostAt, false);
    this.seen += 1;
    this.#children.set(left.id, this.#child(left, { connection: undefined, lostAt }));
  }

  #child(left: Left, now: Pick<Child, "connection" | "lostAt">): Child {
    const { id, handle, run, pid, process, startedAt, name, type, parentId, told } = left;
    const live: LiveSession = {
      id,
      rootId: this.#host.session.id,
      file: undefined,
      // The backend is the way, and says what became of it.
      steer: () => false,
      // Its process is told by the connection.
      refresh: () => {},
    };
    return {
      ...{ id, handle, run, pid, process, startedAt, name, type, parentId, told },
      status: "running",
      endedAt: undefined,
      ...now,
      states: new Allowance(STATES_AT_ONCE, STATE_EVERY_MS),
      names: new Allowance(NAMES_AT_ONCE, NAME_EVERY_MS),
      waiting: undefined,
      live,
      unpublish: publishLive(live, () => {}),
    };
  }

  #claimant(connection: Pick<Child, "run" | "process"> | Connection): Claimant {
    const { run, process } = connection;
    const reports = (id: string) => {
      const child = this.#children.get(id);
      return child !== undefined && child.endedAt === undefined && child.run === run;
    };
    return { run, process, reports };
  }

  /** A package may only learn whose session it is after somebody else has said that it is his. */
  #expelIfDisputed(child: Child, records: readonly SubagentRecord[]): boolean {
    const refused = disputed(records, child.id, this.#claimant(child));
    if (refused === undefined) return false;
    child.connection?.send({ t: "denied", s: child.id, ...refused });
    this.#host.store.detachRemote(child.handle);
    this.#forget(child);
    return true;
  }

  /** What is due because children report: at once, and then not at every word of theirs. */
  #stir(): void {
    if (this.#stirring !== undefined) return;
    const { now, run } = this.#host;
    const wait = this.#stirredAt + STIR_EVERY_MS - now();
    // Also at once when the clock was set back.
    if (wait <= 0 || wait > STIR_EVERY_MS) {
      this.#tend();
      return;
    }
    this.#stirring = setTimeout(() => {
      this.#stirring = undefined;
      run(() => this.#tend());
    }, wait).unref();
  }

  #tend(): void {
    const { session, now } = this.#host;
    this.#stirredAt = now();
    findMain(session.id)?.tend();
    if (this.#restuck) findLive(session.id)?.refresh();
    this.#restuck = false;
  }

  #of(connection: Connection): Child[] {
    return this.all().filter((child) => child.connection === connection);
  }

  #heard(connection: Connection): true {
    const now = this.#host.now();
    let due = 0;
    for (const child of this.#of(connection)) due |= this.#host.store.remoteContact(child.handle, now, true);
    if (due !== 0) this.#stir();
    return true;
  }

  #open(connection: Connection, id: string, frame: Frame): boolean {
    const refused = this.#refusal(connection, id);
    if (refused !== undefined) {
      connection.send({ t: "denied", s: id, ...refused });
      return true;
    }
    const known = this.#children.get(id);
    if (known !== undefined) this.#forget(known);
    const { store, now } = this.#host;
    const at = now();
    this.seen += 1;
    const { run, pid, process } = connection;
    const name = line(frame.name, NAME_CHARS) || "process";
    const type = line(frame.agentType, NAME_CHARS);
    const parentId = this.#parent(connection, id, frame.parent, known);
    const handle = this.#target(id, at, { name, agentType: type, kind: targetKind(frame.kind), parentId });
    const proven = process === undefined ? {} : { pid: process.pid, pidStart: process.start };
    store.update(handle, { status: liveStatus(frame.status), ...proven });
    const taken = store.attachRemote(handle, run, at);
    const startedAt = known?.startedAt ?? at;
    const told = known?.run === run ? known.told : 0;
    const left = { id, handle, run, pid, process, startedAt, name, type, parentId, told };
    this.#children.set(id, this.#child(left, { connection, lostAt: 0 }));
    connection.send({ t: "opened", s: id, q: taken });
    return true;
  }

  /** Why a session cannot be reported over this connection. */
  #refusal(connection: Connection, id: string): Refusal | undefined {
    const records = recordsOf(this.#host);
    const before = this.#children.get(id);
    if (before !== undefined && before.endedAt === undefined && before.run !== connection.run) {
      if (!this.#expelIfDisputed(before, records)) return { why: "another process reports it", again: true };
    }
    const child = this.#children.get(id);
    if (child?.connection !== undefined && child.connection !== connection)
      return { why: "another connection reports it", again: true };
    // The name of a life is no proof where there is a better one.
    const other = child?.endedAt === undefined && child?.process !== undefined && connection.process !== undefined;
    if (other && !samePeer(child?.process, connection.process))
      return { why: "another process reports it", again: true };
    const refused = refusal(this.#host, records, id, this.#claimant(connection), child);
    if (refused !== undefined) return refused;
    if (child !== undefined && child.endedAt === undefined) return undefined;
    const open = this.all().filter(({ endedAt }) => endedAt === undefined);
    const own = open.filter(({ run, process }) => run === connection.run || samePeer(process, connection.process));
    if (own.length >= MAX_SESSIONS) return { why: "too many sessions of one process", again: false };
    if (open.length >= MAX_ALL_SESSIONS || !this.#ledger.opens.take(this.#host.now()))
      return { why: "too many sessions of processes", again: true };
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

  #parent(connection: Connection, id: string, said: unknown, known: Child | undefined): string {
    // A process that comes back stays where it is; what was above it then may have ended.
    if (known !== undefined && known.endedAt === undefined) return known.parentId;
    const deep = () => this.#ledger.nested.take(this.#host.now());
    const place = { id, said: isSessionId(said) ? said : undefined, run: connection.run, process: connection.process };
    return parentOf({ ...this.#host, children: this.all(), deep }, place);
  }

  #state(child: Child, state: Record<string, unknown>): void {
    child.waiting = undefined;
    if (child.states.take(this.#host.now())) this.#takeState(child, state);
    else child.waiting = state;
  }

  /** Verdict and figures are told as a whole each time: the latest are enough. */
  #catchUp(child: Child): void {
    if (child.waiting !== undefined) this.#takeState(child, child.waiting);
    child.waiting = undefined;
  }

  #takeState(child: Child, state: Record<string, unknown>): void {
    const { store, now } = this.#host;
    const stuck = store.target(child.handle)?.likelyStuck;
    store.importState(child.handle, now(), JSON.stringify(state));
    const target = store.target(child.handle);
    if (target?.likelyStuck !== stuck) this.#restuck = true;
    const said = line(state.name, NAME_CHARS);
    // Whoever knows the process better may have named it since.
    const ours = target?.backend === LINK && target.name === child.name;
    const named = ours && said !== "" && said !== UNNAMED && said !== child.name;
    const name = named && child.names.take(now()) ? said : undefined;
    if (name !== undefined) child.name = name;
    const status = liveStatus(state.status);
    if (name !== undefined || status !== target?.status)
      store.update(child.handle, { status, ...(name === undefined ? {} : { name }) });
    // What it spent may be too much for the tree.
    this.#stir();
  }

  #notice(connection: Connection, child: Child, frame: Frame): void {
    const { store, session, now } = this.#host;
    const number = typeof frame.n === "number" && Number.isSafeInteger(frame.n) ? frame.n : 0;
    connection.send({ t: "told", s: child.id, n: number });
    // Sent again after a reconnect.
    if (number <= child.told) return;
    child.told = number;
    if (store.paused(session.id)) return;
    const target = store.target(child.handle);
    if (!this.#ledger.notice(connection.speaker, target?.backend !== LINK, now())) return;
    const words = note(frame.note);
    const notice = readNotice(frame.notice, child.id, target?.name ?? child.name);
    // Another process must not be able to start a turn here.
    if (notice !== undefined) findMain(session.id)?.deliver(notice, words, { wake: false, author: child.name });
  }

  #end(child: Child, status: TargetStatus): void {
    const { store, now } = this.#host;
    this.#catchUp(child);
    child.endedAt = now();
    child.status = status === "idle" ? "completed" : status;
    const target = store.target(child.handle);
    store.remoteContact(child.handle, child.endedAt, false);
    // A package that knows the session says itself how it ended.
    if (target?.backend === LINK) store.end(child.handle, child.endedAt, status);
    child.connection = undefined;
    child.unpublish();
    const ended = this.all().filter(({ endedAt }) => endedAt !== undefined);
    for (const old of ended.slice(0, -MAX_ENDED)) this.#children.delete(old.id);
  }

  #forget(child: Child): void {
    child.unpublish();
    this.#children.delete(child.id);
  }
}

const KNOWN: ReadonlySet<string> = new Set(["events", "state", "notice", "tried", "end", "did"]);
