// A peer that speaks the link's protocol byte by byte, well or badly. Written from the protocol, not with the client.

import { createHmac, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { poll } from "../wait.ts";

export type Line = Record<string, unknown>;

export class Peer {
  readonly socket: Socket;
  readonly lines: Line[] = [];
  /** Everything that was written by this side. */
  readonly written: string[] = [];
  closed = false;
  #rest = "";

  private constructor(path: string) {
    this.socket = connect({ path });
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.closed = true;
    });
    this.socket.setEncoding("utf8").on("data", (text: string) => {
      const parts = (this.#rest + text).split("\n");
      this.#rest = parts.pop() ?? "";
      this.lines.push(...parts.map((part) => JSON.parse(part) as Line));
    });
  }

  static async connect(path: string): Promise<Peer> {
    const peer = new Peer(path);
    await once(peer.socket, "connect");
    return peer;
  }

  /** A peer that has proved that it knows the token. */
  static async join(
    address: { path: string; token: string },
    run = randomBytes(16).toString("hex"),
    pid = process.pid,
  ): Promise<Peer> {
    const peer = await Peer.connect(address.path);
    await peer.greet(address.token, run, pid);
    await peer.line("welcome");
    return peer;
  }

  /** `pid`: the process that it says it is. */
  async greet(token: string, run = randomBytes(16).toString("hex"), pid = process.pid): Promise<void> {
    const mine = randomBytes(16).toString("hex");
    this.send({ t: "hello", v: 1, n: mine, run, pid });
    const { n } = await this.line("challenge");
    const p = createHmac("sha256", token).update(`1|child|${mine}|${n}|${run}`).digest("hex");
    this.send({ t: "proof", p });
  }

  send(frame: Line): void {
    this.raw(`${JSON.stringify(frame)}\n`);
  }

  raw(text: string): void {
    this.written.push(text);
    this.socket.write(text);
  }

  /** The first line of a type. */
  line(type: string, fits: (line: Line) => boolean = () => true): Promise<Line> {
    return poll(
      () => this.lines.find((line) => line.t === type && fits(line)),
      () => `a line ${type}; came: ${JSON.stringify(this.lines)}, closed: ${this.closed}`,
    );
  }

  async open(s: string, more: Line = {}): Promise<Line> {
    this.send({ t: "open", s, name: s, kind: "task", status: "running", ...more });
    return poll(
      () => this.lines.find((line) => (line.t === "opened" || line.t === "denied") && line.s === s),
      () => `an answer for ${s}`,
    );
  }

  /** Resolves when all that was sent before has been taken; `s` is a session that it reports. */
  async barrier(s: string): Promise<void> {
    const answers = () => this.lines.filter((line) => line.t === "ack" && line.s === s).length;
    const before = answers();
    this.send({ t: "events", s, e: [] });
    await poll(
      () => (answers() > before ? true : undefined),
      () => `an answer for ${s}`,
    );
  }

  isClosed(): Promise<true> {
    return poll(
      () => (this.closed ? (true as const) : undefined),
      () => "the end of the connection",
    );
  }
}

export const stuck = (summary = "`ls` repeated 3 times") => ({
  kind: "stuck",
  targetId: "somebody else",
  targetName: "somebody else",
  severity: "critical",
  incident: "i1",
  analysis: {
    likelyStuck: true,
    confidence: "medium",
    reasons: [summary],
    evidence: [{ type: "repeated_output", summary, count: 3, firstAt: 1, lastAt: 2 }],
    evidenceKey: "0123456789abcdef",
  },
  cost: { rounds: 2, tokens: 20, usd: 0.1, wallMs: 5 },
  ordinal: 1,
});
