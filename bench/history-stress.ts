// `node bench/history-stress.ts [--seconds 60] [--processes 8] [--kills 200]`: the whole of what the tests of the history
// take a part of. Says what it did, or throws.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { killWriters, writeAtOnce } from "../__test__/support/history/stress.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string" }, processes: { type: "string" }, kills: { type: "string" } },
});
const [seconds, processes, kills] = [
  Number(values.seconds ?? 60),
  Number(values.processes ?? 8),
  Number(values.kills ?? 200),
];
const folder = mkdtempSync(join(tmpdir(), "watchdog-history-stress-"));
try {
  const sessions = await writeAtOnce(join(folder, "at-once", "state.db"), processes, seconds);
  console.log(`${processes} processes, ${seconds} s: ${sessions} sessions with an incident each, none lost`);
  const written = await killWriters(join(folder, "killed", "state.db"), kills, Math.random);
  console.log(`${kills} writers killed: the database was whole each time, none of ${written} written sessions lost`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
