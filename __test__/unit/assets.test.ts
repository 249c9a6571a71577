// The prompt, the skill and the example name tools, commands and keys; a name that the code does not know would send a
// model or a user astray.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadSkillsFromDir, parseFrontmatter } from "@earendil-works/pi-coding-agent";
import { subcommands } from "../../extension/commands/watchdog.ts";
import { watchdogTools } from "../../extension/tools.ts";
import { defaultConfig } from "../../index.js";

const root = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), "utf8");

const PROMPT = "prompts/watchdog-agent.md";
const SKILL = "skills/watchdog-supervisor/SKILL.md";
const EXAMPLE = "examples/AGENTS.md";
const AGENT = "agents/watchdog.md";
const assets = [PROMPT, SKILL, EXAMPLE, AGENT, "docs/tools.md", "docs/commands.md", "docs/subagents.md"];

const tools = new Map(watchdogTools.map((tool) => [tool.name, tool]));
const keys = Object.keys(defaultConfig());

const toolNames = (path: string): string[] => read(path).match(/\bwatchdog_[a-z_]+\b/g) ?? [];

for (const path of [PROMPT, SKILL, AGENT, "docs/tools.md"]) {
  test(`${path} names every tool`, () => {
    assert.deepEqual([...new Set(toolNames(path))].sort(), [...tools.keys()].sort());
  });
}

for (const path of assets) {
  test(`${path} names only tools that there are`, () => {
    for (const name of toolNames(path)) assert.ok(tools.has(name), `${name} is no tool`);
  });

  test(`${path} names only commands and keys that there are`, () => {
    const names = new Set(subcommands.map((command) => command.name));
    for (const [, word = ""] of read(path).matchAll(/\/watchdog ([a-z]+(?:-[a-z]+)*)/g)) {
      assert.ok(names.has(word), `/watchdog ${word} is no command`);
    }
    for (const [, key = ""] of read(path).matchAll(/\/watchdog set ([a-z][A-Za-z]*)/g)) {
      assert.ok(keys.includes(key), `${key} is no configuration key`);
    }
    for (const [, name = ""] of read(path).matchAll(/\/(watchdog[:-][a-z]+)/g)) {
      assert.ok(["watchdog:settings", "watchdog-agent"].includes(name), `/${name} is no command`);
    }
  });
}

test("the documentation of the tools covers every tool and every parameter of it", () => {
  const text = read("docs/tools.md");
  for (const [name, tool] of tools) {
    const [, rest = ""] = text.split(`## ${name}\n`);
    assert.notEqual(rest, "", `${name} has no section`);
    const section = rest.split("\n## ")[0] ?? "";
    const properties = (tool.parameters as { properties?: Record<string, unknown> }).properties ?? {};
    for (const parameter of Object.keys(properties)) {
      assert.ok(section.includes(`\`${parameter}`), `${name}: ${parameter} is not explained`);
    }
  }
});

test("the documentation of the commands covers every subcommand", () => {
  const text = read("docs/commands.md");
  for (const { name, args } of subcommands) {
    assert.ok(text.includes(`/watchdog ${name}${args === "" ? "" : ` ${args}`}`), `${name} is not explained`);
  }
});

test("Pi loads the skill without a warning, and its description fits", () => {
  const { skills, diagnostics } = loadSkillsFromDir({ dir: new URL("skills", root).pathname, source: "package" });
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(
    skills.map((skill) => skill.name),
    ["watchdog-supervisor"],
  );
  assert.ok((skills[0]?.description.length ?? 0) <= 1024);
});

test("the prompt is a template with a description", () => {
  const { frontmatter, body } = parseFrontmatter<Record<string, unknown>>(read(PROMPT));
  assert.equal(typeof frontmatter.description, "string");
  assert.ok(body.startsWith("You are the watchdog."));
});

test("the agent file lists every tool and no other", () => {
  const { frontmatter } = parseFrontmatter<Record<string, unknown>>(read(AGENT));
  assert.equal(frontmatter.name, "watchdog");
  assert.equal(typeof frontmatter.description, "string");
  assert.deepEqual(String(frontmatter.tools).split(", ").sort(), [...tools.keys()].sort());
});

test("nothing relies on the default of a dry run, which the user may have changed", () => {
  const steer = tools.get("watchdog_steer_subagent");
  const texts = [PROMPT, SKILL, AGENT].map(read);
  texts.push(`${steer?.description}`, `${steer?.promptSnippet}`, `${steer?.promptGuidelines?.join(" ")}`);
  for (const text of texts) {
    assert.match(text, /dryRun: true/);
    assert.doesNotMatch(text, /without `dryRun`|dry run unless|dry run \(the default\)|by default\)/);
  }
});

test("every tool says in its guidelines which tool they are about", () => {
  for (const [name, tool] of tools) {
    for (const guideline of tool.promptGuidelines ?? []) assert.ok(guideline.includes(name), `${name}: ${guideline}`);
    assert.ok((tool.promptGuidelines ?? []).length > 0);
    assert.ok(tool.promptSnippet !== undefined && !tool.promptSnippet.includes("\n"));
    assert.ok(tool.annotations !== undefined);
    assert.ok(tool.outputSchema !== undefined);
  }
});
