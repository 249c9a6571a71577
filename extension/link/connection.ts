// One connection as the main session sees it: a stranger until it has proved that it knows the token, then frame after
// frame at a bounded speed. Whatever is wrong with it ends it; nothing of it throws.

import type { Socket } from "node:net";
import type { Budget } from "./budget.ts";
import { isNonce, isRun, proof, randomId, sameProof, VERSION } from "./handshake.ts";
import { GREETING_MS, LINE_COST, MAX_GREETING, MAX_LINE, MAX_UNREAD } from "./limits.ts";
import type { Peer } from "./peer.ts";
import { encode, type Frame, LineReader, parseFrame } from "./wire.ts";

export interface ConnectionHooks {
  readonly token: string;
  /** Who is at the other end, as the system says. */
  readonly process: Peer | undefined;
  /** Read of this process, and of all. */
  budgets: readonly Budget[];
  /** It belongs here. */
  proved(connection: Connection): void;
  frame(connection: Connection, frame: Frame): void;
  closed(connection: Connection): void;
  /** Runs what may throw. */
  run(work: () => void): void;
}

export class Connection {
  /** Names one life of the process; secret between it and the main session. */
  run = "";
  /** Id of the process as it says itself; believed in nothing but how long it is waited for. */
  pid = 0;
  proved = false;
  /** Who is at the other end, where the system tells. */
  readonly process: Peer | undefined;

  readonly #socket: Socket;
  readonly #hooks: ConnectionHooks;
  readonly #reader = new LineReader(MAX_GREETING);
  readonly #nonce = randomId();
  readonly #late: NodeJS.Timeout;
  #theirs = "";
  #waiting: NodeJS.Timeout | undefined;
  #closed = false;
  /** Lines of the present piece. */
  #lines = 0;

  constructor(socket: Socket, hooks: ConnectionHooks) {
    this.#socket = socket;
    this.#hooks = hooks;
    this.process = hooks.process;
    // After a turn of the loop: what came in time and could not be read because this process was busy is not late.
    this.#late = setTimeout(() => setImmediate(() => this.proved || this.close()), GREETING_MS).unref();
    socket.unref();
    socket.on("error", () => this.close());
    socket.on("close", () => this.close());
    socket.on("data", (chunk: Buffer) => hooks.run(() => this.#read(chunk)));
  }

  send(frame: Frame): boolean {
    if (this.#closed) return false;
    // A child that does not read would fill the memory of this process.
    if (this.#socket.writableLength > MAX_UNREAD) this.close();
    else this.#socket.write(encode(frame));
    return !this.#closed;
  }

  /** Names the process for as long as it lives, over all of its connections. */
  get speaker(): string {
    return this.process === undefined ? this.run : `${this.process.pid} ${this.process.start}`;
  }

  /** Says a last word. */
  end(frame: Frame): void {
    if (this.#closed) return;
    this.#socket.end(encode(frame));
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#late);
    clearTimeout(this.#waiting);
    this.#socket.destroySoon();
    this.#hooks.run(() => this.#hooks.closed(this));
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return;
    this.#lines = 0;
    if (!this.#reader.feed(chunk, (line) => this.#line(line))) {
      this.close();
      return;
    }
    const wait = Math.max(...this.#hooks.budgets.map((budget) => budget.take(chunk.length + LINE_COST * this.#lines)));
    if (wait <= 0) return;
    this.#socket.pause();
    this.#waiting = setTimeout(() => this.#socket.resume(), wait).unref();
  }

  #line(line: string): boolean {
    this.#lines += 1;
    const frame = parseFrame(line);
    if (frame === undefined || this.#closed) return false;
    if (this.proved) {
      this.#hooks.run(() => this.#hooks.frame(this, frame));
      return !this.#closed;
    }
    return this.#theirs === "" ? this.#greeted(frame) : this.#answered(frame);
  }

  #greeted({ t, v, n, run, pid }: Frame): boolean {
    if (t !== "hello" || v !== VERSION || !isNonce(n) || !isRun(run)) return false;
    this.#theirs = n;
    this.run = run;
    this.pid = typeof pid === "number" && Number.isSafeInteger(pid) && pid > 0 ? pid : 0;
    return this.send({ t: "challenge", n: this.#nonce, p: proof(this.#hooks.token, "main", this.#nonce, n, run) });
  }

  #answered({ t, p }: Frame): boolean {
    const expected = proof(this.#hooks.token, "child", this.#theirs, this.#nonce, this.run);
    if (t !== "proof" || !sameProof(p, expected)) return false;
    this.proved = true;
    clearTimeout(this.#late);
    this.#reader.allow(MAX_LINE);
    this.#hooks.proved(this);
    return !this.#closed;
  }
}
