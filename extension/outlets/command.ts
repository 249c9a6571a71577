// A program of the user that is run for each finding, with the finding as JSON on its standard input. One runs at a time;
// meanwhile only the latest state of each matter waits. Never through a shell, never for longer than the limit.

import { type ChildProcess, spawn } from "node:child_process";
import { homedir } from "node:os";
import { delimiter, isAbsolute } from "node:path";
import { type Fail, failOnce, type Outlet, type Report, reasonOf, released } from "./report.ts";

const LIMIT_MS = 5000;
/** Matters that wait while the command runs. */
const MAX_WAITING = 32;

/** What the command sees of the environment: enough to find programs and the desktop, no keys or tokens. */
export const ENVIRONMENT: readonly string[] = [
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LC_MESSAGES",
  "TERM",
  "TZ",
  "TMPDIR",
  // Desktop notifications.
  "DISPLAY",
  "WAYLAND_DISPLAY",
  "XAUTHORITY",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  // Windows starts nothing without them.
  "SystemRoot",
  "PATHEXT",
  "TEMP",
  "USERPROFILE",
];

export interface CommandOutlet {
  outlet: Outlet;
  /** Resolves when nothing runs or waits any more. */
  idle(): Promise<void>;
  /** Forgets what waits and ends what runs. */
  close(): void;
}

export interface CommandOptions {
  /** Program and arguments. */
  command: readonly string[];
  fail: Fail;
  limitMs?: number;
  env?: NodeJS.ProcessEnv;
}

export function commandOutlet({
  command,
  limitMs = LIMIT_MS,
  env = process.env,
  ...options
}: CommandOptions): CommandOutlet {
  const fail = failOnce(options.fail);
  const waiting = new Map<string, Report>();
  const idlers: (() => void)[] = [];
  let running: ChildProcess | undefined;
  let closed = false;
  const onExit = (): void => end(running);

  function next(): void {
    const [first] = waiting;
    if (running !== undefined) return;
    if (first === undefined || closed) {
      for (const resolve of idlers.splice(0)) resolve();
      return;
    }
    waiting.delete(first[0]);
    run(first[1]);
  }

  function run(report: Report): void {
    const [program = "", ...args] = command;
    let child: ChildProcess;
    try {
      child = spawn(program, args, {
        cwd: homedir(),
        env: cleaned(env),
        // A group of its own, so that what the command starts can be ended with it.
        detached: process.platform !== "win32",
        // Nothing that it prints is read, so no flood of it can fill a pipe or memory.
        stdio: ["pipe", "ignore", "ignore"],
        windowsHide: true,
      });
    } catch (error) {
      failed(reasonOf(error));
      queueMicrotask(next);
      return;
    }
    running = child;
    process.once("exit", onExit);
    const timer = setTimeout(() => {
      failed(`it ran for more than ${limitMs / 1000} s and was ended`);
      end(child);
    }, limitMs);
    const done = (trouble: string | undefined): void => {
      if (running !== child) return;
      running = undefined;
      clearTimeout(timer);
      process.off("exit", onExit);
      // What it left in its group would add up, one more with each finding.
      end(child);
      if (trouble !== undefined && !closed) failed(trouble);
      next();
    };
    child.once("error", (error) => done(reasonOf(error)));
    child.once("exit", (code, signal) =>
      done(code === 0 ? undefined : signal ? `ended by ${signal}` : `exit code ${code}`),
    );
    // It may end without having read anything.
    child.stdin?.on("error", () => {});
    child.stdin?.end(`${JSON.stringify(report)}\n`);
    // Pi's end does not wait for it.
    timer.unref();
    child.unref();
  }

  const failed = (reason: string): void => fail(`notifyCommand failed: ${reason}. Later failures are not reported.`);

  return {
    outlet(report) {
      try {
        if (closed || command.length === 0) return;
        const latest = released(report);
        waiting.delete(latest.matter);
        waiting.set(latest.matter, latest);
        if (waiting.size > MAX_WAITING) waiting.delete(leastOf(waiting));
        next();
      } catch (error) {
        failed(reasonOf(error));
      }
    },
    idle: () =>
      running === undefined && waiting.size === 0 ? Promise.resolve() : new Promise((resolve) => idlers.push(resolve)),
    close() {
      closed = true;
      waiting.clear();
      end(running);
    },
  };
}

const RANK = { info: 0, warning: 1, critical: 2 };

/** The matter to leave out: the mildest, and of these the oldest. */
function leastOf(waiting: ReadonlyMap<string, Report>): string {
  const rank = ({ state, severity }: Report): number => (state === "over" ? -1 : (RANK[severity] ?? 0));
  return [...waiting].reduce((least, one) => (rank(one[1]) < rank(least[1]) ? one : least))[0];
}

function end(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return;
  try {
    if (process.platform === "win32") child.kill("SIGKILL");
    else process.kill(-child.pid, "SIGKILL");
  } catch {
    // The group is empty.
  }
}

export function cleaned(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept: NodeJS.ProcessEnv = {};
  for (const name of ENVIRONMENT) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  // A relative entry would name another folder in another working directory.
  if (kept.PATH !== undefined) kept.PATH = kept.PATH.split(delimiter).filter(isAbsolute).join(delimiter);
  return kept;
}
