// Starts child.ts as a process and reads what it says.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { adopt, type Scope } from "../cleanup.ts";
import { poll } from "../wait.ts";

const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));

export class LinkedProcess {
  readonly process: ChildProcess;
  // biome-ignore lint/suspicious/noExplicitAny: lines of several shapes, tests read single fields
  readonly lines: any[] = [];
  readonly exit: Promise<number | null>;
  stderr = "";

  constructor(scope: Scope, id: string, calls: number, everyMs: number, hold = false) {
    const args = [CHILD, id, String(calls), String(everyMs), ...(hold ? ["hold"] : [])];
    this.process = spawn(process.execPath, ["--no-warnings", ...args], { stdio: "pipe", env: { ...process.env } });
    adopt(this.process);
    scope.after(() => this.process.kill("SIGKILL"));
    this.exit = once(this.process, "close").then(([code]) => code as number | null);
    this.process.stdin?.on("error", () => {});
    this.process.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    let rest = "";
    this.process.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      this.lines.push(...parts.map((part) => JSON.parse(part)));
    });
  }

  /** The first line that has a field. */
  says(field: string): Promise<unknown> {
    return poll(
      () => this.lines.find((line) => field in line),
      () => `${field}; said: ${JSON.stringify(this.lines)} ${this.stderr}`,
    );
  }

  /** Lets one that holds come to its end. */
  release(): void {
    this.process.stdin?.end();
  }
}
