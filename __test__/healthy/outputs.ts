// Outputs of well-known tools, as they look in a terminal: what stays is an argument, what varies comes from the noise.

import type { Noise } from "./noise.ts";

export function vitest(noise: Noise, passed: number, failures: readonly string[] = []): string {
  const failed = failures.map(
    (failure) => ` FAIL  ${failure}\n ❯ ${failure.split(" > ")[0]}:${noise.int(12, 240)}:${noise.int(5, 30)}`,
  );
  const counts = failures.length > 0 ? `${failures.length} failed | ${passed} passed` : `${passed} passed`;
  return [
    " RUN  v3.1.1 /home/dev/shop",
    "",
    ...failed,
    ` Test Files  ${failures.length > 0 ? "1 failed | " : ""}14 passed (15)`,
    `      Tests  ${counts} (${passed + failures.length})`,
    `   Start at  ${noise.clock()}`,
    `   Duration  ${noise.seconds(2, 6)} (transform ${noise.int(300, 900)}ms, setup 0ms, collect ${noise.seconds(1, 3)})`,
  ].join("\n");
}

export function pytest(noise: Noise, passed: number, failures: readonly string[] = []): string {
  const short = failures.map((failure) => `FAILED ${failure}`);
  const counts = [...(failures.length > 0 ? [`${failures.length} failed`] : []), `${passed} passed`].join(", ");
  return [
    "============================= test session starts ==============================",
    "platform linux -- Python 3.12.4, pytest-8.2.2, pluggy-1.5.0",
    `collected ${passed + failures.length} items`,
    ...(short.length > 0
      ? ["=========================== short test summary info ============================", ...short]
      : []),
    `========================= ${counts} in ${noise.seconds(1, 9)} =========================`,
  ].join("\n");
}

export function cargoTest(noise: Noise, passed: number, failures: readonly string[] = []): string {
  const lines = failures.map((failure) => `test ${failure} ... FAILED`);
  const verdict = failures.length > 0 ? "FAILED" : "ok";
  return [
    `    Finished \`test\` profile [unoptimized + debuginfo] target(s) in ${noise.seconds(0.4, 9)}`,
    `     Running unittests src/lib.rs (target/debug/deps/engine-${noise.hex(16)})`,
    `running ${passed + failures.length} tests`,
    ...lines,
    `test result: ${verdict}. ${passed} passed; ${failures.length} failed; 0 ignored; 0 measured; finished in ${noise.seconds(0, 2)}`,
  ].join("\n");
}

/** A file as `read` shows it: so many distinct lines. */
export function source(path: string, lines = 40, from = 1): string {
  const name = path.split("/").pop() ?? path;
  return Array.from({ length: lines }, (_, index) => `  ${name.replace(/\W/g, "_")}_${from + index}();`).join("\n");
}

/** `git commit` */
export function committed(noise: Noise, subject: string, branch = "main"): string {
  return `[${branch} ${noise.hex(7)}] ${subject}\n 1 file changed, ${noise.int(1, 40)} insertions(+), ${noise.int(0, 20)} deletions(-)`;
}

export const CLEAN = "On branch main\nnothing to commit, working tree clean";
