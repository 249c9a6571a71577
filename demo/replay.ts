// Runs the package's own command over a recorded session, as a user would.

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../__test__/support/pi.ts";
import type { ReplayReport } from "../index.js";

const run = promisify(execFile);
const COMMAND = join(REPOSITORY, "bin", "pi-watchdog");

export async function replay(file: string): Promise<{ text: string; reports: ReplayReport[] }> {
  const [people, programs] = await Promise.all([
    run(process.execPath, [COMMAND, "replay", file]),
    run(process.execPath, [COMMAND, "replay", "--json", file]),
  ]);
  const parsed: unknown = JSON.parse(programs.stdout);
  return { text: people.stdout, reports: (Array.isArray(parsed) ? parsed : [parsed]) as ReplayReport[] };
}
