// Starts hostile.ts as a process and speaks through it. How it is started decides what can be proven of it.

import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { adopt, type Scope } from "../cleanup.ts";
import { poll } from "../wait.ts";
import type { Line } from "./peer.ts";

const HOSTILE = fileURLToPath(new URL("hostile.ts", import.meta.url));

export interface StrangerOptions {
  /** `direct`: this process starts it; `shell`: a shell in between; `orphan`: what started it has ended. */
  by?: "direct" | "shell" | "orphan";
  env?: Record<string, string>;
  /** A shell line in whose place it runs. */
  line?: string;
}

export class Stranger {
  readonly process: ChildProcess;
  readonly #lines: { as: string; line: Line }[] = [];
  #connections = 0;
  stderr = "";

  private constructor(scope: Scope, { by = "direct", env = {}, line = "true" }: StrangerOptions) {
    const node = `"${process.execPath}" --no-warnings "${HOSTILE}"`;
    const shell = {
      direct: ["-c", `exec ${node}`],
      shell: ["-c", `${node}; ${line}`],
      // The shell that started it is gone; the one that holds its input for it did not start it.
      orphan: ["-c", `(${node} <&3 &) 3<&0; exec sleep 1000`],
    }[by];
    this.process = spawn("bash", shell, { stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...env } });
    adopt(this.process);
    scope.after(() => {
      this.process.stdin?.end();
      this.process.kill("SIGKILL");
    });
    this.process.stdin?.on("error", () => {});
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    let rest = "";
    this.process.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      this.#lines.push(...parts.map((part) => JSON.parse(part)));
    });
  }

  /** `how.env`: read when it starts, so a main session must be there. */
  static start(scope: Scope, how: StrangerOptions = {}): Stranger {
    return new Stranger(scope, how);
  }

  #say(line: { as: string; do: string; [more: string]: unknown }): void {
    this.process.stdin?.write(`${JSON.stringify({ ...line, below: line.as.startsWith("below") })}\n`);
  }

  /** A new connection; its name. `pid`: the process that it says it is; `where`: of a process that this one starts. */
  async join(run?: string, pid?: number, where: "own" | "below" = "own"): Promise<string> {
    this.#connections += 1;
    const as = `${where}${this.#connections}`;
    this.#say({ do: "join", as, run, pid });
    await this.line(as, "welcome");
    return as;
  }

  /** Its process as it really is. */
  pid(as: string): number {
    return Number(this.#lines.find((one) => one.as === as && one.line.t === "joined")?.line.pid);
  }

  send(as: string, ...frames: Line[]): void {
    this.#say({ do: "send", as, frames });
  }

  drop(as: string): Promise<Line> {
    this.#say({ do: "drop", as });
    return this.line(as, "closed");
  }

  line(as: string, type: string, fits: (line: Line) => boolean = () => true): Promise<Line> {
    return poll(
      () => this.#lines.find((one) => one.as === as && one.line.t === type && fits(one.line))?.line,
      () => `a line ${type}; came: ${JSON.stringify(this.#lines).slice(0, 1000)} ${this.stderr}`,
    );
  }

  /** The answer to an announcement. */
  async open(as: string, s: string, more: Line = {}): Promise<Line> {
    const answers = () =>
      this.#lines.filter(
        (one) => one.as === as && (one.line.t === "opened" || one.line.t === "denied") && one.line.s === s,
      );
    const before = answers().length;
    this.send(as, { t: "open", s, name: s, kind: "task", status: "running", ...more });
    return poll(
      () => answers()[before]?.line,
      () => `an answer for ${s} ${this.stderr}`,
    );
  }

  /** Resolves when all that was sent before has been taken. */
  async barrier(as: string): Promise<void> {
    await this.open(as, `barrier-${as}`);
  }
}
