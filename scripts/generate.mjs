// `npm run generate [-- --check]`: writes what is made from the Rust core's catalog of rules and keys: the JSON schema, the
// tables and texts of docs/, the types of index.d.ts, the extension's table of kinds. --check: writes nothing, names what is
// out of step.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { generated } from "./lib/generated.mjs";
import { root } from "./lib/native.mjs";

const { values } = parseArgs({ options: { check: { type: "boolean" } } });

for (const [path, expected] of generated()) {
  const file = join(root, path);
  if (current(file) === expected) continue;
  if (values.check) {
    console.log(`${path} is out of step: npm run generate`);
    process.exitCode = 1;
  } else {
    writeFileSync(file, expected);
    console.log(`written: ${path}`);
  }
}

/** @param {string} file */
function current(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
