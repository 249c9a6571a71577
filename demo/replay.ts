// Runs the package's own command over a recorded session, as a user would.

import { execFile } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { REPOSITORY } from "../__test__/support/pi.ts";
import type { ReplayReport } from "../index.js";

const run = promisify(execFile);
const COMMAND = join(REPOSITORY, "bin", "pi-watchdog");

export async function replay(file: string): Promise<{ text: string; report: ReplayReport | undefined }> {
  const options = { cwd: dirname(file) };
  const name = basename(file);
  const [people, programs] = await Promise.all([
    run(process.execPath, [COMMAND, "replay", name], options),
    run(process.execPath, [COMMAND, "replay", "--json", name], options),
  ]);
  const { files } = JSON.parse(programs.stdout) as { files: ReplayReport[] };
  return { text: people.stdout, report: files[0] };
}
