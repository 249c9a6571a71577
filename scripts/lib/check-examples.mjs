// Compiles the examples that users read, as they would write them: those of index.d.ts, README.md and docs/.

import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { declaredValues, examples } from "./declarations.mjs";
import { root } from "./native.mjs";

// Inside the package, so that its own name resolves to it.
const folder = join(root, ".cache", "examples");

/** @returns {string[]} */
export function checkExamples() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const names = new Map();
  for (const [index, { name, text }] of [...examples(), ...codeBlocks()].entries()) {
    names.set(`example-${index}.ts`, name);
    writeFileSync(join(folder, `example-${index}.ts`), moduleText(text));
  }
  if (names.size === 0) return ["no example was found"];
  const config = { extends: "../../tsconfig.json", include: ["*.ts"], compilerOptions: { types: ["node"] } };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { status, stdout } = spawnSync("tsc", ["-p", folder, "--pretty", "false"], { cwd: folder, encoding: "utf8" });
  if (status === 0) return [];
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.replace(/example-\d+\.ts/, (file) => `${names.get(file)} (${file})`));
}

/** What an example may speak of without saying where it comes from. */
const GIVEN = { trace: "TraceEvent", events: "WatchdogEvent" };

/**
 * An example may leave out the import, and {@link GIVEN}.
 * @param {string} text
 */
function moduleText(text) {
  const uses = (/** @type {string} */ name) => new RegExp(`\\b${name}\\b`).test(text);
  const given = Object.entries(GIVEN)
    .filter(([name]) => uses(name) && !new RegExp(`\\b(?:const|let) ${name}\\b`).test(text))
    .map(([name, type]) => `declare const ${name}: import("pi-watchdog-supervisor").${type}[];`);
  const imported = /^import /m.test(text)
    ? []
    : [`import { ${declaredValues().filter(uses).join(", ")} } from "pi-watchdog-supervisor";`];
  return [...imported, ...given, text, "export {};"].join("\n");
}

/** Blocks marked `ts` or `js` that use this package. */
function codeBlocks() {
  return ["README.md", ...globSync("docs/*.md", { cwd: root })]
    .filter((file) => existsSync(join(root, file)))
    .flatMap((file) => {
      const text = readFileSync(join(root, file), "utf8");
      return [...text.matchAll(/^```(?:ts|js)\n([\s\S]*?)^```/gm)]
        .filter((match) => match[1].includes('"pi-watchdog-supervisor"'))
        .map((match) => ({ name: `${file}, line ${text.slice(0, match.index).split("\n").length}`, text: match[1] }));
    });
}
