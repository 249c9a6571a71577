// One session of a child process as it is reported: takes news out of the process's own store, in order and once.

import type { Native } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { nameOfTask, UNNAMED } from "./names.ts";
import { Outbox } from "./outbox.ts";
import type { Frame } from "./wire.ts";

export interface ReportedSession {
  readonly id: string;
  readonly handle: number;
  readonly parentId: string | undefined;
  /** The main session cannot be reached any more. */
  lost(): void;
}

const MAX_FIELDS = 4000;
const PULL = 20_000;

export class Reported {
  session: ReportedSession;
  readonly outbox = new Outbox();
  /** The main session takes reports of it over the present connection. */
  opened = false;
  /** It is about to be taken back in order. */
  leaving = false;
  /** It was said that it will never be taken. */
  refused = false;
  readonly #native: Native;
  #seen: number;
  #state = "";
  #asked = false;

  constructor(native: Native, session: ReportedSession) {
    this.#native = native;
    this.session = session;
    // What the ring has dropped by now was never for the link.
    const [first] = native.store.events(session.handle, PULL);
    this.#seen = first === undefined ? 0 : sequence(first.id, session.id) - 1;
  }

  open(): Frame {
    const target = this.#native.store.target(this.session.handle);
    return {
      t: "open",
      s: this.session.id,
      parent: this.session.parentId,
      name: oneLine(target?.name ?? "", 80),
      kind: target?.kind,
      agentType: target?.agentType,
      status: target?.status,
    };
  }

  /** Takes what happened since; what the ring has dropped meanwhile is skipped and so counts as lost. */
  pull(): void {
    const { store } = this.#native;
    const { id, handle } = this.session;
    const since = this.#seen === 0 ? "" : `${id}-${this.#seen}`;
    for (const { id: eventId, targetId: _, ...event } of store.events(handle, PULL, since)) {
      const seq = sequence(eventId, id);
      if (!(seq > this.#seen)) continue;
      this.outbox.skip(seq - this.#seen - 1);
      this.#seen = seq;
      this.outbox.add(event);
      if (event.type === "llm_input") this.#named(event.summary);
    }
  }

  /** A process that was started by a shell line has no name: its first task is one. */
  #named(task: string): void {
    if (this.#asked) return;
    this.#asked = true;
    const { store } = this.#native;
    const name = nameOfTask(task);
    if (name !== "" && store.target(this.session.handle)?.name === UNNAMED) store.update(this.session.handle, { name });
  }

  lifecycle(at: number, life: string, fields: Record<string, unknown> | undefined): void {
    this.pull();
    const text = fields === undefined ? "" : JSON.stringify(fields);
    this.outbox.add({ at, life, ...(text === "" || text.length > MAX_FIELDS ? {} : { fields }) });
  }

  /** The verdict and the figures, when they are not what was told last. */
  state(): Frame | undefined {
    const { store } = this.#native;
    const target = store.target(this.session.handle);
    if (target === null) return undefined;
    const d = {
      name: oneLine(target.name, 80),
      status: target.status,
      lastActiveAt: target.lastActiveAt,
      toolCallCount: target.toolCallCount,
      patchCount: target.patchCount,
      repeatedCommandCount: target.repeatedCommandCount,
      repeatedMessageCount: target.repeatedMessageCount,
      usage: target.usage,
      lastCommand: store.lastCommand(this.session.handle).slice(0, 2000),
      analysis: store.analysis(this.session.handle),
    };
    const text = JSON.stringify(d);
    if (text === this.#state) return undefined;
    this.#state = text;
    return { t: "state", s: this.session.id, d };
  }

  working(): boolean {
    return this.#native.store.target(this.session.handle)?.status === "running";
  }

  /** How it ended, when it did without telling the link: a disposed session says nothing. */
  ended(): string | undefined {
    const target = this.#native.store.target(this.session.handle);
    return target?.endedAt === undefined ? undefined : target.status;
  }

  /** A new connection knows nothing yet. */
  restart(): void {
    this.opened = false;
    this.#state = "";
  }
}

const sequence = (eventId: string, sessionId: string): number => Number(eventId.slice(sessionId.length + 1));
