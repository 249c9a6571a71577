// Holds index.d.ts, index.js and the addon in step: what is declared exists and takes what it is said to take.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { loadBinding } from "../../loader.js";
import { declaredFunctions, declaredMembers, declaredValues, parameterNames } from "./declarations.mjs";
import { root } from "./native.mjs";

/** @returns {Promise<string[]>} */
export async function checkDeclarations() {
  const library = await import(pathToFileURL(join(root, "index.js")).href);
  const store = declaredMembers("WatchdogStore");
  const detector = declaredMembers("Detector");
  return [
    ...difference("index.js", declaredValues(), Object.keys(library).sort()),
    ...declaredFunctions().flatMap(({ name, parameters }) => arity(name, library[name], parameters)),
    ...detector.methods.flatMap(({ name, parameters }) =>
      arity(`Detector.${name}`, library.Detector.prototype[name], parameters),
    ),
    ...difference(
      "store",
      [...store.methods.map(({ name }) => name), ...store.properties].sort(),
      memberNames(library.store).sort(),
    ),
    ...store.methods.flatMap(({ name, parameters }) => arity(`store.${name}`, library.store[name], parameters)),
    ...bindingSignatures(store.methods, library.store),
  ];
}

/** @param {object} object @returns {string[]} */
function memberNames(object) {
  const prototype = Object.getPrototypeOf(object);
  const inherited = prototype === Object.prototype || prototype === null ? [] : Object.getOwnPropertyNames(prototype);
  return [...new Set([...Object.getOwnPropertyNames(object), ...inherited])].filter((name) => name !== "constructor");
}

/**
 * @param {string} where
 * @param {string[]} declared
 * @param {string[]} actual
 */
function difference(where, declared, actual) {
  return [
    ...declared
      .filter((name) => !actual.includes(name))
      .map((name) => `${where}: ${name} is declared and does not exist`),
    ...actual.filter((name) => !declared.includes(name)).map((name) => `${where}: ${name} exists and is not declared`),
  ];
}

/**
 * A function may take fewer parameters than declared (optional ones with defaults do not count), never more.
 * Functions of the addon have no length; {@link bindingSignatures} is for them.
 * @param {string} name
 * @param {unknown} actual
 * @param {string[]} parameters
 */
function arity(name, actual, parameters) {
  if (typeof actual !== "function") return [`${name} is declared as a function and is ${typeof actual}`];
  if (actual.length <= parameters.length) return [];
  return [`${name} takes ${actual.length} parameters, ${parameters.length} are declared`];
}

/**
 * The addon's functions as the binding generator sees them. One that is a store method itself, or that a method of the
 * same name passes its arguments on to, must take the declared parameters in the declared order.
 * @param {import("./declarations.mjs").Member[]} methods
 * @param {Record<string, unknown>} store
 */
function bindingSignatures(methods, store) {
  const generated = generatedSignatures();
  const exported = Object.entries(loadBinding());
  const compared = methods.flatMap(({ name, parameters }) => {
    const own = exported.find(([, value]) => value === store[name])?.[0];
    const actual = generated.get(own ?? name);
    return actual === undefined ? [] : [{ name, declared: parameters.join(", "), actual: actual.join(", ") }];
  });
  if (compared.length < methods.length / 2)
    return ["too few of the addon's functions could be matched with store methods"];
  return compared
    .filter(({ declared, actual }) => declared !== actual)
    .map(({ name, declared, actual }) => `store.${name}(${declared}) is declared; the addon has (${actual})`);
}

/** @returns {Map<string, string[]>} */
function generatedSignatures() {
  const folder = mkdtempSync(join(tmpdir(), "pi-watchdog-types-"));
  try {
    // The generator writes while the compiler expands its macros; a check expands them and is much faster than a build.
    const env = { ...process.env, NAPI_TYPE_DEF_TMP_FOLDER: folder };
    const { status, stderr } = spawnSync("cargo", ["check", "--lib", "--locked", "--quiet"], {
      cwd: root,
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`cargo check failed\n${stderr}`);
    const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), "utf8").split("\n"));
    return new Map(lines.flatMap(signature));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {string} line @returns {[string, string[]][]} */
function signature(line) {
  const json = /\{.*\}$/.exec(line)?.[0];
  if (json === undefined) return [];
  const { kind, def } = JSON.parse(json);
  const match = kind === "fn" ? /^function (\w+)(?:<[^(]*>)?\((.*)\)(?::|$)/.exec(def) : null;
  return match === null ? [] : [[match[1], parameterNames(match[2])]];
}
