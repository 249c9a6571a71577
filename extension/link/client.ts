// The link of a child process: connects to the main session above, proves that it belongs there, reports, and carries
// out what it is asked for its own sessions. Never keeps the process alive, never throws, and gives up when nobody is
// left: then the process goes on by itself.

import { connect, type Socket } from "node:net";
import type { ConfigLayer, Notice, WatchdogConfig } from "../../index.js";
import { inheritLayers } from "../overrides.ts";
import { findLive, findMain, liveSessions, publishMain } from "../root.ts";
import type { ChildLink, MainSession, Native } from "../runtime.ts";
import type { Delivery } from "../subagents/backend.ts";
import { type Address, forgetParent, nameParent } from "./address.ts";
import { fieldsOf, note } from "./check.ts";
import { isNonce, proof, randomId, sameProof, VERSION } from "./handshake.ts";
import {
  BEAT_MS,
  FLUSH_MS,
  GIVE_UP_MS,
  GIVE_UP_ON_BUSY_MS,
  GIVE_UP_ON_NOTHING_MS,
  MAX_LINE,
  MAX_MESSAGE,
  MAX_QUEUED_NOTICES,
  MAX_RETRY_MS,
  MAX_UNREAD,
  PULL_MS,
  REPORT_MS,
  RETRY_MS,
  WELCOME_MS,
} from "./limits.ts";
import { LINK } from "./owners.ts";
import { isAlive, isTrusted } from "./place.ts";
import { Reported, type ReportedSession } from "./reported.ts";
import { encode, type Frame, LineReader, parseFrame } from "./wire.ts";

interface PendingSteer {
  r: number;
  sessionId: string;
  text: string;
}

const MAX_PENDING = 16;

export class LinkClient {
  readonly #native: Native;
  readonly #address: Address;
  readonly #parentId: string;
  readonly #run = randomId();
  readonly #sessions = new Map<string, Reported>();
  readonly #main: MainSession;
  readonly #retractMain: () => void;
  readonly #timer: NodeJS.Timeout;
  #config: WatchdogConfig;
  #layers = "";
  /** What models here tried to change, until the main session can be told. */
  #tried: (Frame & { s: string })[] = [];
  #socket: Socket | undefined;
  #nonce = "";
  #welcome = false;
  #patience = GIVE_UP_MS;
  #blocked = false;
  #retry = RETRY_MS;
  #retryTimer: NodeJS.Timeout | undefined;
  #deadline: NodeJS.Timeout | undefined;
  #aloneSince = Date.now();
  #wroteAt = 0;
  #reportedAt = 0;
  #notices: { n: number; notice: Notice; words: string | undefined; sent: boolean }[] = [];
  #noticed = 0;
  #steers: PendingSteer[] = [];
  /** It was asked to end. */
  #stopped = false;
  #over = false;

  constructor(native: Native, address: Address, parentId: string) {
    this.#native = native;
    this.#address = address;
    this.#parentId = parentId;
    this.#config = native.defaultConfig();
    this.#main = this.#proxy();
    this.#retractMain = publishMain(this.#main);
    this.#timer = setInterval(() => this.#guard(() => this.#tick()), PULL_MS).unref();
    this.#connect();
  }

  /** The main session is out of reach for good, or nothing is left to report. */
  get over(): boolean {
    return this.#over;
  }

  add(session: ReportedSession): void {
    const known = this.#sessions.get(session.id);
    if (known !== undefined) {
      known.session = session;
      return;
    }
    if (this.#sessions.size === 0) nameParent(session.id);
    const reported = new Reported(this.#native, session);
    this.#sessions.set(session.id, reported);
    if (this.#welcome) this.#send(reported.open());
  }

  /**
   * `status`: absent when the session goes on in another instance of the extension. Resolves when the last of it has been
   * taken, or there is no more time.
   */
  async remove(sessionId: string, status: string | undefined): Promise<void> {
    const reported = this.#sessions.get(sessionId);
    if (status === undefined || reported === undefined) return;
    reported.leaving = true;
    const end = Date.now() + FLUSH_MS;
    this.#guard(() => this.#report());
    while (!this.#over && this.#owes(reported) && Date.now() < end) await turn();
    this.#guard(() => {
      if (this.#sessions.get(sessionId) !== reported) return;
      const [first] = this.#sessions.keys();
      this.#end(sessionId, this.#stopped ? "stopped" : status);
      // What the first session started within the process does not outlive it, and mostly ends without a word.
      if (sessionId === first)
        for (const [id, other] of [...this.#sessions]) this.#end(id, other.working() ? "stopped" : "completed");
      if (this.#sessions.size > 0) return;
      this.#send({ t: "bye" });
      this.#finish();
    });
  }

  #end(sessionId: string, status: string): void {
    this.#send({ t: "end", s: sessionId, status });
    this.#sessions.delete(sessionId);
  }

  /** Whether something of the session is not known to have arrived. One that will not be taken is owed nothing. */
  #owes({ session, outbox, refused }: Reported): boolean {
    if (refused || (this.#socket === undefined && this.#aloneSince + GIVE_UP_MS < Date.now())) return false;
    return !this.#welcome || outbox.length > 0 || this.#notices.some(({ notice }) => notice.targetId === session.id);
  }

  lifecycle(sessionId: string, at: number, event: string, fields: Record<string, unknown> | undefined): void {
    this.#guard(() => {
      this.#sessions.get(sessionId)?.lifecycle(at, event, fields);
      if (event !== "steer") return;
      const text = String(fields?.text ?? "");
      const taken = this.#steers.find((steer) => steer.sessionId === sessionId && text.includes(steer.text));
      if (taken === undefined) return;
      this.#steers = this.#steers.filter((steer) => steer !== taken);
      this.#send({ t: "did", r: taken.r, outcome: "delivered" });
    });
  }

  /** The main session as the alerts and tools of this process know it. */
  #proxy(): MainSession {
    const client = this;
    return {
      id: this.#address.rootId,
      attended: false,
      get config() {
        return client.#config;
      },
      // Time, money and conflicts of the tree are the main session's own business: it sees all of it.
      tend: () => {},
      deliver(notice, words) {
        client.#guard(() => client.#notice(notice, words));
        return true;
      },
      steer: async (sessionId, message) => client.#steerOwn(sessionId, message),
      stop: async () => ({ outcome: "refused", reason: "a child process stops nobody" }),
      child: (sessionId) => client.#child(sessionId),
      attempted(sessionId, what, done) {
        client.#tried = [...client.#tried, { t: "tried", s: sessionId, what, done }].slice(-MAX_PENDING);
        client.#guard(() => client.#report());
      },
    };
  }

  /** The first session of the process is the child; what starts beside it is a child of that. */
  #child(sessionId: string): ChildLink {
    const [top] = this.#sessions.keys();
    const nested = top !== undefined && top !== sessionId && findLive(top) !== undefined;
    if (nested) return { link: "none", parentId: top, backend: LINK };
    return { link: "exact", parentId: this.#parentId, backend: LINK };
  }

  #steerOwn(sessionId: string, message: string): Delivery {
    const live = this.#sessions.has(sessionId) ? findLive(sessionId) : undefined;
    if (live === undefined) return { outcome: "refused", reason: "a child process steers its own sessions only" };
    return live.steer(message)
      ? { outcome: "queued" }
      : { outcome: "refused", reason: "the session is not running any more" };
  }

  #notice(notice: Notice, words: string | undefined): void {
    if (this.#over || !this.#sessions.has(notice.targetId)) return;
    this.#noticed += 1;
    this.#notices.push({ n: this.#noticed, notice, words: note(words), sent: false });
    if (this.#notices.length > MAX_QUEUED_NOTICES) this.#notices.shift();
    this.#report();
  }

  #tick(): void {
    for (const reported of this.#sessions.values()) reported.pull();
    const now = Date.now();
    // Also at once when the clock was set back.
    if (Math.abs(now - this.#reportedAt) < REPORT_MS) return;
    this.#reportedAt = now;
    this.#report();
  }

  #report(): void {
    if (!this.#welcome || this.#blocked) {
      // The ring of the store is short; what is in it must not be lost because nobody listens at the moment.
      for (const reported of this.#sessions.values()) reported.pull();
      return;
    }
    for (const reported of this.#sessions.values()) {
      reported.pull();
      if (!reported.opened) continue;
      for (let e = reported.outbox.next(); e !== ""; e = reported.outbox.next()) {
        // The events are JSON already.
        if (!this.#write(`{"t":"events","s":${JSON.stringify(reported.session.id)},"e":${e}}\n`)) return;
      }
      const state = reported.state();
      if (state !== undefined && !this.#send(state)) return;
    }
    for (const waiting of this.#notices) {
      const { n, notice, words, sent } = waiting;
      if (sent || this.#sessions.get(notice.targetId)?.opened !== true) continue;
      waiting.sent = true;
      if (!this.#send({ t: "notice", s: notice.targetId, n, notice, note: words })) return;
    }
    for (const tried of [...this.#tried]) {
      if (this.#sessions.get(tried.s)?.opened !== true) continue;
      this.#tried = this.#tried.filter((other) => other !== tried);
      if (!this.#send(tried)) return;
    }
    for (const [id, reported] of [...this.#sessions]) {
      const ended = reported.opened && !reported.leaving ? reported.ended() : undefined;
      if (ended !== undefined) this.#end(id, ended);
    }
    if (Date.now() - this.#wroteAt >= BEAT_MS) this.#send({ t: "beat" });
  }

  #send(frame: Frame): boolean {
    return this.#write(encode(frame));
  }

  /** False when nothing more should be written for now. */
  #write(line: string): boolean {
    const socket = this.#socket;
    if (socket === undefined || !socket.writable) return false;
    this.#wroteAt = Date.now();
    this.#blocked = !socket.write(line);
    if (socket.writableLength > MAX_UNREAD) socket.destroy();
    return !this.#blocked;
  }

  #connect(): void {
    this.#guard(() => {
      if (this.#over) return;
      const { path, pid } = this.#address;
      if (!isAlive(pid)) {
        this.#giveUp();
        return;
      }
      this.#patience = GIVE_UP_MS;
      if (!isTrusted(path)) {
        this.#patience = GIVE_UP_ON_NOTHING_MS;
        this.#later();
        return;
      }
      const socket = connect({ path });
      socket.unref();
      this.#socket = socket;
      this.#nonce = randomId();
      const reader = new LineReader(MAX_LINE);
      const drop = (): void => this.#guard(() => this.#dropped(socket));
      socket.on("error", drop);
      socket.on("close", drop);
      socket.on("connect", () =>
        this.#guard(() => {
          this.#patience = GIVE_UP_ON_BUSY_MS;
          this.#send({ t: "hello", v: VERSION, n: this.#nonce, run: this.#run, pid: process.pid });
        }),
      );
      socket.on("drain", () =>
        this.#guard(() => {
          this.#blocked = false;
          this.#report();
        }),
      );
      socket.on("data", (chunk: Buffer) =>
        this.#guard(() => {
          if (!reader.feed(chunk, (line) => this.#line(socket, line))) socket.destroy();
        }),
      );
      this.#deadline = setTimeout(() => socket.destroy(), WELCOME_MS).unref();
    });
  }

  #line(socket: Socket, line: string): boolean {
    const frame = parseFrame(line);
    if (frame === undefined || socket !== this.#socket) return false;
    if (!this.#welcome) return this.#greeting(frame);
    this.#told(frame);
    return true;
  }

  #greeting(frame: Frame): boolean {
    const { token } = this.#address;
    if (frame.t === "challenge") {
      const { n, p } = frame;
      // Somebody else may listen there; what he gets from us is a random number.
      if (!isNonce(n) || !sameProof(p, proof(token, "main", n, this.#nonce, this.#run))) return false;
      this.#send({ t: "proof", p: proof(token, "child", this.#nonce, n, this.#run) });
      return true;
    }
    if (frame.t !== "welcome") return false;
    clearTimeout(this.#deadline);
    this.#welcome = true;
    this.#retry = RETRY_MS;
    this.#mainSaid(frame);
    for (const reported of this.#sessions.values()) {
      reported.restart();
      this.#send(reported.open());
    }
    for (const waiting of this.#notices) waiting.sent = false;
    return true;
  }

  #told(frame: Frame): void {
    const reported = typeof frame.s === "string" ? this.#sessions.get(frame.s) : undefined;
    const q = typeof frame.q === "number" ? frame.q : 0;
    switch (frame.t) {
      case "opened":
        if (reported === undefined) break;
        reported.opened = true;
        reported.outbox.restart(q);
        this.#report();
        break;
      case "denied":
        if (reported === undefined) break;
        if (frame.again === true) this.#askAgain(reported);
        else reported.refused = true;
        break;
      case "ack":
        reported?.outbox.acknowledged(q);
        break;
      case "told":
        this.#notices = this.#notices.filter(({ n }) => n !== frame.n);
        break;
      case "main":
        this.#mainSaid(frame);
        break;
      case "steer":
        this.#steer(frame);
        break;
      case "stop":
        this.#stop(frame);
        break;
      case "bye":
        // After a reload of the main session the same socket is there again.
        if (frame.back !== true) this.#giveUp();
        break;
    }
  }

  #askAgain(reported: Reported): void {
    setTimeout(
      () => this.#guard(() => this.#welcome && !reported.opened && this.#send(reported.open())),
      MAX_RETRY_MS,
    ).unref();
  }

  #mainSaid(frame: Frame): void {
    const { store, resolveConfig } = this.#native;
    const before = this.#config;
    this.#config = resolveConfig([
      { source: "global", name: "the main session", text: JSON.stringify(fieldsOf(frame.config)) },
    ]).config;
    store.pause(this.#address.rootId, frame.paused === true);
    const layers = readLayers(frame.layers);
    const text = JSON.stringify(layers);
    if (text === this.#layers && before.enabled === this.#config.enabled) return;
    this.#layers = text;
    inheritLayers(layers);
    for (const session of liveSessions()) session.refresh();
  }

  #steer({ r, s, text }: Frame): void {
    if (typeof r !== "number" || typeof s !== "string" || typeof text !== "string" || text === "") return;
    const message = text.slice(0, MAX_MESSAGE);
    // Before it is sent: an agent that is between two steps takes it up at once.
    const pending: PendingSteer = { r, sessionId: s, text: message };
    this.#steers = [...this.#steers, pending].slice(-MAX_PENDING);
    const delivery = this.#steerOwn(s, message);
    if (delivery.outcome !== "queued") this.#steers = this.#steers.filter((steer) => steer !== pending);
    if (delivery.outcome === "queued" && !this.#steers.includes(pending)) return;
    this.#send({ t: "did", r, ...delivery });
  }

  /** A process ends as one: a session within it cannot be stopped alone. */
  #stop({ r, s }: Frame): void {
    if (typeof r !== "number" || typeof s !== "string") return;
    const [top] = this.#sessions.keys();
    if (s !== top) {
      const reason = "it is a session within another child's process; only the process as a whole can be stopped";
      this.#send({ t: "did", r, outcome: "refused", reason });
      return;
    }
    this.#stopped = true;
    this.#send({ t: "did", r, outcome: "queued" });
    // As Pi is ended from outside: it closes its sessions and exits.
    setImmediate(() => this.#guard(() => process.kill(process.pid, "SIGTERM")));
  }

  #dropped(socket: Socket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    clearTimeout(this.#deadline);
    if (this.#welcome) this.#aloneSince = Date.now();
    this.#welcome = false;
    this.#blocked = false;
    this.#steers = [];
    for (const reported of this.#sessions.values()) reported.opened = false;
    this.#later();
  }

  #later(): void {
    if (this.#over) return;
    const left = this.#patience - (Date.now() - this.#aloneSince);
    if (left < 0) {
      this.#giveUp();
      return;
    }
    clearTimeout(this.#retryTimer);
    // Spread, or sixty children would come back in the same instant; and not later than it is given up.
    const wait = Math.min(this.#retry * (0.5 + Math.random()), left + 1);
    this.#retryTimer = setTimeout(() => this.#connect(), wait).unref();
    this.#retry = Math.min(MAX_RETRY_MS, this.#retry * 2);
  }

  /** Nobody is there: the sessions of this process have no main session above them any more. */
  #giveUp(): void {
    if (this.#over) return;
    const sessions = [...this.#sessions.values()];
    this.#finish();
    for (const { session } of sessions) this.#guard(() => session.lost());
    // What nobody was told above is told here; an incident must not go by unsaid.
    for (const { notice, words } of this.#notices) this.#guard(() => findMain(notice.targetId)?.deliver(notice, words));
  }

  #finish(): void {
    if (this.#over) return;
    this.#over = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#deadline);
    this.#retractMain();
    forgetParent();
    inheritLayers([]);
    this.#native.store.pause(this.#address.rootId, false);
    this.#sessions.clear();
    this.#socket?.end();
    this.#socket = undefined;
  }

  /** An exception in a timer or a socket would end Pi, and what is wrong with the link is not the session's fault. */
  #guard(work: () => void): void {
    try {
      work();
    } catch {
      this.#socket?.destroy();
    }
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

function readLayers(value: unknown): ConfigLayer[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, 200).flatMap((layer: unknown) => {
    const { source, name, text } = fieldsOf(layer);
    if ((source !== "command" && source !== "model") || typeof name !== "string" || typeof text !== "string") return [];
    return [{ source, name, text }];
  });
}
