// Pi in a real terminal: a tmux server of its own, keys in, screen out.

import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { atExit, type Scope } from "./cleanup.ts";
import type { Api } from "./model-server.ts";
import { type PiHome, piCli } from "./pi-home.ts";
import { poll } from "./wait.ts";

const run = promisify(execFile);

/** For the `skip` option of a test: false where tmux is there, else what is missing. */
export const tmuxMissing: string | false = (() => {
  try {
    execFileSync("tmux", ["-V"], { stdio: "ignore" });
    return false;
  } catch {
    return "tmux is not installed";
  }
})();

export interface TuiOptions {
  api?: Api;
  args?: string[];
  width?: number;
  height?: number;
}

export class PiTui {
  readonly #socket: string;
  readonly #env: NodeJS.ProcessEnv;
  /** The tmux server is no child of this process and would outlive it. */
  readonly #closed: () => void;

  private constructor(home: PiHome) {
    this.#socket = join(home.root, `tmux-${process.hrtime.bigint()}`);
    this.#env = home.env;
    this.#closed = atExit(() => {
      try {
        execFileSync("tmux", ["-S", this.#socket, "kill-server"], { stdio: "ignore" });
      } catch {
        // It has ended before.
      }
    });
  }

  static async start(home: PiHome, scope: Scope, options: TuiOptions = {}): Promise<PiTui> {
    const tui = new PiTui(home);
    const command = [
      process.execPath,
      piCli(),
      ...home.args(options.api ?? "openai-completions"),
      ...(options.args ?? []),
    ];
    scope.after(() => tui.close());
    const size = ["-x", String(options.width ?? 100), "-y", String(options.height ?? 40)];
    // The pane stays after Pi's end, so that a crash can be read; without extended keys Pi shows a warning.
    const setup = ["-f", "/dev/null", "start-server", ";", "set-option", "-g", "remain-on-exit", "on", ";"];
    setup.push("set-option", "-s", "extended-keys", "on", ";");
    await tui.#tmux(...setup, "new-session", "-d", "-s", "pi", ...size, "-c", home.cwd, "--", ...command);
    return tui;
  }

  /** What the terminal shows now, one line a row. */
  async screen(): Promise<string> {
    return (await this.#tmux("capture-pane", "-p", "-t", "pi")).trimEnd();
  }

  /** The same with its colours and attributes as escape sequences. */
  async colours(): Promise<string> {
    return this.#tmux("capture-pane", "-p", "-e", "-t", "pi");
  }

  /** Waits until the screen matches; returns it. */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<string> {
    let last = "";
    return poll(
      async () => {
        last = await this.screen();
        return pattern.test(last) ? last : undefined;
      },
      () => `${pattern} on the screen, which is\n${last}`,
      timeoutMs,
    );
  }

  /** Types text as it is. */
  async type(text: string): Promise<void> {
    await this.#tmux("send-keys", "-t", "pi", "-l", "--", text);
  }

  /** Presses keys by tmux's names: `Enter`, `Escape`, `C-c`, `Tab`, `Down`, … */
  async press(...keys: string[]): Promise<void> {
    await this.#tmux("send-keys", "-t", "pi", ...keys);
  }

  async resize(width: number, height: number): Promise<void> {
    await this.#tmux("resize-window", "-t", "pi", "-x", String(width), "-y", String(height));
  }

  /** The exit code once Pi has ended, else undefined. */
  async exitCode(): Promise<number | undefined> {
    const [dead, status] = (await this.#tmux("display", "-p", "-t", "pi", "#{pane_dead} #{pane_dead_status}")).split(
      " ",
    );
    return dead === "1" ? Number(status) : undefined;
  }

  async close(): Promise<void> {
    await this.#tmux("kill-server").catch(() => {}); // no server any more: nothing to end
    this.#closed();
  }

  async #tmux(...args: string[]): Promise<string> {
    const { stdout } = await run("tmux", ["-S", this.#socket, ...args], { env: this.#env, encoding: "utf8" });
    return stdout;
  }
}
