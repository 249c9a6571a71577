// No circle of files in the extension: whoever changes one of a circle has to know all of them. Imports of types do not
// count, as nothing is loaded by them.

import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { root } from "./native.mjs";

const IMPORT = /^\s*(?:import|export)\s+(?!type\b)(?:[^"';]*?\bfrom\s+)?"(\.[^"]+)"/gm;

/** @returns {string[]} */
export function checkCircles() {
  const files = globSync("extension/**/*.ts", { cwd: root }).map((path) => path.replaceAll("\\", "/"));
  return circles(new Map(files.map((file) => [file, importsOf(file, readFileSync(join(root, file), "utf8"))]))).map(
    (circle) => `a circle of imports: ${[...circle, circle[0]].join(" → ")}`,
  );
}

/** Files that a file loads. @param {string} file @param {string} source @returns {string[]} */
export function importsOf(file, source) {
  return [...source.matchAll(IMPORT)]
    .filter(([statement]) => !onlyTypes(statement))
    .map(([, path = ""]) => join(dirname(file), path).replaceAll("\\", "/"));
}

/** `import { type A, type B } from` loads nothing either. @param {string} statement */
function onlyTypes(statement) {
  const names =
    /\{([^}]*)\}/
      .exec(statement)?.[1]
      ?.split(",")
      .map((name) => name.trim())
      .filter(Boolean) ?? [];
  return (
    names.length > 0 &&
    names.every((name) => name.startsWith("type ")) &&
    !/(?:import|export)\s+\w+\s*,/.test(statement)
  );
}

/**
 * One circle of each group of files that lead to each other.
 * @param {ReadonlyMap<string, readonly string[]>} graph
 * @returns {string[][]}
 */
export function circles(graph) {
  /** @type {Map<string, "open" | "done">} */
  const state = new Map();
  /** @type {string[]} */
  const path = [];
  /** @type {string[][]} */
  const found = [];
  /** @param {string} file */
  const visit = (file) => {
    state.set(file, "open");
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      if (state.get(next) === "open") found.push(path.slice(path.indexOf(next)));
      else if (!state.has(next) && graph.has(next)) visit(next);
    }
    path.pop();
    state.set(file, "done");
  };
  for (const file of graph.keys()) if (!state.has(file)) visit(file);
  return found;
}
