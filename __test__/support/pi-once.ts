// One run of Pi that ends by itself: json and print mode, or any other command line.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { adopt } from "./cleanup.ts";
import type { Api } from "./model-server.ts";
import { type PiHome, piCli } from "./pi-home.ts";
import type { PiRecord } from "./pi-rpc.ts";
import { deadline } from "./wait.ts";

export interface OnceOptions {
  mode: "json" | "print";
  /** Sent one after the other. */
  prompts: string[];
  api?: Api;
  args?: string[];
}

export interface OnceResult {
  code: number | null;
  stdout: string;
  stderr: string;
  /** Lines of json mode; empty in print mode. */
  records: PiRecord[];
}

export async function runPi(home: PiHome, options: OnceOptions): Promise<OnceResult> {
  const mode = options.mode === "json" ? ["--mode", "json"] : ["--print"];
  const args = [piCli(), ...mode, ...home.args(options.api ?? "openai-completions"), ...(options.args ?? [])];
  const child = spawn(process.execPath, [...args, ...options.prompts], {
    cwd: home.cwd,
    env: home.env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  adopt(child);
  try {
    const [stdout, stderr, [code]] = await deadline(
      Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]),
      () => `Pi's exit in ${options.mode} mode`,
    );
    const lines = options.mode === "json" ? stdout.split("\n").filter((line) => line.length > 0) : [];
    return { code: code as number | null, stdout, stderr, records: lines.map((line) => JSON.parse(line) as PiRecord) };
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}
