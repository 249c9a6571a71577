// `npm run fmt`: formats Rust and everything else. `cargo fmt` alone misses the rules, whose modules a macro declares.

import { spawnSync } from "node:child_process";
import { root } from "./lib/native.mjs";
import { rustFiles } from "./lib/rust-files.mjs";

for (const [command, ...args] of [
  ["rustfmt", "--edition", "2024", ...rustFiles()],
  ["biome", "check", "--write"],
]) {
  const { status } = spawnSync(command ?? "", args, {
    cwd: root,
    stdio: "inherit",
    shell: process.platform === "win32",
  });
  if (status !== 0) process.exitCode = 1;
}
