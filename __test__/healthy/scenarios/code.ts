// Work on code: refactorings, test-driven loops, migrations, formatters, compilers.

import { cargoTest, pytest, source, vitest } from "../outputs.ts";
import type { Scenario } from "../trace.ts";

const MODULES = ["cart", "order", "invoice", "customer", "stock", "price", "tax", "ship", "mail", "auth"];

export const code: Scenario[] = [
  {
    name: "a refactoring over 80 files with the same edit in each",
    why: "Every edit is of another file; the equal answers and the equal type check in between say that all goes well.",
    build(t) {
      t.user("Replace our Logger.log with logger.info everywhere.");
      t.bash("rg -l 'Logger\\.log' src | wc -l", "80");
      for (let i = 0; i < 80; i++) {
        const path = `src/${MODULES[i % 10]}/${i}/handler.ts`;
        t.read(path, source(path, 22));
        t.edit(path, "Logger.log(", "logger.info(");
        if (i % 8 === 7) t.bash("npx tsc --noEmit", "", { secs: 6 });
      }
      t.bash("rg -l 'Logger\\.log' src", "", { code: 1 });
      t.say("All 80 files use `logger.info` now; the type check is clean.");
    },
  },
  {
    name: "test-driven work with many reds that differ",
    why: "Each red is of a new test and each is followed by a fix.",
    build(t) {
      t.user("Build the price engine test-first. The rules are in docs/rules.md.");
      t.read("docs/rules.md", source("docs/rules.md", 60));
      for (let i = 0; i < 30; i++) {
        const name = `src/price.test.ts > price > rule ${i + 1}: ${t.noise.pick(["rounds", "adds tax to", "discounts", "refuses"])} ${MODULES[i % 10]}`;
        t.edit("src/price.test.ts", `// next test ${i}`, `test("rule ${i + 1}", () => …);\n// next test ${i + 1}`);
        t.bash("npx vitest run src/price.test.ts", vitest(t.noise, i, [name]), { code: 1, secs: 4 });
        t.edit("src/price.ts", `// rule ${i}`, `if (rule${i + 1}(item)) …\n// rule ${i + 1}`);
        t.bash("npx vitest run src/price.test.ts", vitest(t.noise, i + 1), { secs: 4 });
      }
    },
  },
  {
    name: "a stubborn bug: the same red after three edits, then a fix, over and over",
    why: "Three attempts at one bug are not many; each time the fourth helps.",
    build(t) {
      t.user("Fix the failing tests one by one.");
      for (let bug = 0; bug < 8; bug++) {
        const failing = `tests/test_${MODULES[bug]}.py::test_${MODULES[bug]}_total - AssertionError: assert ${bug + 3}.0 == ${bug + 4}.0`;
        t.read(`app/${MODULES[bug]}.py`, source(`app/${MODULES[bug]}.py`, 30));
        for (let attempt = 0; attempt < 3; attempt++) {
          t.edit(`app/${MODULES[bug]}.py`, `total = sum_${attempt}(items)`, `total = sum_${attempt + 1}(items)`);
          t.bash("python -m pytest -q", pytest(t.noise, 60 + bug, [failing]), { code: 1, secs: 8 });
        }
        t.edit(`app/${MODULES[bug]}.py`, "ROUND_HALF_EVEN", "ROUND_HALF_UP");
        t.bash("python -m pytest -q", pytest(t.noise, 61 + bug), { secs: 8 });
      }
    },
  },
  {
    name: "a migration of 110 files with sed, each answered by nothing",
    why: "Another file each time; silence is what sed answers when it works.",
    build(t) {
      t.user("Move all specs from chai to vitest's expect.");
      for (let i = 0; i < 110; i++) {
        t.bash(`sed -i 's/expect(\\(.*\\)).to.equal(/expect(\\1).toBe(/' test/spec_${i}.ts`);
        if (i % 10 === 9) t.bash("git diff --stat | tail -1", ` ${i + 1} files changed, ${(i + 1) * 4} insertions(+)`);
      }
      t.bash("npx vitest run", vitest(t.noise, 430), { secs: 20 });
    },
  },
  {
    name: "a codemod script run batch by batch, with the same green tests after each",
    why: "The script changes files; that the tests stay green after each batch is the point of running them.",
    build(t) {
      t.user("Run scripts/codemod.py on each package and check the tests after every one. Stop if something breaks.");
      for (let i = 0; i < 30; i++) {
        t.bash(`python scripts/codemod.py packages/p${i}`, `rewrote ${t.noise.int(2, 30)} files`);
        t.bash("npm test --silent", vitest(t.noise, 212), { secs: 15 });
      }
    },
  },
  {
    name: "print debugging: the same line added and removed around real fixes",
    why: "A debugging line comes and goes; between its visits the code gets states it never had.",
    build(t) {
      t.user("The scheduler fires twice. Find out why and fix it.");
      const print = '    eprintln!("tick {:?}", self.next);';
      for (let i = 0; i < 12; i++) {
        const failing = `scheduler::tests::fires_once_${i}`;
        t.edit("src/scheduler.rs", "fn tick(&mut self) {", `fn tick(&mut self) {\n${print}`);
        t.bash(`cargo test fires_once_${i} -- --nocapture`, cargoTest(t.noise, 0, [failing]), { code: 101, secs: 7 });
        t.edit("src/scheduler.rs", `fn tick(&mut self) {\n${print}`, "fn tick(&mut self) {");
        t.edit(`src/queue_${i}.rs`, `push(at_${i})`, `push_once(at_${i})`);
        t.bash(`cargo test fires_once_${i} -- --nocapture`, cargoTest(t.noise, 1), { secs: 7 });
      }
    },
  },
  {
    name: "`.only` put into a test and taken out again, while the code is worked on",
    why: "The test file goes back and forth; the work is in the other file.",
    build(t) {
      t.user("Make the reconnect tests pass.");
      for (let i = 0; i < 10; i++) {
        t.edit("test/reconnect.test.ts", 'test("reconnects"', 'test.only("reconnects"');
        t.bash("npx vitest run test/reconnect.test.ts", vitest(t.noise, 0, [`test/reconnect.test.ts > attempt ${i}`]), {
          code: 1,
        });
        t.edit("src/reconnect.ts", `delay(${i})`, `delay(${i + 1})`);
        t.bash("npx vitest run test/reconnect.test.ts", vitest(t.noise, 1));
        t.edit("test/reconnect.test.ts", 'test.only("reconnects"', 'test("reconnects"');
      }
    },
  },
  {
    name: "a long build with the same warnings after every edit",
    why: "The warnings were there before and are not the task.",
    build(t) {
      t.user("Port the renderer to the new math library. Ignore the old warnings.");
      const warnings = Array.from(
        { length: 12 },
        (_, i) => `warning: unused variable: \`tmp${i}\`\n  --> src/render/pass_${i}.rs:${i + 40}:9`,
      ).join("\n");
      for (let i = 0; i < 40; i++) {
        t.edit(`src/render/mesh_${i}.rs`, "Vec3::new(", "vec3(");
        t.bash("cargo build", `${warnings}\n    Finished \`dev\` profile in ${t.noise.seconds(20, 60)}`, { secs: 40 });
      }
    },
  },
  {
    name: "formatter and linter with constant output after every edit",
    why: "They say that nothing is wrong, after each of many real edits.",
    build(t) {
      t.user("Document every public function of the crate.");
      for (let i = 0; i < 35; i++) {
        t.edit(`src/m${i % 7}.rs`, `pub fn f${i}(`, `/// Does ${i}.\npub fn f${i}(`);
        t.bash("cargo fmt --all");
        t.bash("cargo clippy -q -- -D warnings", "", { secs: 5 });
      }
    },
  },
  {
    name: "a code review that reads 60 files and comes back to the central ones",
    why: "A reviewer looks at the types again now and then; each time several new files lie between.",
    build(t) {
      t.user("Review the whole storage layer. Read everything, write me your findings.");
      for (let i = 0; i < 60; i++) {
        t.read(`src/storage/part_${i}.ts`, source(`src/storage/part_${i}.ts`, 35));
        if (i % 8 === 3) t.read("src/storage/types.ts", source("src/storage/types.ts", 80));
        if (i % 11 === 5) t.bash("rg -n 'interface Store' src", "src/storage/types.ts:12:export interface Store {");
      }
      t.say("Findings: 1. `part_7` leaks a handle on error. 2. `part_31` ignores the abort signal.");
    },
  },
  {
    name: "one file read again after every edit of it",
    why: "After an edit the file is another one.",
    build(t) {
      t.user("Split the 900-line parser into small functions, carefully.");
      for (let i = 0; i < 40; i++) {
        t.read("src/parser.py", `# version ${i}\n${source("src/parser.py", 60)}`);
        t.edit("src/parser.py", `    # block ${i}`, `    self._block_${i}()`);
      }
      t.bash("python -m pytest -q", pytest(t.noise, 88));
    },
  },
  {
    name: "a flaky test that the user asks to run again and again",
    why: "The person wants to see it run.",
    build(t) {
      t.user("Run the e2e test, I want to see whether it is flaky.");
      for (let i = 0; i < 30; i++) {
        const failing = i % 7 === 4 ? ["e2e/login.test.ts > login > keeps the session"] : [];
        t.bash("npm run e2e -- login", vitest(t.noise, failing.length > 0 ? 3 : 4, failing), {
          code: failing.length,
          secs: 25,
        });
        t.say(failing.length > 0 ? `Run ${i + 1}: it failed this time.` : `Run ${i + 1}: passed.`);
        t.user(t.noise.pick(["again", "and again", "once more please", "again"]));
      }
      t.bash("npm run e2e -- login --trace on", vitest(t.noise, 4), { secs: 30 });
    },
  },
  {
    name: "a monorepo: the same build in 36 packages, with the same answer",
    why: "Another package each time.",
    build(t) {
      t.user("Check that every package builds and tests on its own.");
      for (let i = 0; i < 36; i++) {
        t.bash(`cd packages/${MODULES[i % 10]}-${i} && npm run build`, "> build\n> tsup\n\nBuild success", { secs: 9 });
        t.bash(`cd packages/${MODULES[i % 10]}-${i} && npm test`, vitest(t.noise, 12), { secs: 6 });
      }
    },
  },
  {
    name: "failing edits that are healed by reading the file again",
    why: "The formatter moved lines; each failed edit is repaired at once.",
    build(t) {
      t.user("Rename the fields of the settings form.");
      for (let i = 0; i < 25; i++) {
        t.failedEdit("src/settings.tsx", `name="field${i}"  `, `name="setting${i}"`);
        t.read("src/settings.tsx", `// ${i} renamed\n${source("src/settings.tsx", 50)}`);
        t.edit("src/settings.tsx", `name="field${i}"`, `name="setting${i}"`);
      }
    },
  },
  {
    name: "eighty small files written one after the other",
    why: "Another file each time, and `ls` shows them.",
    build(t) {
      t.user("Create a fixture file for each country code.");
      for (let i = 0; i < 80; i++) {
        t.write(`fixtures/${t.noise.id(2)}${i}.json`, JSON.stringify({ id: i, vat: 20 }));
        if (i % 16 === 15) t.bash("ls fixtures | wc -l", String(i + 1));
      }
    },
  },
  {
    name: "a checklist that is updated with a constant ok while work goes on",
    why: "The list says something else each time.",
    build(t) {
      const items = Array.from({ length: 24 }, (_, i) => `Write test ${i + 1}`);
      t.user("Add the 24 missing tests. Keep a todo list.");
      for (let i = 0; i < 24; i++) {
        const todos = items.map((content, j) => ({
          content,
          status: j < i ? "completed" : j === i ? "in_progress" : "pending",
        }));
        t.call(
          "todo_write",
          { todos },
          "Todos have been modified successfully. Please proceed with the current tasks.",
        );
        t.write(`test/case_${i}.test.ts`, `test("case ${i}", () => {});`);
        t.bash(`npx vitest run test/case_${i}.test.ts`, vitest(t.noise, 1));
      }
    },
  },
  {
    name: "sixty strings translated one by one",
    why: "Another key each time; the tool has one answer for all.",
    build(t) {
      t.user("Translate the missing strings to German with the i18n tool.");
      t.call("i18n_missing", { locale: "de" }, Array.from({ length: 60 }, (_, i) => `key.${i}`).join("\n"));
      for (let i = 0; i < 60; i++) t.call("i18n_set", { locale: "de", key: `key.${i}`, text: `Wert ${i}` }, "ok");
      t.call("i18n_missing", { locale: "de" }, "[]");
    },
  },
  {
    name: "a licence and version survey, file by file, with the same answer each time",
    why: "Each question is about another file; that they agree is the result.",
    build(t) {
      t.user(
        "Make sure that every package has the licence header and the same version. Look at each, do not script it.",
      );
      for (let i = 0; i < 30; i++) {
        t.bash(`head -1 packages/p${i}/src/index.ts`, "// SPDX-License-Identifier: Apache-2.0");
        t.bash(`jq -r .version packages/p${i}/package.json`, "4.2.0");
      }
      t.bash("git log --oneline -1 -- packages/p3", "9f31c2e release 4.2.0");
    },
  },
  {
    name: "when each file was last touched: one commit for all",
    why: "Another file each time.",
    build(t) {
      t.user("Which of the generated files were touched after the import? Check them one at a time.");
      for (let i = 0; i < 50; i++) t.bash(`git log --format=%h -1 -- gen/schema_${i}.ts`, "4be1d77");
      t.say("None: all of them stem from the import.");
    },
  },
];
