// A rule and an intervention that do not exist are added to a copy of the core as CONTRIBUTING.md says: a file and a line
// each. The core must build, and everything that is generated must have them.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { generated } from "../../scripts/lib/generated.mjs";
import { root } from "../../scripts/lib/native.mjs";

const RULE = `//! \`scratch_rule\`: so many messages in a row.

use super::streak::Streak;
use super::{Context, Found, Happening, Rule};
use crate::rule;
use crate::setting::{Scope, THRESHOLD};

rule! {
    /// So many messages in a row.
    evidence {
        SCRATCH_RULE = "scratch_rule", rank 250;
    }
    settings {
        /// Messages in a row.
        scratch_threshold: u32 = 7, "scratchThreshold", THRESHOLD, Scope::VERDICT;
    }
}

#[derive(Debug, Clone, Default)]
pub struct Scratch {
    messages: Streak,
}

impl Rule for Scratch {
    fn observe(&mut self, what: Happening<'_>, context: &Context<'_>, found: &mut Found) {
        if matches!(what, Happening::Message { .. }) {
            self.messages.hit(context.now, context);
            let threshold = context.settings.scratch.scratch_threshold;
            found.extend(self.messages.report(threshold, SCRATCH_RULE, 99, "messages", context.now));
        }
    }
}
`;

const INTERVENTION = `//! The intervention \`scratch_matter\`.

use crate::rule;

rule! {
    interventions {
        /// a scratch matter is seen
        SCRATCH_MATTER = "scratch_matter", proposes Warn, audience MainAgent, state "scratched", brief "scratch",
            itself ["Stop scratching."], others ["Have it stop: {steer}"];
    }
}
`;

/** Puts a line before another one, which must be there. */
function addLine(file: string, before: string, line: string): void {
  const text = readFileSync(file, "utf8");
  assert.ok(text.includes(before), `${file} has ${before}`);
  writeFileSync(file, text.replace(before, `${line}\n${before}`));
}

test("a rule and an intervention are a file and a line each, and are in all that is generated", (t) => {
  const copy = mkdtempSync(join(tmpdir(), "watchdog-scratch-"));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  for (const path of ["Cargo.toml", "Cargo.lock", "build.rs", "src"])
    cpSync(join(root, path), join(copy, path), { recursive: true });
  const rules = join(copy, "src", "detect", "rules");
  writeFileSync(join(rules, "scratch.rs"), RULE);
  addLine(join(rules, "mod.rs"), '    result: RunResult in "Words', '    scratch: Scratch in "Files",');
  const lifecycle = join(copy, "src", "lifecycle");
  writeFileSync(join(lifecycle, "scratch_matter.rs"), INTERVENTION);
  addLine(join(lifecycle, "mod.rs"), "    orphan,\n", "    scratch_matter,");

  const args = ["run", "--quiet", "--locked", "--no-default-features", "--example", "catalog"];
  // Dependencies that are built already are not built again.
  const env = { ...process.env, CARGO_TARGET_DIR: join(root, "target") };
  const catalog = JSON.parse(execFileSync("cargo", args, { cwd: copy, env, encoding: "utf8" }));
  const files = new Map(generated(catalog));
  const text = (path: string) => files.get(path) ?? assert.fail(`${path} is generated`);
  assert.match(text("docs/rules.md"), /\*\*`scratch_rule`\*\* \(`scratchThreshold` 7\)\. So many messages in a row\./);
  assert.match(text("docs/configuration.md"), /\| `scratchThreshold` \| `7` \| whole number, 0 to 1000 \|/);
  assert.match(text("docs/lifecycle.md"), /\| `scratch_matter` \| a scratch matter is seen \|/);
  assert.match(text("index.d.ts"), /\| "scratch_rule"/);
  assert.match(
    text("index.d.ts"),
    /Messages in a row\. Whole number, 0 to 1000\. Default: `7`\. \*\/\n {2}scratchThreshold: number;/,
  );
  assert.equal(JSON.parse(text("watchdog-supervisor.schema.json")).properties.scratchThreshold.default, 7);
  assert.match(text("extension/generated/kinds.ts"), /scratch_matter: \{[^}]*Have it stop: \{steer\}/);
});
