// How agents begin, plan, are stopped and end.

import type { Actor, FamilyScenario } from "./stage.ts";

function todos(done: number, of: number) {
  return {
    todos: Array.from({ length: of }, (_, n) => ({ content: `part ${n}`, status: n < done ? "completed" : "pending" })),
  };
}

function nest(parent: Actor, depth: number): void {
  const child = parent.foreground(`level-${depth}`, (own) => {
    own.work(3);
    if (depth < 5) nest(own, depth + 1);
    own.work(3).end();
  });
  parent.until(child);
}

export const lives: readonly FamilyScenario[] = [
  {
    name: "nesting five deep",
    why: "five levels are the limit, and each waits for the one below",
    build(main) {
      main.user("Divide until it is small enough.");
      nest(main, 1);
      main.say("Done.");
    },
  },
  {
    name: "the user stops the main agent, and its children end with it",
    why: "the children are told to stop and do within a second; later the user goes on",
    build(main) {
      main.life("agent_start").user("Rewrite everything.");
      const [a, b] = [main.background("first"), main.background("second")];
      for (const child of [a, b]) child.work(9);
      main.look(5);
      const stopped = Math.max(main.at, a.at, b.at) + 2;
      main.at = stopped;
      main.life("user_abort").life("agent_settled");
      for (const child of [a, b]) {
        child.at = stopped + 0.5;
        child.say("", "aborted").life("subagent_end", { status: "stopped" });
      }
      main.until(a, b).wait(1500).user("Only the parser, please.").work(6).say("The parser is rewritten.");
    },
  },
  {
    name: "development servers that end with who started them",
    why: "each process is gone when its owner has ended",
    build(main) {
      main.user("Try the app in three browsers.");
      const children = ["firefox", "chromium", "webkit"].map((name) => main.background(name));
      for (const [n, child] of children.entries()) {
        child
          .look(3)
          .bash(`npm run dev -- --port ${3000 + n} &`)
          .life("process", { pid: 500 + n, alive: true });
        for (let round = 0; round < 6; round++) {
          child.bash(`npx playwright test page_${round}.spec.ts`, { secs: 30 + round });
          child.life("process", { pid: 500 + n, alive: true });
        }
        child.end().life("process", { pid: 500 + n, owner: child.label, alive: false });
      }
      main.say("They are at it.").hears(...children);
      for (const child of children) main.fetch(child);
      main.say("It works in all three.");
    },
  },
  {
    name: "plans that are updated now and then, and one that is done",
    why: "the plans move before ten turns have passed, and after the last item nothing is left to update",
    build(main) {
      main.user("Do the seven parts.").call("todo_write", todos(0, 7), "ok");
      for (let n = 1; n <= 3; n++) main.work(4).call("todo_write", todos(n, 7), "ok");
      main.foreground("helper", (child) => {
        child.call("todo_write", todos(0, 3), "ok");
        for (let n = 1; n <= 3; n++) child.work(3).call("todo_write", todos(n, 3), "ok");
        child.work(12).end();
      });
      for (let n = 4; n <= 7; n++) main.work(3).call("todo_write", todos(n, 7), "ok");
      main.work(14).say("All seven are done.");
    },
  },
  {
    name: "a lead that lets its own children work in the background",
    why: "the lead's own run is over and its children work; it goes on when they have reported",
    build(main) {
      main.user("Have the site translated.");
      const lead = main.background("lead");
      lead.work(2);
      const children = [1, 2, 3].map((n) => lead.background(`translator-${n}`));
      lead.say("I wait for my translators.");
      for (const [n, child] of children.entries()) child.work(9 + 4 * n, 20).end();
      main.say("The lead reports when it is done.");
      lead.hears(...children);
      for (const child of children) lead.fetch(child);
      lead.work(3).end();
      main.hears(lead).fetch(lead).say("Translated.");
    },
  },
  {
    name: "a parent that waits for its background children by asking for their results",
    why: "each call waits for a child that works, and comes back when it is done",
    build(main) {
      main.user("Measure on three machines.");
      const children = ["small", "middle", "large"].map((name) => main.background(name));
      for (const [n, child] of children.entries()) {
        for (let round = 0; round < 6 + n; round++) child.bash(`bench --case ${round}`, { secs: 200 + 10 * n });
        child.end();
      }
      for (const child of children) {
        const call = main.open("get_subagent_result", { agent_id: child.label, wait: true });
        main.until(child).close(call, `${child.label}: ${main.stage.noise.int(10, 99)} ms`);
      }
      main.say("The middle one is the best.");
    },
  },
  {
    name: "a chain of children, each with the result of the one before",
    why: "one after the other does another part of the work",
    build(main) {
      main.user("Scout, plan, build, review.");
      for (const part of ["scout", "plan", "build", "review"])
        main.foreground(part, (child) => child.work(7, 12).end());
      main.look(2).say("All four steps are done.");
    },
  },
  {
    name: "a user who steers children while they work",
    why: "the children are told something new and go on with it",
    build(main) {
      main.user("Two experiments, please.");
      const [warm, cold] = [main.background("warm"), main.background("cold")];
      main.say("They run.");
      for (const child of [warm, cold]) {
        for (let n = 0; n < 4; n++) child.work(4).user(`Also try a size of ${n + 2}.`);
        child.work(3).end();
      }
      main.hears(warm, cold).fetch(warm).fetch(cold).say("Warm is faster.");
    },
  },
];
