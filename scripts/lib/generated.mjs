// What `npm run generate` writes: files, or marked blocks in files, made from the catalog that the Rust core prints.

import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./native.mjs";

/**
 * @typedef {{ name: string, type: string, default: unknown, values: string, power: boolean, project: string, description: string }} Key
 * @typedef {{ section: string, evidence: string[], interventions: string[], keys: string[], docs: string }} Rule
 * @typedef {{ name: string, severity: string, proposes: string, audience: string, state: string, brief: string, footer: string,
 *   itself: string[], others: string[], untilActive: boolean, outlives: boolean, limit: boolean, when: string }} Intervention
 * @typedef {{ name: string, source: "live" | "store" | "traces", own: boolean, meaning: string,
 *   fields: { name: string, type: string, optional: boolean }[] }} Event
 * @typedef {{ keys: Key[], evidence: { name: string, atTheEnd: boolean }[], interventions: Intervention[], rules: Rule[], events: Event[], schema: object }} Catalog
 */

const LIFECYCLE = "Lifecycle";
const LINE = 120;

/** @returns {Catalog} */
export function readCatalog() {
  const args = ["run", "--quiet", "--locked", "--no-default-features", "--example", "catalog"];
  const text = execFileSync("cargo", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(text);
}

/** Each file with the text that it should have; `catalog`: the core's, unless a test has another. */
export function generated(catalog = readCatalog()) {
  /** @type {[path: string, text: string][]} */
  const files = [
    ["watchdog-supervisor.schema.json", `${JSON.stringify(catalog.schema, undefined, 2)}\n`],
    ["docs/configuration.md", withBlocks("docs/configuration.md", { keys: keyTable(catalog.keys) })],
    [
      "docs/rules.md",
      withBlocks("docs/rules.md", { rules: ruleTexts(catalog), interventions: interventionTable(catalog, false) }),
    ],
    ["docs/lifecycle.md", withBlocks("docs/lifecycle.md", { interventions: interventionTable(catalog, true) })],
    ["docs/trace.md", withBlocks("docs/trace.md", { events: eventTable(catalog.events) })],
    [
      "index.d.ts",
      formatted(
        "index.d.ts",
        withBlocks("index.d.ts", {
          keys: catalog.keys.map(keyDeclaration).join("\n"),
          evidence: union("EvidenceType", catalog.evidence),
          interventions: union("InterventionKind", catalog.interventions),
          events: catalog.events.map(eventDeclaration).join("\n"),
        }),
      ),
    ],
    ["extension/generated/events.ts", formatted("extension/generated/events.ts", liveEvents(catalog.events))],
    ["extension/generated/kinds.ts", formatted("extension/generated/kinds.ts", kinds(catalog))],
  ];
  return files;
}

/**
 * A file with its marked blocks filled anew; the marks are comments with `generated: <name>` and `end: <name>`.
 * @param {string} path
 * @param {Record<string, string>} blocks
 */
function withBlocks(path, blocks) {
  let text = readFileSync(join(root, path), "utf8");
  for (const [name, block] of Object.entries(blocks)) {
    const marks = new RegExp(`^([^\\n]*\\bgenerated: ${name}\\b[^\\n]*\\n)[^]*?^([^\\n]*\\bend: ${name}\\b)`, "m");
    if (!marks.test(text)) throw new Error(`${path} has no marks for the generated block "${name}"`);
    text = text.replace(marks, (_, begin, end) => `${begin}${block}\n${end}`);
  }
  return text;
}

/** @param {Key[]} keys */
function keyTable(keys) {
  const rows = keys.map(
    (key) =>
      `| \`${key.name}\`${key.power ? " ⚡" : ""} | ${defaultText(key)} | ${key.values} | ${key.project} | ${key.description} |`,
  );
  return ["| key | default | values | project file | meaning |", "|---|---|---|---|---|", ...rows].join("\n");
}

/** @param {Key} key */
function defaultText(key) {
  if (key.type === "string") return JSON.stringify(key.default);
  return `\`${typeof key.default === "string" ? key.default : JSON.stringify(key.default)}\``;
}

/** @param {Key} key */
function keyDeclaration(key) {
  const values = key.type === "boolean" || key.values.startsWith("`") ? "" : ` ${capital(key.values)}.`;
  const lines = wrap(`${key.description}${values} Default: ${defaultText(key)}.`, "   * ");
  const comment = lines.length === 1 ? `  /** ${lines[0]?.slice(5)} */` : ["  /**", ...lines, "   */"].join("\n");
  return `${comment}\n  ${key.name}: ${key.type};`;
}

/** @param {Catalog} catalog */
function ruleTexts({ rules, keys }) {
  const found = rules.filter(({ section, docs }) => section !== LIFECYCLE && docs.trim() !== "");
  const sections = [...new Set(found.map(({ section }) => section))];
  return sections
    .map((section) => {
      const texts = found.filter((rule) => rule.section === section).map((rule) => ruleText(rule, keys));
      return [`## ${section}`, ...texts].join("\n\n");
    })
    .join("\n\n");
}

/** @param {Rule} rule @param {Key[]} keys */
function ruleText({ evidence, interventions, keys: names, docs }, keys) {
  const kinds = (evidence.length > 0 ? evidence : interventions).map((name) => `\`${name}\``).join(", ");
  const limits = names.map((name) => `\`${name}\` ${plainDefault(keys.find((key) => key.name === name)?.default)}`);
  const head = `**${kinds}** (${limits.join(", ")}).`;
  return `${head} ${docs.trim()}`
    .split("\n\n")
    .map((paragraph) => wrap(paragraph.replaceAll("\n", " "), "").join("\n"))
    .join("\n\n");
}

/** @param {unknown} value */
const plainDefault = (value) => (value === true ? "on" : value === false || value === 0 ? "off" : String(value));

/** @param {Catalog} catalog @param {boolean} lifecycle */
function interventionTable({ rules, interventions, keys }, lifecycle) {
  const rows = rules
    .filter(({ section }) => (section === LIFECYCLE) === lifecycle)
    .flatMap((rule) =>
      interventions
        .filter(({ name }) => rule.interventions.includes(name))
        .map((kind) => {
          const limits = rule.keys.map((name) => {
            const key = keys.find((one) => one.name === name);
            return `\`${name}\` ${plainDefault(key?.default)}`;
          });
          const remark = kind.severity === "info" ? " (a remark)" : "";
          return `| \`${kind.name}\` | ${kind.when.replaceAll("\n", " ")} | ${limits.join(", ")} | \`${kind.proposes}\`${remark} |`;
        }),
    );
  return ["| kind | reported when | keys | proposes |", "| --- | --- | --- | --- |", ...rows].join("\n");
}

/** @param {string} name @param {readonly { name: string }[]} kinds */
const union = (name, kinds) => `${[`export type ${name} =`, ...kinds.map((kind) => `  | "${kind.name}"`)].join("\n")};`;

/** @param {Catalog} catalog */
function kinds({ interventions, evidence }) {
  const table = Object.fromEntries(
    interventions.map(({ name, severity: _, when: __, proposes: ___, ...info }) => [name, info]),
  );
  const atTheEnd = evidence.filter((kind) => kind.atTheEnd).map(({ name }) => name);
  return `// Made by \`npm run generate\` from the Rust core, where each kind is declared in the file of its rule. Do not edit.

import type { EvidenceType, InterventionKind } from "../../index.js";

export interface InterventionInfo {
  /** Who hears of it besides the screen: nobody, the main agent's model, or also the agents that it concerns. */
  readonly audience: "people" | "main_agent" | "parties";
  /** The state of the agent; reads after "is". */
  readonly state: string;
  /** The same in a word or two, for columns. */
  readonly brief: string;
  /** The same for the footer, which counts agents in it; empty: not shown there. */
  readonly footer: string;
  /** What the agent itself is advised; empty where the proposed action says it all. */
  readonly itself: readonly string[];
  /** What its main agent is advised. \`{steer}\`: a call that steers it; \`{stop}\`: the command that ends it. */
  readonly others: readonly string[];
  /** The agent's next activity shows that it is over. */
  readonly untilActive: boolean;
  /** Holds when the agent has ended. */
  readonly outlives: boolean;
  /** It comes with a limit: a remark on the way there does not say that it was reached. */
  readonly limit: boolean;
}

export const INTERVENTIONS: Readonly<Record<InterventionKind, InterventionInfo>> = ${JSON.stringify(table)};

/** Evidence that an agent ends its run with: it holds until the agent does something. */
export const AT_THE_END: ReadonlySet<EvidenceType> = new Set(${JSON.stringify(atTheEnd)});
`;
}

const SOURCES = { live: "the extension", store: "the store itself", traces: "**traces only**" };

/** @param {Event[]} events */
function eventTable(events) {
  const rows = events.map(({ name, source, fields, meaning }) => {
    const shown = fields.map((field) => `\`${field.name}${field.optional ? "?" : ""}\``).join(", ");
    return `| \`${name}\` | ${shown} | ${SOURCES[source]} | ${meaning.replaceAll("\n", " ")} |`;
  });
  return ["| event | fields | sent by | meaning |", "|---|---|---|---|", ...rows].join("\n");
}

/** @param {Event} event */
function eventDeclaration({ name, source, fields, meaning }) {
  const where = source === "traces" ? " In recorded traces only." : "";
  const lines = wrap(`${capital(meaning.replaceAll("\n", " "))}.${where}`, "   * ");
  const comment = lines.length === 1 ? `  /** ${lines[0]?.slice(5)} */` : ["  /**", ...lines, "   */"].join("\n");
  const shape = fields.map((field) => `${field.name}${field.optional ? "?" : ""}: ${field.type}`).join("; ");
  return `${comment}\n  ${name}: ${shape === "" ? "Record<string, never>" : `{ ${shape} }`};`;
}

/** @param {Event[]} events */
function liveEvents(events) {
  const named = (/** @type {string} */ from) => events.filter(({ source }) => source === from).map(({ name }) => name);
  const [names, traces] = [named("live"), named("traces")];
  return `// Made by \`npm run generate\` from the Rust core, which declares all events in one place. Do not edit.

/** Lifecycle events that the extension sends; the store knows the others by itself, or only traces have them. */
export const LIVE_EVENTS = ${JSON.stringify(names)} as const;

export type LiveEvent = (typeof LIVE_EVENTS)[number];

/** Lifecycle events that nothing in Pi tells: only recorded traces have them. */
export const TRACE_EVENTS: ReadonlySet<string> = new Set(${JSON.stringify(traces)});
`;
}

/** @param {string} path @param {string} text */
function formatted(path, text) {
  const biome = join(root, "node_modules", "@biomejs", "biome", "bin", "biome");
  const result = spawnSync(process.execPath, [biome, "format", `--stdin-file-path=${path}`], {
    cwd: root,
    input: text,
    encoding: "utf8",
  });
  if (result.status !== 0) throw new Error(`${path} could not be formatted: ${result.stderr}`);
  return result.stdout;
}

/** @param {string} text @param {string} indent */
function wrap(text, indent) {
  /** @type {string[]} */
  const lines = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent.length + line.length + 1 + word.length > LINE) {
      lines.push(indent + line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, indent + line];
}

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
