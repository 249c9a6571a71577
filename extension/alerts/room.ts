// The one place where it is decided when somebody hears of a matter of a main session: the screen at once, the main
// agent's model right before a call that it makes anyway. Pi is met through `Outlet`, so that this can be tested alone.
//
// The first rule: watching costs nothing. No message starts a model call, with one exception: an idle main agent is woken
// once for an incident of a running child that is critical.

import type { Notice, Severity } from "../../index.js";
import { Allowance } from "../link/budget.ts";
import { AlertQueue, type Item, type Matter, type Note, type TargetState } from "./queue.ts";
import type { RescueText } from "./rescue.ts";
import { type Address, closingLine, endedLine, headline, messageText } from "./text.ts";

/** A message for the main agent's model. */
export interface ModelMessage {
  customType: "watchdog-alert" | "watchdog-rescue";
  content: string;
  details: { notice: Notice; notices: Notice[] };
}

export type Level = "info" | "warning" | "error";

/** What the room needs of the session and the store. */
export interface Outlet {
  readonly mainId: string;
  /** Somebody can be shown something while Pi runs; else what is left is written to stderr at the end. */
  readonly hasScreen: boolean;
  /** The run ends with its prompt (`-p`, json): nobody is woken. */
  readonly oneShot: boolean;
  config(): { wakeOnCritical: boolean };
  rescue(): RescueText;
  now(): number;
  isIdle(): boolean;
  stateOf(targetId: string): TargetState;
  address(targetId: string): Address | undefined;
  show(text: string, level: Level): void;
  /** Other programs hear of a state of a matter. `ended`: how its target ended. */
  publish(state: "finding" | "over" | "rescue", matter: Matter, ended?: string): void;
  /** A line for whoever started a run without a screen. */
  write(line: string): void;
  /** Starts a turn of the idle main agent with the message. False when the session is gone. */
  wake(message: ModelMessage): boolean;
  /** Runs `task` after `ms`; returns what cancels it. */
  after(ms: number, task: () => void): () => void;
}

export interface Cause {
  note?: Note;
  /** A remote process or the model of a child brought it about. */
  foreign?: boolean;
}

/** Critical children are gathered for so long, so that the main agent is woken for all of them together. */
export const GATHER_MS = 10_000;
/** Alerts that remote processes and children's models may cause, at once and then one in so many ms. */
const FOREIGN_AT_ONCE = 10;
const FOREIGN_EVERY_MS = 10_000;
/** Lines on stderr at the end. */
const CLOSING_LINES = 20;

const LEVELS: Record<Severity, Level> = { info: "info", warning: "warning", critical: "error" };

export class AlertRoom {
  readonly queue = new AlertQueue();
  readonly #outlet: Outlet;
  readonly #foreign = new Allowance(FOREIGN_AT_ONCE, FOREIGN_EVERY_MS);
  /** Matters whose trouble the screen has shown and whose end it has not. */
  readonly #onScreen = new Set<string>();
  /** The same for other programs. */
  readonly #published = new Set<string>();
  /** The user stopped the main agent and has not spoken since. */
  #aborted = false;
  #cancelWake: (() => void) | undefined;
  #leftOut = 0;

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
  }

  /** Foreign alerts that came faster than they may. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Takes up what holds; undefined when it came out of a spent budget. Shows nothing yet, see {@link show}. */
  report(notice: Notice, { note, foreign = false }: Cause = {}): { matter: Matter; news: boolean } | undefined {
    const now = this.#outlet.now();
    if (foreign && notice.kind !== "over" && !this.#foreign.take(now)) {
      this.#leftOut += 1;
      return undefined;
    }
    return this.queue.report(notice, now, { foreign, ...(note === undefined ? {} : { note }) });
  }

  /** The screen hears of the present state of a matter, and an idle main agent where it must. `more` ends the line. */
  show(matter: Matter, notice: Notice, more = ""): void {
    const { mainId, hasScreen } = this.#outlet;
    const own = notice.targetId === mainId;
    if (own && this.#aborted) return;
    if (notice.kind !== "over") this.#publish(matter);
    const isVerdict = notice.intervention === undefined && matter.note === undefined;
    // A stuck main agent reads its rescue, and the user with it; see `settled` for one that ends before.
    if (own && isVerdict && notice.kind !== "over" && notice.severity !== "info") return;
    if (notice.kind === "over") this.#showOver(matter, notice);
    else if (hasScreen) {
      if (notice.severity !== "info") this.#onScreen.add(matter.key);
      this.#outlet.show(`${headline(notice, matter.note)}${more}`, LEVELS[notice.severity]);
    }
    this.#considerWake();
  }

  #publish(matter: Matter): void {
    this.#published.add(matter.key);
    this.#outlet.publish("finding", matter);
  }

  #publishOver(matter: Matter, ended?: string): void {
    if (this.#published.delete(matter.key)) this.#outlet.publish("over", matter, ended);
  }

  #showOver(matter: Matter, notice: Notice): void {
    // What was stopped or has ended does not go on; that it ended is shown as such.
    if (this.#outlet.stateOf(notice.targetId).ended !== undefined) {
      this.refresh();
      return;
    }
    this.#publishOver(matter);
    const known = this.#onScreen.delete(matter.key);
    const wasShown = known || matter.heard !== undefined || matter.closed;
    if (this.#outlet.hasScreen && wasShown) this.#outlet.show(headline(notice), "info");
  }

  /** Time has passed, or a child has ended: the screen hears of ends, once for each target. */
  refresh(): void {
    const ended = new Map<string, { name: string; status: string }>();
    for (const matter of this.queue.all()) {
      if (!this.#onScreen.has(matter.key) && !this.#published.has(matter.key)) continue;
      const { targetId, targetName } = matter.notice;
      const status = this.#outlet.stateOf(targetId).ended;
      if (status === undefined) continue;
      this.#publishOver(matter, status);
      if (!this.#onScreen.has(matter.key)) continue;
      this.#onScreen.delete(matter.key);
      ended.set(targetId, { name: targetName, status });
    }
    for (const { name, status } of ended.values()) this.#outlet.show(endedLine(name, status), "info");
  }

  /** The message for a model call that comes next in any case, with everything that is pending. */
  beforeCall(): ModelMessage | undefined {
    const { mainId } = this.#outlet;
    const pending = this.queue.pending((id) => this.#outlet.stateOf(id));
    const items = pending.filter(({ matter, state }) => {
      if (this.#aborted && matter.notice.targetId === mainId) return false;
      // The main agent knows by itself that it does something else.
      return state === "holds" || !this.#isOwnVerdict(matter);
    });
    return items.length === 0 ? undefined : this.#message(items);
  }

  /** The message that goes with a prompt. A person's word answers what the main agent itself was stuck in. */
  withPrompt(byPerson: boolean): ModelMessage | undefined {
    if (byPerson) {
      this.#aborted = false;
      this.queue.drop((matter) => this.#isOwnVerdict(matter) && !outlastsPerson(matter.notice));
    }
    this.#stopGathering();
    return this.beforeCall();
  }

  #message(items: readonly Item[]): ModelMessage | undefined {
    const [first] = items;
    if (first === undefined) return undefined;
    const { mainId, address, rescue } = this.#outlet;
    const content = messageText(items, { mainId, rescue: rescue(), address: (id) => address(id) });
    const own = items.find(({ matter }) => this.#isOwnVerdict(matter));
    this.queue.heard(items);
    if (own !== undefined) this.#outlet.publish("rescue", own.matter);
    return {
      customType: own === undefined ? "watchdog-alert" : "watchdog-rescue",
      content,
      details: { notice: (own ?? first).matter.notice, notices: items.map(({ matter }) => matter.notice) },
    };
  }

  /** The main agent has stopped. What it did not hear waits for the next prompt; the user hears of it now. */
  settled(aborted: boolean): void {
    this.#aborted ||= aborted;
    if (!this.#aborted && this.#outlet.hasScreen) {
      for (const { matter, state } of this.queue.pending((id) => this.#outlet.stateOf(id))) {
        if (state !== "holds" || !this.#isOwnVerdict(matter) || this.#onScreen.has(matter.key)) continue;
        this.#onScreen.add(matter.key);
        this.#outlet.show(headline(matter.notice), LEVELS[matter.notice.severity]);
      }
    }
    this.#considerWake();
  }

  /** The end of the session: whoever reads no screen reads what no model was told of. */
  close(goesOn: boolean): void {
    this.#stopGathering();
    if (goesOn || this.#outlet.hasScreen) return;
    const lines = this.queue
      .unheard()
      .filter((matter) => matter.notice.severity !== "info")
      .map((matter) => closingLine(matter, this.#outlet.stateOf(matter.notice.targetId).ended));
    for (const line of lines.slice(0, CLOSING_LINES)) this.#outlet.write(line);
    const more = lines.length - CLOSING_LINES + this.#leftOut;
    if (lines.length > CLOSING_LINES || this.#leftOut > 0)
      this.#outlet.write(`Watchdog: ${more} more alerts are not listed`);
  }

  #isOwnVerdict({ notice, note }: Matter): boolean {
    return notice.targetId === this.#outlet.mainId && notice.intervention === undefined && note === undefined;
  }

  /** Running children that are critical, and for which nobody was woken yet. */
  #wakeable(): Item[] {
    return this.queue
      .pending((id) => this.#outlet.stateOf(id))
      .filter(({ matter, state }) => {
        const { severity, targetId } = matter.notice;
        const critical = severity === "critical" && matter.heard?.severity !== "critical";
        return state === "holds" && critical && !matter.woken && !matter.foreign && targetId !== this.#outlet.mainId;
      });
  }

  #mayWake(): boolean {
    const { oneShot, config, isIdle } = this.#outlet;
    return !oneShot && !this.#aborted && config().wakeOnCritical && isIdle();
  }

  #considerWake(): void {
    if (this.#cancelWake !== undefined || !this.#mayWake() || this.#wakeable().length === 0) return;
    this.#cancelWake = this.#outlet.after(GATHER_MS, () => {
      this.#cancelWake = undefined;
      this.#wake();
    });
  }

  #stopGathering(): void {
    this.#cancelWake?.();
    this.#cancelWake = undefined;
  }

  #wake(): void {
    // In the meantime they may have recovered or ended, or the main agent may have been prompted.
    const critical = this.#mayWake() ? this.#wakeable() : [];
    if (critical.length === 0) return;
    for (const { matter } of critical) matter.woken = true;
    const message = this.beforeCall();
    if (message !== undefined) this.#outlet.wake(message);
  }
}

/** A person may say "go on" to an agent that announces and does nothing: that does not answer it. */
function outlastsPerson({ analysis }: Notice): boolean {
  return analysis.evidence.some(({ type }) => type === "narration");
}
