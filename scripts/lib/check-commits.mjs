// Titles of commits: `type(scope): imperative`, at most 72 characters. Older ones than the first that was held to it are
// left alone; a clone without them has nothing to check.

import { spawnSync } from "node:child_process";
import { root } from "./native.mjs";

/** The last commit before titles were held to the form. */
const BASE = "8c1331acaffd140c11b8bbd8569b2fdbc31959d1";
const TITLE_CHARS = 72;
const TYPES = ["build", "chore", "ci", "docs", "feat", "fix", "perf", "refactor", "revert", "style", "test"];
const FORM = new RegExp(`^(?:${TYPES.join("|")})(?:\\([a-z0-9-]+\\))?!?: (\\S.*)$`);

/** What is wrong with a title; nothing when it is right. @param {string} title @returns {string | undefined} */
export function titleProblem(title) {
  const [, what] = FORM.exec(title) ?? [];
  if (what === undefined) return `is not "type(scope): imperative" with one of ${TYPES.join(", ")}`;
  if (title.length > TITLE_CHARS) return `has ${title.length} characters; ${TITLE_CHARS} fit`;
  if (/[.:;,]$/.test(what)) return "ends with a mark";
  if (/^[A-Z][a-z]/.test(what)) return "begins with a capital letter after the colon";
  return undefined;
}

/** @returns {string[]} */
export function checkCommits() {
  // A clone may belong to another user than the one who checks it.
  const args = ["-c", "safe.directory=*", "log", "--no-merges", "--format=%h %s", `${BASE}..HEAD`];
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  // A shallow clone, or an archive.
  if (status !== 0) return [];
  return stdout
    .split("\n")
    .filter(Boolean)
    .flatMap((line) => {
      const [hash = "", ...words] = line.split(" ");
      const problem = titleProblem(words.join(" "));
      return problem === undefined ? [] : [`commit ${hash}: the title ${problem}`];
    });
}
