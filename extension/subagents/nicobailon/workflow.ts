// A workflow in the foreground does not tell its agents' runs before it ends. But each has a folder for its session,
// named after its run, below the main session's, and a transcript named after it too: by that they are found. Only looks.

import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Host } from "../connection.ts";
import { runIdIn } from "./wire.ts";

/** Folders of one main session that are looked at. */
const MAX_FOLDERS = 4096;
const TRANSCRIPT = /^[0-9a-f-]{36}_(.+)_(\d+)_transcript\.jsonl$/;

export interface Found {
  runId: string;
  index: number;
  agent: string;
  transcript: string;
}

export class Discovery {
  readonly #folder: string | undefined;
  readonly #artifacts: string;
  /** Runs that were there before, or are known by now. */
  readonly #known: Set<string>;

  constructor(host: Host) {
    const file = host.session.ctx.sessionManager.getSessionFile();
    this.#folder = file === undefined ? undefined : join(dirname(file), basename(file, ".jsonl"));
    this.#artifacts = file === undefined ? "" : join(dirname(file), "subagent-artifacts");
    this.#known = new Set(names(this.#artifacts));
  }

  /** Agents whose transcript is new, and whose session is this main session's. */
  look(): Found[] {
    if (this.#folder === undefined) return [];
    const fresh = names(this.#artifacts).filter((name) => !this.#known.has(name));
    if (fresh.length === 0) return [];
    const ours = new Set(names(this.#folder));
    return fresh.flatMap((name) => {
      const match = TRANSCRIPT.exec(name);
      const runId = runIdIn(name);
      // The folder may come a moment later than the transcript.
      if (match !== null && !ours.has(runId)) return [];
      this.#known.add(name);
      const [, agent = "", index = ""] = match ?? [];
      return match === null ? [] : [{ runId, agent, index: Number(index), transcript: join(this.#artifacts, name) }];
    });
  }
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder).slice(-MAX_FOLDERS);
  } catch {
    return [];
  }
}
