// Sessions in which the talking is the work, or that differ in how people and agents talk.

import { source, vitest } from "../outputs.ts";
import type { Scenario } from "../trace.ts";

const TOPICS = [
  "closures",
  "iterators",
  "lifetimes",
  "traits",
  "macros",
  "channels",
  "futures",
  "pinning",
  "slices",
  "drop",
];

export const talk: Scenario[] = [
  {
    name: "a chat in which every answer offers more",
    why: "Questions are asked and answered; no tool is needed.",
    build(t) {
      for (let i = 0; i < 55; i++) {
        const topic = TOPICS[i % 10];
        t.user(`What about ${topic}, part ${i}?`);
        t.say(
          t.noise.pick([
            `${topic} work like this: the compiler looks at ${i}. Let me know if you want an example.`,
            `In short: ${topic} are values. If you like, I'll show you a longer example with ${i} steps.`,
            `I'm assuming that you use the 2021 edition: ${topic} then behave as in case ${i}. Feel free to ask more!`,
            `Good question. I'll explain with a small example:\n\n1. first ${i}\n2. then ${topic}\n\nThat is all there is to it.`,
          ]),
        );
        t.lifecycle("agent_end");
        t.lifecycle("agent_settled");
      }
    },
  },
  {
    name: "an agent that ends every message with a question",
    why: "The questions differ, and each answer is acted upon.",
    build(t) {
      t.user("Help me set up the project, ask before each step.");
      for (let i = 0; i < 28; i++) {
        t.say(`Next would be step ${i}: ${TOPICS[i % 10]}. Shall I go ahead?`);
        t.user("yes");
        t.write(`setup/${i}.toml`, `step = ${i}`);
        t.say(`Done with step ${i}. Anything else before we go on?`);
        t.user("no");
      }
    },
  },
  {
    name: "a plan announced once, then done",
    why: "The announcement comes with the work.",
    build(t) {
      for (let i = 0; i < 18; i++) {
        t.user(`Please handle ticket ${i}.`);
        t.say(`I'll fix ticket ${i} now: first the test, then the code.`);
        t.user("go");
        t.edit(`src/t${i}.ts`, "a", `b${i}`, { say: "Let me make the change." });
        t.bash("npm test", vitest(t.noise, 20 + i), { say: "Let me run the tests." });
        t.say("Fixed.");
      }
    },
  },
  {
    name: "`continue` twelve times with real work in between",
    why: "Between two of them work is done.",
    build(t) {
      t.user("Convert the lessons one after the other; stop after each.");
      for (let i = 0; i < 20; i++) {
        t.read(`lessons/${i}.html`, source(`lessons/${i}.html`, 30));
        t.write(`lessons/${i}.md`, `# Lesson ${i}`);
        t.say("Done. Say continue for the next one.");
        t.user("continue");
      }
    },
  },
  {
    name: "a session in German",
    why: "Work in another language.",
    build(t) {
      for (let i = 0; i < 22; i++) {
        t.user(`Bitte den Abschnitt ${i} überarbeiten.`);
        t.read(`kapitel/${i}.tex`, source(`kapitel/${i}.tex`, 25), {}, { say: "Ich lese den Abschnitt zuerst." });
        t.edit(`kapitel/${i}.tex`, "dass dass", "dass", { say: "Ich mache die Änderung." });
        t.say("Erledigt. Soll ich weitermachen?");
      }
    },
  },
  {
    name: "a session in Japanese with the same short answer after each task",
    why: "「完了しました。」 is how a finished task is reported.",
    build(t) {
      for (let i = 0; i < 26; i++) {
        t.user(`${i} 番のファイルを直してください。`);
        t.edit(`src/モジュール${i}.ts`, "古い", "新しい", { say: "修正します。" });
        t.say("完了しました。");
      }
    },
  },
  {
    name: "questions about work that was done before",
    why: "The agent tells what it did; nobody asked for more.",
    build(t) {
      t.user("Add the three endpoints.");
      for (let i = 0; i < 30; i++) t.edit("src/api.ts", `// ${i}`, `route(${i})`);
      t.say("I've added the three endpoints and their tests.");
      t.lifecycle("agent_end").lifecycle("agent_settled");
      for (let i = 0; i < 20; i++) {
        t.user(`What exactly did you change in route ${i}?`);
        t.say(`I changed route ${i} to validate its input, and I updated the types. I have also added test ${i}.`);
        t.lifecycle("agent_end").lifecycle("agent_settled");
      }
    },
  },
  {
    name: "a text written and rewritten in the chat itself",
    why: "The result is in the message; no tool is needed for it.",
    build(t) {
      t.user("Help me with a cover letter. Do not write files.");
      for (let i = 0; i < 50; i++) {
        t.say(
          `I've updated the ${TOPICS[i % 10]} paragraph and removed the second sentence. Here is the new version:\n\nDear team,\n\nthis is version ${i} of my letter about ${TOPICS[i % 10]}, and it says a little more than the one before about what I did and why it may matter to you.\n\nKind regards`,
        );
        t.lifecycle("agent_end").lifecycle("agent_settled");
        t.user(`Make it ${t.noise.pick(["shorter", "friendlier", "more formal", "less proud"])}.`);
      }
    },
  },
  {
    name: "permission prompts, some answered with no",
    why: "A refusal is followed by something else; many allowed calls lie between two refusals.",
    build(t) {
      t.user("Clean the repository up. Ask before you delete something.");
      for (let i = 0; i < 30; i++) {
        t.lifecycle("permission_ask", { tool: "bash", requestId: `p${i}` });
        const refused = i % 8 === 5;
        t.lifecycle("permission_reply", { requestId: `p${i}`, decision: refused ? "deny" : "allow" });
        if (refused) t.bash(`rm -rf old_${i}`, 'Permission to use "bash" was declined.', { error: true });
        else t.bash(`rm -rf tmp_${i}`);
        t.bash(`ls dir_${i}`, `a${i}\nb${i}`);
      }
    },
  },
  {
    name: "compactions in a long session, each followed by re-reading",
    why: "The model has forgotten the files and works on.",
    build(t) {
      t.user("Port the whole package to ESM.");
      for (let part = 0; part < 8; part++) {
        for (const path of ["package.json", "tsconfig.json", "src/index.ts", "README.md"])
          t.read(path, source(path, 40));
        for (let i = 0; i < 8; i++) t.edit(`src/p${part}_${i}.js`, "module.exports =", "export default");
        t.lifecycle("compaction_start", { reason: "threshold" });
        t.lifecycle("compaction_end", { reason: "threshold", aborted: false });
      }
    },
  },
  {
    name: "a hook that says the same after every edit",
    why: "The hook approves; the edits go on.",
    build(t) {
      t.user("Type the 30 untyped modules.");
      for (let i = 0; i < 30; i++) {
        t.edit(`src/u${i}.py`, "def f(x):", "def f(x: int) -> int:");
        t.program("[hook] ruff: all checks passed. Continue with the task.");
        t.bash("mypy src", `Found ${30 - i} errors in ${30 - i} files (checked 60 source files)`, { code: 1, secs: 3 });
      }
    },
  },
  {
    name: "sub-agents that all do the same work on other files",
    why: "Each child has its own history.",
    build(t) {
      t.user("Let six agents read the docs and check their own chapter.");
      for (let agent = 0; agent < 6; agent++) {
        t.as(`child-${agent}`);
        t.program(`Check chapter ${agent}.`);
        t.read("docs/style.md", source("docs/style.md", 50));
        t.bash("ls docs", "style.md\nchapters");
        for (let i = 0; i < 9; i++) t.read(`docs/chapters/${agent}/${i}.md`, source(`${agent}/${i}.md`, 20));
        t.say("The chapter follows the style.");
      }
      t.as(undefined).say("All six chapters follow the style.");
    },
  },
];
