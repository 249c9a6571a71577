// Families in which somebody waits for long, and rightly: for children, tools, providers, people and each other.

import type { Actor, FamilyScenario } from "./stage.ts";

export const waiting: readonly FamilyScenario[] = [
  {
    name: "waves of background children whose results are read later",
    why: "the main agent goes on meanwhile, is told of every end and reads every result",
    build(main) {
      main.user("Split the migration into parts and have them done.");
      for (let wave = 1; wave <= 3; wave++) {
        const children = [1, 2, 3].map((n) => main.background(`wave${wave}-${n}`));
        for (const [n, child] of children.entries()) child.work(4 + n, 8).end();
        main.look(3).hears(...children);
        for (const child of children) main.fetch(child);
      }
      main.say("All parts are done.");
    },
  },
  {
    name: "a foreground child of thirty minutes",
    why: "the child works all the time, and its parent has nothing else to do than to wait for it",
    build(main) {
      main.user("Have the parser rewritten.");
      main.foreground("rewriter", (child) => child.work(48, 20).end());
      main.look(2).say("The parser is rewritten.");
    },
  },
  {
    name: "children in test runs of nine minutes",
    why: "a test run without a declared time may take ten minutes",
    build(main) {
      main.user("Check both platforms.");
      const [linux, mac] = [main.background("linux"), main.background("mac")];
      for (const child of [linux, mac]) {
        child.work(3);
        for (let n = 0; n < 3; n++) child.bash(`npm run test:slow -- --shard ${n}`, { secs: 540 }).work(2);
        child.end();
      }
      main.say("I go on when they report.").hears(linux, mac).fetch(linux).fetch(mac).say("Both are green.");
    },
  },
  {
    name: "a child in a build that says it may take forty minutes",
    why: "the call declared its time and stays within it",
    build(main) {
      main.user("Build the toolchain.");
      main.foreground("builder", (child) => {
        child.work(8);
        child.bash("make -j4 toolchain", { secs: 2350, timeout: 2400 });
        child.work(8).end();
      });
      main.say("The toolchain is built.");
    },
  },
  {
    name: "xhigh thinking with twenty minutes of silence",
    why: "at that level of thinking half an hour without a sign is within bounds",
    build(main) {
      main.life("thinking_level", { level: "xhigh" }).user("Find the race in the scheduler.");
      main.work(4).wait(1200).work(2);
      main.foreground("prover", (child) => {
        child.life("thinking_level", { level: "xhigh" }).work(5).wait(1200).work(4).wait(1150).work(3).end();
      });
      main.wait(1100).say("The race is in the queue.");
    },
  },
  {
    name: "children whose models stream slowly",
    why: "every piece of a stream is a sign, and none is longer than the limit away",
    build(main) {
      main.user("Write the two guides.");
      const [one, two] = [main.background("guide-a"), main.background("guide-b")];
      one.look(6).stream(30, 95).life("subagent_end", { status: "completed" });
      two.look(6).stream(40, 70).life("subagent_end", { status: "completed" });
      main.say("They are being written.").hears(one, two).fetch(one).fetch(two).say("Both guides are there.");
    },
  },
  {
    name: "rate limits that name their reset",
    why: "the provider said when it will answer again, and it does",
    build(main) {
      main.user("Translate the manual.");
      const messages = [
        "429 Rate limit reached. Please try again in 25 minutes.",
        "You have hit your usage limit. Try again in ~42 min.",
        "Usage limit reached, resets in 1h 20m.",
        "Too many tokens, please try again in 2 hours and 5 minutes.",
      ];
      const waits = [1490, 2510, 4790, 7480];
      const children = messages.map((_, n) => main.background(`language-${n + 1}`));
      for (const [n, child] of children.entries()) {
        child.work(4);
        child.life("auto_retry_start", { attempt: 1, delayMs: 2000, errorMessage: messages[n] }).wait(waits[n]!);
        child.work(4).end();
      }
      main.say("I go on when they are done.").hears(...children);
      for (const child of children) main.fetch(child);
      main.say("All four are there.");
    },
  },
  {
    name: "a provider limit that hits the whole family",
    why: "nobody can go on before the reset, and all do after it",
    build(main) {
      main.user("Review all modules.");
      const call = main.open("Agent", { prompt: "Review all modules." });
      const lead = main.spawn("lead");
      lead.work(3);
      const reviewers = [1, 2].map((n) => lead.background(`reviewer-${n}`));
      for (const child of reviewers)
        child.look(5).life("provider_limit", { resetInSec: 3600 }).wait(3590).look(6).end();
      lead
        .life("provider_limit", { resetInSec: 3600 })
        .wait(3600)
        .hears(...reviewers)
        .look(3)
        .end();
      main.until(lead).close(call, "done").say("Reviewed.");
    },
  },
  {
    name: "compactions in the main agent and in a child",
    why: "a compaction is one request, and work goes on after each",
    build(main) {
      main.user("Port the whole library.");
      main.foreground("porter", (child) => {
        for (let n = 0; n < 4; n++) {
          child.work(9);
          child
            .life("compaction_start", { reason: "threshold" })
            .wait(280)
            .life("compaction_end", { reason: "threshold" });
        }
        child.work(4).end();
      });
      main.work(4);
      main.life("compaction_start", { reason: "threshold" }).wait(400).life("compaction_end", { reason: "threshold" });
      main.work(4).say("Ported.");
    },
  },
  {
    name: "a permission question that the user answers after an hour",
    why: "the question is open in the main session, where the user sees it; the user was at lunch",
    build(main) {
      main.user("Prepare the release.");
      const checker = main.background("checker");
      checker.work(12, 30).end();
      main.work(4);
      main
        .life("permission_ask", { requestId: "publish" })
        .wait(3600)
        .life("permission_reply", { requestId: "publish" });
      main.hears(checker).fetch(checker).work(4).say("The release is prepared.");
    },
  },
  {
    name: "a child's question that is shown in the main session",
    why: "the main session's dialog shows it for as long as it is open, and the child goes on after the answer",
    build(main) {
      main.user("Clean up the branches.");
      const cleaner = main.background("cleaner");
      cleaner.work(8);
      main.until(cleaner);
      cleaner.life("permission_ask", { requestId: "delete" });
      main.wait(0.5).life("ui_prompt_start", { requestId: "shown" });
      cleaner.wait(2400).life("permission_reply", { requestId: "delete" }).work(8).end();
      main.wait(2400).life("ui_prompt_end", { requestId: "shown" }).look(2).hears(cleaner).fetch(cleaner).say("Clean.");
    },
  },
  {
    name: "a child with dialogs of its own that are answered",
    why: "each dialog was answered within two minutes, and the child works on for long after it",
    build(main) {
      main.user("Set up the project.");
      main.foreground("wizard", (child) => {
        for (let n = 0; n < 4; n++) {
          child
            .work(3)
            .life("ui_prompt_start", { requestId: `q${n}` })
            .wait(110)
            .life("ui_prompt_end", { requestId: `q${n}` });
          child.work(4, 40);
        }
        child.end();
      });
      main.say("It is set up.");
    },
  },
  {
    name: "a parent that waits for a queue of children",
    why: "four at a time is the limit of the package; those that wait have not been started yet",
    build(main) {
      main.user("Update all packages.");
      const running: Actor[] = [];
      for (let n = 0; n < 10; n++) {
        if (running.length === 4) main.until(running.shift()!);
        const child = main.background(`package-${n}`);
        child.work(2 + (n % 3), 25).end();
        running.push(child);
      }
      main.hears(...running).say("All are updated.");
    },
  },
  {
    name: "children that have asked the user something through an idle main agent",
    why: "the main agent has passed the questions on to the user, who thinks about them for half an hour",
    build(main) {
      main.user("Design the three services.");
      const children = ["auth", "billing", "search"].map((name) => main.background(name));
      main.say("They are at it.");
      for (const child of children) {
        child.look(8).life("message_send", { to: "main", replyWanted: true });
        main
          .until(child)
          .program(`Question of ${child.label}: which storage?`)
          .say(`${child.label} asks: which storage?`);
      }
      main.wait(1800).user("Postgres for all of them.");
      for (const child of children) {
        main.life("message_send", { to: child.label });
        child.until(main).program("Postgres.").work(3).end();
      }
      main.say("I told them.").hears(...children);
      for (const child of children) main.fetch(child);
      main.say("All three are designed.");
    },
  },
  {
    name: "idle hours between the user's turns",
    why: "nothing runs between the turns; the user is elsewhere",
    build(main) {
      for (let day = 0; day < 4; day++) {
        main.user(`Next: chapter ${day + 1}.`);
        const writer = main.background(`writer-${day}`);
        writer.work(6).end();
        main
          .look(2)
          .hears(writer)
          .fetch(writer)
          .say(`Chapter ${day + 1} is there.`)
          .life("agent_settled")
          .wait(9 * 3600);
      }
    },
  },
];
