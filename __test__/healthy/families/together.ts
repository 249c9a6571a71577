// Families that share one tree, or talk to each other: files handed over, git within one's own bounds, consultations.

import type { FamilyScenario } from "./stage.ts";

export const together: readonly FamilyScenario[] = [
  {
    name: "one file changed by several children in turn, each after reading it",
    why: "everybody has seen what the one before made of it",
    build(main) {
      main.user("Add three routes to src/routes.ts.");
      const [a, b, c] = [main.background("users"), main.background("orders"), main.background("items")];
      for (let lap = 0; lap < 3; lap++) {
        for (const [child, before] of [
          [a, c],
          [b, a],
          [c, b],
        ] as const) {
          child.until(before).read("src/routes.ts").edit("src/routes.ts").work(2);
        }
      }
      for (const child of [a, b, c]) child.end();
      main.look(2).hears(a, b, c).read("src/routes.ts").edit("src/routes.ts").say("Three routes.");
    },
  },
  {
    name: "two children that look at the whole diff before they change what both work on",
    why: "the diff has shown each of them what the other did",
    build(main) {
      main.life("session_start", { cwd: "/repo", worktree: "/repo" }).user("Add the setting, on both sides.");
      const [client, server] = [
        main.background("client", { cwd: "/repo" }),
        main.background("server", { cwd: "/repo" }),
      ];
      for (let lap = 0; lap < 4; lap++) {
        client
          .until(server)
          .bash("git diff", { output: `diff of lap ${lap}` })
          .edit("src/settings.ts")
          .work(2);
        server
          .until(client)
          .bash("git diff HEAD | cat", { output: `more of lap ${lap}` })
          .edit("src/settings.ts")
          .work(2);
      }
      client.end();
      server.end();
      main.look(2).hears(client, server).say("Both have it.");
    },
  },
  {
    name: "the same file names in three worktrees",
    why: "the paths are other files",
    build(main) {
      main.life("session_start", { cwd: "/repo", worktree: "/repo" }).user("Try three designs.");
      const children = ["a", "b", "c"].map((n) => {
        const cwd = `/repo/.trees/${n}`;
        return main.background(`design-${n}`, { cwd, worktree: cwd });
      });
      for (const child of children) {
        for (let n = 0; n < 5; n++)
          child
            .edit("src/app.ts")
            .edit("src/store.ts")
            .bash("npm test", { secs: 20 + n });
      }
      main.look(2).edit("notes.md").bash("git stash").look(2);
      for (const child of children) child.bash("git checkout .").work(2).end();
      main
        .bash("git reset --hard")
        .hears(...children)
        .say("Design b is the best.");
    },
  },
  {
    name: "a file handed over when its author has ended, and the author consulted later",
    why: "who has ended is no party; answering a question does not make it one again",
    build(main) {
      main.user("Write the cache, then tune it.");
      const tuner = main.background("tuner");
      const author = main.background("author");
      tuner.look(4);
      author.write("src/cache.ts").work(5).edit("src/cache.ts").end();
      main.hears(author).fetch(author);
      author.until(main).wait(5).life("subagent_resume").program("Why a ring buffer?").look(1);
      tuner.until(author).edit("src/cache.ts").work(6);
      author.until(tuner).say("Because entries are evicted in order.").life("subagent_end", { status: "completed" });
      tuner.edit("src/cache.ts").end();
      main.hears(tuner).say("Written and tuned.");
    },
  },
  {
    name: "formatters and generated files while others work",
    why: "nobody's edit was written over: formatters keep the content, and generated files are nobody's",
    build(main) {
      main.user("Extend the schema.");
      const [schema, client] = [main.background("schema"), main.background("client")];
      for (let n = 0; n < 5; n++) {
        schema
          .edit("schema/api.graphql")
          .bash("npm run codegen", { secs: 12 + n })
          .bash(`npx prettier --write schema # ${n}`);
        client
          .read("src/generated/api.ts")
          .edit(`src/client/use_${n}.ts`)
          .bash(`npx prettier --write src/client/use_${n}.ts`)
          .bash("npm run codegen", { secs: 9 + n });
      }
      schema.end();
      client.end();
      main.look(3).hears(schema, client).bash("npx prettier --check .").say("Extended.");
    },
  },
  {
    name: "git within one's own bounds",
    why: "each command concerns the agent's own files, nothing at all, or what is committed",
    build(main) {
      main.life("session_start", { cwd: "/repo", worktree: "/repo" }).user("Fix both bugs.");
      const [left, right] = [main.background("left", { cwd: "/repo" }), main.background("right", { cwd: "/repo" })];
      for (const [child, folder] of [
        [left, "src/left"],
        [right, "src/right"],
      ] as const) {
        child.work(3).edit(`${folder}/a.ts`).edit(`${folder}/b.ts`);
        child.bash("git clean -n").bash(`git stash push -- ${folder}/a.ts`).bash("git stash pop");
        child.bash(`git checkout -- ${folder}/b.ts`).bash("git restore --staged .").bash(`git restore ${folder}/`);
        child
          .edit(`${folder}/c.ts`)
          .bash(`git clean -fd ${folder}/tmp`)
          .bash(`git stash push -m "later" ${folder}/c.ts`);
        child.bash("git stash pop").bash(`git checkout HEAD -- ${folder}`).edit(`${folder}/d.ts`);
        child.bash(`git add ${folder} && git commit -m "Fix ${child.label}"`).work(2).end();
      }
      main.look(2).hears(left, right).bash("git log --oneline -3").say("Both are fixed.");
    },
  },
  {
    name: "sweeping git commands in other trees",
    why: "the trees that are cleaned are not the one in which the others work",
    build(main) {
      main.life("session_start", { cwd: "/repo", worktree: "/repo" }).user("Compare with the old release.");
      const [worker, historian] = [
        main.background("worker", { cwd: "/repo" }),
        main.background("historian", { cwd: "/repo" }),
      ];
      worker.work(14);
      historian.wait(60).bash("git clone -q . /tmp/old && cd /tmp/old && git checkout -f v1.0");
      for (let n = 0; n < 4; n++) {
        historian.bash(`cd /tmp/old && git checkout . && git clean -fdx && git checkout v1.${n}`);
        historian.bash(`git -C /tmp/old reset --hard v1.${n}`).bash("cd /tmp/old && npm run bench", { secs: 30 + n });
      }
      worker.end();
      historian.end();
      main.look(2).hears(worker, historian).say("It is faster than 1.0.");
    },
  },
  {
    name: "the best of three with the same prompt",
    why: "the same task for three at once is a choice",
    build(main) {
      main.life("session_start", { cwd: "/repo", worktree: "/repo" }).user("Let three try it.");
      const task = "Make the parser twice as fast.";
      const children = [1, 2, 3].map((n) =>
        main.background(`try-${n}`, { task, cwd: `/trees/${n}`, worktree: `/trees/${n}` }),
      );
      for (const [n, child] of children.entries()) child.work(5 + 3 * n).end();
      main.look(2).hears(...children);
      for (const child of children) main.fetch(child);
      main.say("The second is the best.");
    },
  },
  {
    name: "a failed child that is tried again",
    why: "it failed for another reason each time, and the third came through",
    build(main) {
      main.user("Have the importer written.");
      const task = "Write the importer.";
      for (const [n, why] of ["connection reset", "context overflow", ""].entries()) {
        const child = main.background(`importer-${n}`, { task });
        child.work(6);
        if (why === "") child.end();
        else child.say("", "error").life("subagent_end", { status: "error", error: why });
        main.look(1).hears(child).fetch(child);
      }
      main.say("Written at the third go.");
    },
  },
  {
    name: "the same review again after every change",
    why: "what is reviewed is not what it was: each review found something and it was changed",
    build(main) {
      main.user("Go on until the reviewer has nothing left to say.");
      const task = "Review the changes of this branch and list what is wrong.";
      for (let n = 0; n < 5; n++) {
        main.edit(`src/feature_${n}.ts`).bash("npm test", { output: `${20 + n} passed` });
        main.foreground(`review-${n}`, (child) => child.look(4).end(`${5 - n} things are wrong.`), {
          task,
          agentType: "reviewer",
        });
        main.edit(`src/feature_${n}.ts`).edit(`src/part_${n}.ts`);
      }
      main.say("Nothing is left.");
    },
  },
  {
    name: "a finished child that is asked one question after the other",
    why: "each question is another, and it answers each from what it knows",
    build(main) {
      main.user("Understand the billing code.");
      const expert = main.background("expert");
      expert.look(20).end("I have read it all.");
      main.look(1).hears(expert).fetch(expert);
      for (const topic of ["rounding", "currencies", "refunds", "taxes", "invoices", "credits"]) {
        const call = main.open("Agent", { resume: "expert", prompt: `How do ${topic} work?` });
        expert.until(main).life("subagent_resume").program(`How do ${topic} work?`);
        expert
          .say(`${topic} are in src/billing/${topic}.ts; ${expert.stage.noise.id(12)} does it.`)
          .life("subagent_end", { status: "completed" });
        main.until(expert).close(call, `${topic} are in src/billing/${topic}.ts`).work(2);
      }
      main.say("Now I know it.");
    },
  },
  {
    name: "children that ask each other and answer",
    why: "every question is answered, and meanwhile work goes on",
    build(main) {
      main.user("Build server and client.");
      const [server, client] = [main.background("server"), main.background("client")];
      for (let n = 0; n < 6; n++) {
        server.until(client).life("message_send", { to: "client", replyWanted: true });
        client
          .until(server)
          .program(`Which fields do you need, part ${n}?`)
          .look(2)
          .life("message_send", { to: "server", replyWanted: true });
        server.until(client).program("id and name. Which path?").work(2).life("message_send", { to: "client" });
        client.until(server).program(`/part/${n}`).work(2);
      }
      server.end();
      client.end();
      main.say("They are at it.").hears(server, client).say("Both are built.");
    },
  },
  {
    name: "a question to another child while the own work goes on",
    why: "who asked works on and needs no answer yet; the other gave it in its result",
    build(main) {
      main.user("Write docs and code.");
      const [docs, code] = [main.background("docs"), main.background("code")];
      code.work(3);
      docs.look(3).life("message_send", { to: "code", replyWanted: true });
      code.work(2).end("The flag is called --fast.");
      docs.work(14, 20).end();
      main.say("They are at it.").hears(code).fetch(code).look(2).say("The code is done.").hears(docs).say("Docs too.");
    },
  },
];
