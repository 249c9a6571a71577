// `node fuzz/run.ts [SECONDS] [TARGET…]`: seeds, then each target for so long (600 s), one after the other. Needs
// cargo-fuzz (`cargo install cargo-fuzz`). A finding is written to artifacts/ and ends the run.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeSeeds } from "./seeds.ts";

const folder = fileURLToPath(new URL(".", import.meta.url));
const TARGETS = ["session", "text", "observe", "stream"];

const words = process.argv.slice(2);
const seconds = words.length > 0 && /^\d+$/.test(words[0] as string) ? Number(words.shift()) : 600;
const unknown = words.filter((word) => !TARGETS.includes(word));
if (unknown.length > 0) {
  console.error(`usage: node fuzz/run.ts [SECONDS] [${TARGETS.join("|")}…]`);
  process.exit(2);
}

writeSeeds(folder);
for (const target of words.length > 0 ? words : TARGETS) {
  const dictionary = join(folder, "dictionaries", `${target}.dict`);
  const options = [
    `-max_total_time=${seconds}`,
    "-timeout=20",
    "-max_len=16384",
    "-rss_limit_mb=2048",
    "-print_final_stats=1",
  ];
  if (existsSync(dictionary)) options.push(`-dict=${dictionary}`);
  console.log(`== ${target}, ${seconds} s`);
  // The core has no unsafe code: the address sanitizer would find nothing and take most of the time.
  const { status, error } = spawnSync("cargo", ["fuzz", "run", "--sanitizer", "none", target, "--", ...options], {
    cwd: join(folder, ".."),
    // What libFuzzer needs of the compiler is not stable yet; this lets the stable one do it.
    env: { RUSTC_BOOTSTRAP: "1", ...process.env },
    stdio: "inherit",
  });
  if (status !== 0) {
    console.error(error ? `cargo: ${error.message}` : `${target}: a finding, or the target could not be built`);
    process.exit(1);
  }
}
