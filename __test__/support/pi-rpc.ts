// A Pi process in RPC mode: commands, their responses, and the record of everything it said.

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { adopt, type Scope } from "./cleanup.ts";
import type { Api } from "./model-server.ts";
import { type PiHome, piCli } from "./pi-home.ts";
import { deadline } from "./wait.ts";

/** One line that Pi wrote: a response, a session event or an extension UI request. */
// biome-ignore lint/suspicious/noExplicitAny: the records of Pi's protocol have no common shape, tests read single fields
export type PiRecord = { type: string } & Record<string, any>;

export interface RpcOptions {
  api?: Api;
  args?: string[];
}

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export class PiRpc {
  /** Everything Pi wrote to stdout, in order. */
  readonly records: PiRecord[] = [];
  readonly process: ChildProcessWithoutNullStreams;
  readonly exit: Promise<Exit>;
  stderr = "";

  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(record: PiRecord) => void>();
  #ids = 0;

  constructor(home: PiHome, scope: Scope, options: RpcOptions = {}) {
    const args = [piCli(), "--mode", "rpc", ...home.args(options.api ?? "openai-completions"), ...(options.args ?? [])];
    this.process = spawn(process.execPath, args, { cwd: home.cwd, env: home.env, stdio: "pipe" });
    adopt(this.process);
    scope.after(() => this.close());
    this.exit = once(this.process, "close").then(([code, signal]) => {
      this.#tell();
      return { code, signal } as Exit;
    });
    this.process.stdin.on("error", () => {}); // Pi is gone; `exit` and the stderr in the errors tell why.
    this.process.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    readLines(this.process.stdout, (line) => {
      const record = parseRecord(line);
      this.records.push(record);
      for (const listener of this.#listeners) listener(record);
      this.#tell();
    });
  }

  /** Sends a command and returns the `data` of its response; rejects when Pi refuses it. */
  async send(command: { type: string } & Record<string, unknown>): Promise<PiRecord["data"]> {
    const id = `test-${++this.#ids}`;
    this.write({ id, ...command });
    const response = await this.waitFor(
      (record) => record.type === "response" && record.id === id,
      `the response to ${command.type}`,
    );
    if (response.success !== true) throw new Error(`${command.type}: ${response.error}`);
    return response.data;
  }

  /** Writes a record that has no response, such as an `extension_ui_response`. */
  write(record: Record<string, unknown>): void {
    this.process.stdin.write(`${JSON.stringify(record)}\n`);
  }

  /** Sends a prompt and waits until Pi has nothing more to do for it. Returns what Pi wrote meanwhile. */
  async prompt(message: string, timeoutMs?: number): Promise<PiRecord[]> {
    const from = this.records.length;
    const data = await this.send({ type: "prompt", message });
    if (data === undefined ? await this.#started(from) : data.disposition === "started") {
      await this.waitFor((record) => record.type === "agent_settled", "agent_settled", { from, timeoutMs });
    }
    return this.records.slice(from);
  }

  /** Before Pi 1.0 the response to a prompt does not say whether it started a run, only what comes after it. */
  async #started(from: number): Promise<boolean> {
    const { isStreaming } = await this.send({ type: "get_state" });
    return isStreaming || this.records.slice(from).some(({ type }) => type === "agent_start");
  }

  /** Called for every coming record. */
  onRecord(listener: (record: PiRecord) => void): void {
    this.#listeners.add(listener);
  }

  /** The first record, past (since `from`) or coming, that fits. */
  waitFor(
    fits: (record: PiRecord) => boolean,
    what: string,
    { from = 0, timeoutMs }: { from?: number; timeoutMs?: number | undefined } = {},
  ): Promise<PiRecord> {
    const found = new Promise<PiRecord>((resolve, reject) => {
      let seen = from;
      const look = () => {
        for (; seen < this.records.length; seen++) {
          const record = this.records[seen];
          if (record !== undefined && fits(record)) {
            this.#watchers.delete(look);
            resolve(record);
            return;
          }
        }
        if (this.process.exitCode === null && this.process.signalCode === null) return;
        this.#watchers.delete(look);
        reject(new Error(`Pi ended while waiting for ${what}: ${this.#describe()}`));
      };
      this.#watchers.add(look);
      look();
    });
    return deadline(found, () => `${what}; ${this.#describe()}`, timeoutMs);
  }

  /** Names of the slash commands: tells whether an extension was loaded. */
  async commands(): Promise<string[]> {
    const { commands } = await this.send({ type: "get_commands" });
    return commands.map((command: { name: string }) => command.name);
  }

  /** Finished messages since a position. */
  messages(from = 0): PiRecord["message"][] {
    return this.records
      .slice(from)
      .filter((record) => record.type === "message_end")
      .map((record) => record.message);
  }

  /** Custom messages (`customType`) since a position: what extensions put into the session. */
  customMessages(customType: string, from = 0): PiRecord["message"][] {
    return this.messages(from).filter((message) => message.role === "custom" && message.customType === customType);
  }

  /** What extensions asked of the UI (`notify`, `setStatus`, `setWidget`, …) since a position. */
  uiRequests(method: string, from = 0): PiRecord[] {
    return this.records
      .slice(from)
      .filter((record) => record.type === "extension_ui_request" && record.method === method);
  }

  /** Ends Pi as its protocol wants it (end of stdin), by force if it does not. */
  async close(): Promise<Exit> {
    this.process.stdin.end();
    try {
      return await deadline(this.exit, () => "Pi's exit after its stdin was closed", 20_000);
    } catch (error) {
      this.process.kill("SIGKILL");
      await this.exit;
      throw error;
    }
  }

  #tell(): void {
    for (const look of [...this.#watchers]) look();
  }

  #describe(): string {
    const last = this.records.slice(-3).map((record) => JSON.stringify(record).slice(0, 300));
    return `exit code ${this.process.exitCode}, last records:\n${last.join("\n")}\nstderr:\n${this.stderr.slice(-2000)}`;
  }
}

function parseRecord(line: string): PiRecord {
  try {
    return JSON.parse(line) as PiRecord;
  } catch {
    return { type: "not-json", line };
  }
}

/** Lines end at LF only: Pi's records may hold other line separators, which `readline` would split at. */
function readLines(stream: NodeJS.ReadableStream, take: (line: string) => void): void {
  let parts: string[] = [];
  stream.setEncoding("utf8");
  stream.on("data", (text: string) => {
    const lines = text.split("\n");
    if (lines.length === 1) {
      parts.push(text);
      return;
    }
    parts.push(lines[0] ?? "");
    take(parts.join(""));
    for (const line of lines.slice(1, -1)) take(line);
    parts = [lines.at(-1) ?? ""];
  });
}
