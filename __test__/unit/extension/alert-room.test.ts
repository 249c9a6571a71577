// The room in which it is decided when somebody hears of a matter. Any sequence of reports, ends, calls, prompts, aborts
// and waits: nothing is said twice, nothing is lost, nothing stale is said, and nobody is woken more than once for it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Matter, TargetState } from "../../../extension/alerts/queue.ts";
import { AlertRoom, GATHER_MS, type ModelMessage, type Outlet } from "../../../extension/alerts/room.ts";
import type { Notice, Severity } from "../../../index.js";

const MAIN = "main";

interface Shown {
  text: string;
  level: string;
}

/** A main session that writes down what reaches it, with a clock and timers of its own. */
class Stage implements Outlet {
  readonly mainId = MAIN;
  readonly hasScreen: boolean;
  readonly oneShot: boolean;
  wakeOnCritical = true;
  time = 1000;
  idle = true;
  readonly states = new Map<string, TargetState>();
  readonly shown: Shown[] = [];
  readonly written: string[] = [];
  readonly woken: ModelMessage[] = [];
  readonly #timers: { at: number; task: () => void }[] = [];

  constructor({ oneShot = false }: { oneShot?: boolean } = {}) {
    this.oneShot = oneShot;
    this.hasScreen = !oneShot;
  }

  config = () => ({ wakeOnCritical: this.wakeOnCritical });
  rescue = () => ({ text: "Plan anew." });
  now = () => this.time;
  isIdle = () => this.idle;
  address = () => undefined;
  stateOf = (id: string): TargetState => this.states.get(id) ?? { stuck: true, activeAt: 0 };
  show(text: string, level: string): void {
    this.shown.push({ text, level });
  }
  readonly published: string[] = [];
  publish(state: string, { key, notice: { analysis } }: Matter): void {
    this.published.push(`${state} ${key} ${state === "finding" ? analysis.reasons[0] : ""}`);
  }
  write(line: string): void {
    this.written.push(line);
  }
  wake(message: ModelMessage): boolean {
    this.woken.push(message);
    return true;
  }
  after(ms: number, task: () => void): () => void {
    const timer = { at: this.time + ms, task };
    this.#timers.push(timer);
    return () => {
      const index = this.#timers.indexOf(timer);
      if (index >= 0) this.#timers.splice(index, 1);
    };
  }
  advance(ms: number): void {
    this.time += ms;
    for (const timer of this.#timers.splice(0)) {
      if (timer.at <= this.time) timer.task();
      else this.#timers.push(timer);
    }
  }
}

let serial = 0;

/** A notice with words that no other has. */
function notice(targetId: string, severity: Severity = "warning", ordinal = 1, changes: Partial<Notice> = {}): Notice {
  serial += 1;
  const summary = `evidence ${serial}.`;
  const evidence = [{ type: "repeated_command" as const, summary, count: 3, firstAt: 1, lastAt: 2 }];
  return {
    kind: "stuck",
    targetId,
    targetName: `job of ${targetId}`,
    severity,
    incident: "i1",
    analysis: { likelyStuck: true, confidence: "medium", reasons: [summary], evidence, evidenceKey: "k" },
    cost: { rounds: 3, tokens: 0, usd: 0, wallMs: 0 },
    ordinal,
    ...changes,
  };
}

const over = (of: Notice): Notice => ({ ...of, kind: "over", severity: "info" });

/** Reports as the main session does, without messages to children. */
function report(room: AlertRoom, what: Notice, cause: Parameters<AlertRoom["report"]>[1] = {}): void {
  const reported = room.report(what, cause);
  if (reported?.news) room.show(reported.matter, what);
}

test("a child that loops and recovers before the next call costs the model nothing; a one-shot run has one line of it", () => {
  const stage = new Stage({ oneShot: true });
  const room = new AlertRoom(stage);
  const first = notice("a");
  report(room, first);
  report(room, notice("a", "critical", 2));
  report(room, over(first));
  stage.states.set("a", { stuck: false, activeAt: 5, ended: "completed" });
  assert.equal(room.beforeCall(), undefined);
  assert.equal(room.withPrompt(true), undefined);
  room.close(false);
  assert.equal(stage.written.length, 1);
  assert.match(stage.written[0] ?? "", /job of a may be stuck: .*; it recovered$/);
});

test("many children are one message, the gravest first, those that ended as ended", () => {
  const stage = new Stage();
  const room = new AlertRoom(stage);
  stage.idle = false;
  for (let n = 0; n < 32; n++) report(room, notice(`c${n}`, n === 20 ? "critical" : "warning"));
  stage.states.set("c3", { stuck: false, activeAt: 5, ended: "completed" });
  const { content = "" } = room.beforeCall() ?? {};
  assert.match(content, /^\[Watchdog Alert\] 32 alerts\n\nTarget: "job of c20"/);
  assert.ok(content.length < 6000, `${content.length} characters`);
  assert.equal(content.split("Plan anew.").length, 2, "the advice is given once");
  assert.equal(room.beforeCall(), undefined);
});

test("an idle main agent is woken once for an incident, at critical, for all critical children together", () => {
  for (const wakeOnCritical of [true, false]) {
    const stage = new Stage();
    stage.wakeOnCritical = wakeOnCritical;
    const room = new AlertRoom(stage);
    report(room, notice("a"));
    stage.advance(GATHER_MS);
    assert.equal(stage.woken.length, 0, "a warning wakes nobody");
    for (const id of ["a", "b", "c", "d"]) {
      report(room, notice(id, "critical", 2));
      stage.advance(2000);
    }
    stage.advance(GATHER_MS);
    assert.equal(stage.woken.length, wakeOnCritical ? 1 : 0);
    for (const id of ["a", "b", "c", "d"]) {
      if (wakeOnCritical) assert.ok(stage.woken[0]?.content.includes(`job of ${id}`), id);
    }
    for (const ordinal of [3, 4]) report(room, notice("a", "critical", ordinal));
    stage.advance(10 * GATHER_MS);
    assert.equal(stage.woken.length, wakeOnCritical ? 1 : 0, "once for the incident");
    stage.states.set("a", { stuck: false, activeAt: 9, ended: "completed" });
    room.refresh();
    assert.equal(stage.shown.filter(({ text }) => text.includes("job of a has ended")).length, 1);
    const next = room.withPrompt(true)?.content ?? "";
    assert.match(next, /"job of a" \(a\)[\s\S]*ended \(completed\)/);
    assert.equal(room.withPrompt(true), undefined);
  }
});

test("who is woken hears of what holds then: recovered and ended children wake nobody", () => {
  const stage = new Stage();
  const room = new AlertRoom(stage);
  const a = notice("a", "critical", 2);
  report(room, a);
  report(room, notice("b", "critical", 2));
  report(room, over(a));
  stage.states.set("b", { stuck: false, activeAt: 9, ended: "stopped" });
  stage.advance(GATHER_MS);
  assert.equal(stage.woken.length, 0);
});

test("a one-shot run, a busy main agent and one that the user stopped are never woken", () => {
  for (const set of [
    (stage: Stage) => Object.assign(stage, { oneShot: true }),
    (stage: Stage) => Object.assign(stage, { idle: false }),
    (_: Stage, room: AlertRoom) => room.settled(true),
  ]) {
    const stage = new Stage();
    const room = new AlertRoom(stage);
    set(stage, room);
    report(room, notice("a", "critical", 2));
    stage.advance(GATHER_MS);
    assert.equal(stage.woken.length, 0);
  }
});

test("a stuck main agent reads its rescue with its next call, and a run that ended is not started again", () => {
  const stage = new Stage();
  const room = new AlertRoom(stage);
  stage.idle = false;
  report(room, notice(MAIN, "warning", 1, { lastCommand: "rg TOKEN src" }));
  assert.deepEqual(stage.shown, []);
  const message = room.beforeCall();
  assert.equal(message?.customType, "watchdog-rescue");
  assert.match(message.content, /- evidence \d+\.\n- last command: "rg TOKEN src"\n\nPlan anew\.$/);
  report(room, notice(MAIN, "critical", 2));
  stage.idle = true;
  room.settled(false);
  assert.equal(stage.shown.length, 1, "the user hears of what the agent did not");
  stage.advance(10 * GATHER_MS);
  assert.equal(stage.woken.length, 0);
  assert.equal(room.withPrompt(true), undefined, "the user's word answers it");
});

test("after the user's abort nothing is said of the main agent until the user speaks", () => {
  const stage = new Stage();
  const room = new AlertRoom(stage);
  room.settled(true);
  const cost = {
    kind: "excessive_cost" as const,
    reason: "too dear",
    suggestedAction: "warn" as const,
    autoExecute: false,
  };
  report(room, notice(MAIN));
  report(room, notice(MAIN, "warning", 1, { kind: "intervention", incident: "cost", intervention: cost }));
  assert.equal(room.withPrompt(false), undefined);
  assert.deepEqual(stage.shown, []);
  assert.match(room.withPrompt(true)?.content ?? "", /too dear/);
});

test("what children and other processes cause comes out of one budget, and wakes nobody", () => {
  const stage = new Stage();
  const room = new AlertRoom(stage);
  for (let n = 0; n < 800; n++) {
    report(room, notice(`c${n}`, "critical", 2), { foreign: true });
    report(room, notice("healthy", "critical"), { foreign: true, note: { text: `note ${n}`, author: "a child" } });
  }
  assert.equal(stage.shown.length, 10);
  assert.equal(room.leftOut, 1590);
  stage.advance(GATHER_MS);
  assert.equal(stage.woken.length, 0);
  const { content = "" } = room.withPrompt(true) ?? {};
  assert.ok(content.length < 6000, `${content.length} characters`);
  assert.match(content, /Note by "a child":\n> note \d+/);
});

test("matters go on in the next instance of the extension", () => {
  const stage = new Stage();
  const before = new AlertRoom(stage);
  report(before, notice("told"));
  assert.ok(before.beforeCall());
  report(before, notice("untold"));
  const after = new AlertRoom(stage);
  after.queue.restore(JSON.parse(JSON.stringify(before.queue.snapshot())));
  const { content = "" } = after.beforeCall() ?? {};
  assert.match(content, /job of untold/);
  assert.doesNotMatch(content, /job of told/);
});

/** Numbers below a bound, the same for each seed. */
function dice(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 12345;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 3266489917) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

interface Life {
  latest: Notice;
  ordinal: number;
  over: boolean;
}

/** One random life of a main session; every claim is checked as it goes. */
function play(seed: number): void {
  const roll = dice(seed);
  const stage = new Stage({ oneShot: roll(5) === 0 });
  stage.wakeOnCritical = roll(4) !== 0;
  const room = new AlertRoom(stage);
  const lives = new Map<string, Life>();
  const said = new Map<string, number>();
  const wokenFor = new Set<string>();
  let incident = 0;
  let aborted = false;

  const check = (message: ModelMessage | undefined): void => {
    if (message === undefined) return;
    for (const [words] of message.content.matchAll(/evidence \d+\./g)) said.set(words, (said.get(words) ?? 0) + 1);
    for (const [id, life] of lives) {
      const state = stage.stateOf(id);
      const words = life.latest.analysis.reasons[0] ?? "";
      if (!message.content.includes(words)) continue;
      if (state.ended === undefined) assert.ok(!life.over && state.stuck, `seed ${seed}: stale ${words}`);
      if (aborted) assert.notEqual(id, MAIN, `seed ${seed}: the user had stopped it`);
    }
  };
  const wokenBefore = () => stage.woken.length;

  for (let step = 0; step < 60; step++) {
    const id = [MAIN, "a", "b", "c"][roll(4)] ?? "a";
    const life = lives.get(id);
    const woken = wokenBefore();
    switch (roll(9)) {
      case 0:
      case 1:
      case 2: {
        if (stage.states.get(id)?.ended !== undefined) break;
        stage.states.set(id, { stuck: true, activeAt: stage.time });
        const goesOn = life !== undefined && !life.over;
        const ordinal = goesOn ? life.ordinal + 1 : 1;
        if (!goesOn) incident += 1;
        const name = goesOn ? life.latest.incident : `i${incident}`;
        const latest = notice(id, ordinal > 1 ? "critical" : "warning", ordinal, { incident: name });
        lives.set(id, { latest, ordinal, over: false });
        report(room, latest);
        break;
      }
      case 3:
        if (life === undefined || life.over || stage.states.get(id)?.ended !== undefined) break;
        life.over = true;
        stage.states.set(id, { stuck: false, activeAt: stage.time });
        report(room, over(life.latest));
        break;
      case 4:
        if (id === MAIN) break;
        if (stage.states.get(id)?.ended === undefined) {
          stage.states.set(id, { stuck: false, activeAt: stage.time, ended: "completed" });
          if (roll(2) === 0) room.refresh();
        } else {
          // It is resumed: another life.
          stage.states.set(id, { stuck: false, activeAt: stage.time });
          lives.delete(id);
        }
        break;
      case 5:
        if (!stage.idle) check(room.beforeCall());
        break;
      case 6: {
        const person = roll(2) === 0;
        if (person) aborted = false;
        if (person && lives.has(MAIN)) {
          lives.delete(MAIN);
          stage.states.set(MAIN, { stuck: false, activeAt: stage.time });
        }
        check(room.withPrompt(person));
        stage.idle = false;
        break;
      }
      case 7:
        if (stage.idle) break;
        stage.idle = true;
        {
          const stopped = roll(4) === 0;
          aborted ||= stopped;
          room.settled(stopped);
        }
        break;
      case 8:
        stage.advance(roll(2) === 0 ? 1000 : GATHER_MS);
        break;
    }
    for (const message of stage.woken.slice(woken)) {
      assert.ok(stage.wakeOnCritical && stage.idle && !stage.oneShot && !aborted, `seed ${seed}: woken`);
      const critical = message.details.notices.filter(({ targetId, severity }) => {
        return severity === "critical" && targetId !== MAIN && stage.stateOf(targetId).ended === undefined;
      });
      const keys = critical.map(({ targetId, incident }) => `${targetId} ${incident}`);
      assert.ok(
        keys.some((key) => !wokenFor.has(key)),
        `seed ${seed}: woken again for ${keys}`,
      );
      for (const key of keys) wokenFor.add(key);
      check(message);
      stage.idle = false;
    }
  }

  for (const [words, times] of said) assert.equal(times, 1, `seed ${seed}: ${words} said ${times} times`);
  for (const { text } of stage.shown) {
    const words = /evidence \d+\./.exec(text)?.[0];
    if (words === undefined) continue;
    const shown = stage.shown.filter((one) => one.text.includes(words)).length;
    assert.equal(shown, 1, `seed ${seed}: ${words} shown ${shown} times`);
  }
  const findings = stage.published.filter((one) => one.startsWith("finding"));
  assert.equal(new Set(findings).size, findings.length, `seed ${seed}: published twice`);
  // Nothing is lost: when the model is called at last, it knows the latest state of what still goes on.
  aborted = false;
  const last = room.withPrompt(false);
  check(last);
  const final = room.withPrompt(true);
  check(final);
  for (const [id, life] of lives) {
    const state = stage.stateOf(id);
    if (id === MAIN || life.over || state.ended !== undefined || !state.stuck) continue;
    const words = life.latest.analysis.reasons[0] ?? "";
    const brief = [last, final].some((message) =>
      message?.details.notices.some((one) => one.analysis.reasons[0] === words),
    );
    assert.ok(said.has(words) || brief, `seed ${seed}: ${words} was never said`);
  }
  assert.equal(room.beforeCall(), undefined, `seed ${seed}: something is left`);
}

test("any sequence: nothing twice, nothing lost, nothing stale, nobody woken without need", () => {
  for (let seed = 1; seed <= 3000; seed++) play(seed);
});
