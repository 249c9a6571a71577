// Healthy families that one change makes sick: a gap in time, an event that is missing, another word in a command.

import type { TraceEvent } from "../../../index.d.ts";
import { families } from "./index.ts";
import { perform } from "./stage.ts";

/** A trace with one thing wrong in it. */
export interface Sick {
  events: TraceEvent[];
  /** Seconds at which it begins to be wrong. */
  from: number;
  /** Seconds after which it is right again; absent: it is not until the end. */
  over?: number;
}

export interface FamilySickness {
  name: string;
  /** Name of the healthy family. */
  of: string;
  change(events: TraceEvent[]): Sick;
  /** Rules that may speak of it, the one that must first. */
  rules: readonly string[];
  agent: string;
  /** Seconds from its beginning in which it must not, and must, have been told. */
  notBefore: number;
  within: number;
  /** How often the first rule tells it: at every doubling of the time or the count. */
  times: number;
  /** What the reason must say. */
  says: RegExp;
}

/** The healthy trace and what was made of it. */
export function sicken({ of, change }: FamilySickness): Sick {
  const scenario = families.find((candidate) => candidate.name === of);
  if (!scenario) throw new Error(`no family is named ${of}`);
  return change(perform(scenario));
}

type Test = (event: TraceEvent) => boolean;
type Fields = Record<string, unknown>;

function field(event: TraceEvent, name: string): unknown {
  return (event as unknown as Fields)[name];
}

const by =
  (agent: string, fields: Fields = {}): Test =>
  (event) =>
    (event.agent ?? "main") === agent && Object.entries(fields).every(([name, value]) => field(event, name) === value);

const life = (agent: string, event: string): Test => by(agent, { type: "lifecycle", event });

/** The call of a command or of a path, whoever makes it. */
const calls =
  (text: string, agent?: string): Test =>
  (event) =>
    event.type === "tool_call" &&
    JSON.stringify(event.args).includes(text) &&
    (agent === undefined || event.agent === agent);

function index(events: readonly TraceEvent[], test: Test, nth = 0): number {
  const found = events.flatMap((event, at) => (test(event) ? [at] : []));
  const at = nth < 0 ? found.at(nth) : found[nth];
  if (at === undefined) throw new Error("the healthy trace has no such event");
  return at;
}

/** Nothing happens for so long before the event; the sickness began with what its agent did last. */
function gap(events: TraceEvent[], at: number, seconds: number): Sick {
  const { agent } = events[at]!;
  const before = events.slice(0, at).findLast((event) => event.agent === agent)!;
  const later = events.slice(at).map((event) => ({ ...event, at: event.at + seconds }));
  return { events: [...events.slice(0, at), ...later], from: before.at, over: later[0]!.at };
}

/** The trace without these calls, their results and the messages that asked for them. */
function withoutCalls(events: TraceEvent[], test: Test): TraceEvent[] {
  const turn = (event: TraceEvent) => `${event.agent} ${field(event, "turn")}`;
  const gone = new Set(events.filter((event) => event.type === "tool_call" && test(event)).map(turn));
  return events.filter((event) => field(event, "turn") === undefined || !gone.has(turn(event)));
}

function changed(events: TraceEvent[], at: number, fields: Fields): Sick {
  const event = { ...events[at]!, ...fields } as TraceEvent;
  return { events: events.with(at, event), from: event.at };
}

function command(events: TraceEvent[], agent: string, healthy: string, sick: string): Sick {
  return changed(events, index(events, calls(healthy, agent)), { args: { command: sick } });
}

/** Events of an agent's own that come after the one at the place, half a second apart. */
function added(events: TraceEvent[], after: number, more: Fields[]): TraceEvent[] {
  const { at } = events[after]!;
  const all = [...events, ...more.map((fields, n) => ({ at: at + 0.5 * (n + 1), ...fields }) as TraceEvent)];
  return all
    .map((event, n) => ({ event, n }))
    .sort((a, b) => a.event.at - b.event.at || a.n - b.n)
    .map(({ event }) => event);
}

const THIRTY = "a foreground child of thirty minutes";
const CHAIN = "a chain of children, each with the result of the one before";
const TURNS = "one file changed by several children in turn, each after reading it";
const GIT = "git within one's own bounds";
const ASKING = "a parent that waits for its background children by asking for their results";
const NESTING = "nesting five deep";

const SILENCE = ["unresponsive", "intervention:timeout"];
const LONG_CALL = ["intervention:timeout"];
const CONFLICT = ["intervention:file_conflict"];
const DEADLOCK = ["intervention:deadlock"];

export const familySicknesses: readonly FamilySickness[] = [
  {
    name: "the model of a child hangs",
    of: THIRTY,
    change: (events) => gap(events, index(events, by("rewriter", { type: "assistant" }), 20), 3000),
    rules: SILENCE,
    agent: "rewriter",
    notBefore: 180,
    within: 195,
    times: 5,
    says: /no sign of it for 3 min/,
  },
  {
    name: "a build that does not come back in the time that it declared",
    of: "a child in a build that says it may take forty minutes",
    change: (events) => {
      const call = events[index(events, calls("make -j4"))]!;
      const result = by("builder", { type: "tool_result", callId: field(call, "callId") });
      return gap(events, index(events, result), 3000);
    },
    rules: SILENCE,
    agent: "builder",
    notBefore: 2430,
    within: 2445,
    times: 2,
    says: /longer than it said that it may take/,
  },
  {
    name: "a tool that never said how long it may take",
    of: CHAIN,
    change: (events) => gap(events, index(events, by("build", { type: "tool_result", tool: "bash" }), 1), 2500),
    rules: LONG_CALL,
    agent: "build",
    notBefore: 600,
    within: 615,
    // And once that it is past the limit of its age.
    times: 4,
    says: /a call of bash has run for 10 min/,
  },
  {
    name: "a child that does not come back after the reset of its limit",
    of: "rate limits that name their reset",
    change: (events) => {
      const retry = index(events, life("language-4", "auto_retry_start"));
      const next = events.findIndex((event, at) => at > retry && event.agent === "language-4");
      return gap(events, next, 800);
    },
    rules: SILENCE,
    agent: "language-4",
    notBefore: 7500 + 180,
    within: 7500 + 195,
    times: 3,
    says: /no sign of it for 3 min/,
  },
  {
    name: "thinking at xhigh that never ends",
    of: "xhigh thinking with twenty minutes of silence",
    change: (events) => gap(events, index(events, by("prover", { type: "assistant" }), 10), 1500),
    rules: SILENCE,
    agent: "prover",
    notBefore: 1800,
    within: 1815,
    times: 1,
    says: /no sign of it for 30 min/,
  },
  {
    name: "a child that never starts",
    of: CHAIN,
    change: (events) => gap(events, index(events, by("plan", { type: "assistant" })), 1000),
    rules: SILENCE,
    agent: "plan",
    notBefore: 180,
    within: 195,
    times: 3,
    says: /it has not done anything since it was started 3 min/,
  },
  {
    name: "a child that has finished and never returns",
    of: CHAIN,
    change: (events) => gap(events, index(events, life("review", "subagent_end")), 1000),
    rules: SILENCE,
    agent: "review",
    notBefore: 180,
    within: 195,
    times: 3,
    says: /it finished its work 3 min .*ago and has not returned|it finished its work 3 min ago/,
  },
  {
    name: "a compaction that hangs",
    of: "compactions in the main agent and in a child",
    change: (events) => gap(events, index(events, life("porter", "compaction_end")), 1500),
    rules: LONG_CALL,
    agent: "porter",
    notBefore: 600,
    within: 615,
    // And once that it is past the limit of its age.
    times: 3,
    says: /a call of compaction has run for 10 min/,
  },
  {
    name: "a blind write over another child's work",
    of: TURNS,
    change: (events) => {
      const edit = index(events, by("orders", { type: "tool_result", tool: "edit" }), 3);
      const read = events.findLastIndex(
        (event, at) => at < edit && calls("src/routes.ts", "orders")(event) && field(event, "tool") === "read",
      );
      const { callId } = events[read] as { callId: string };
      const written = events.findIndex(
        (event, at) => at > read && by("orders", { type: "tool_result", tool: "edit" })(event),
      );
      return { events: withoutCalls(events, by("orders", { callId })), from: events[written]!.at };
    },
    rules: CONFLICT,
    agent: "orders",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /over what "users" had changed .* before, without reading it/,
  },
  {
    name: "nobody reads what the others wrote",
    of: TURNS,
    change: (events) => {
      const blind = withoutCalls(events, (event) => calls("src/routes.ts")(event) && field(event, "tool") === "read");
      return { events: blind, from: blind[index(blind, by("orders", { type: "tool_result", tool: "edit" }))]!.at };
    },
    rules: CONFLICT,
    agent: "orders",
    notBefore: 0,
    within: 0,
    // Of seven clashes the first, the second and the fourth.
    times: 3,
    says: /over what "users" had changed/,
  },
  {
    name: "a stash of everything while another child has unsaved work",
    of: GIT,
    change: (events) => command(events, "left", "git stash push --", "git stash"),
    rules: CONFLICT,
    agent: "left",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /"git stash" would undo what "right" has not committed/,
  },
  {
    name: "a checkout of everything while another child has unsaved work",
    of: GIT,
    change: (events) => command(events, "right", "git checkout --", "git checkout ."),
    rules: CONFLICT,
    agent: "right",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /"git checkout \." would undo what "left" has not committed/,
  },
  {
    name: "a clean of the whole tree while another child has unsaved work",
    of: GIT,
    change: (events) => command(events, "left", "git clean -fd", "git clean -fd"),
    rules: CONFLICT,
    agent: "left",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /"git clean -fd" would undo what "right" has not committed/,
  },
  {
    name: "a child that goes on after the user stopped the main agent",
    of: "the user stops the main agent, and its children end with it",
    change: (events) => {
      const stop = index(events, life("main", "user_abort"));
      const lasting = events.filter((event, at) => at < stop || event.agent !== "first");
      const call = { agent: "first", turn: 99, callId: "on", tool: "bash" };
      const more = added(
        lasting,
        index(lasting, life("main", "agent_settled")),
        [
          {},
          {},
          {},
          { type: "tool_call", ...call, args: { command: "npm run build" } },
          { type: "tool_result", ...call, output: "built" },
          { type: "lifecycle", event: "subagent_end", agent: "first", status: "stopped" },
        ].map((fields) => ("type" in fields ? fields : { type: "lifecycle", event: "note" })),
      );
      return { events: more, from: events[stop]!.at };
    },
    rules: ["intervention:orphan"],
    agent: "first",
    notBefore: 1,
    within: 5,
    times: 1,
    says: /it goes on, 2 s after the user stopped the agent that started it/,
  },
  {
    name: "an idle parent that nobody tells of its children's end",
    of: "children in test runs of nine minutes",
    change: (events) => {
      const idle = index(events, by("main", { type: "assistant", text: "I go on when they report." }));
      const silent = events.filter((event, at) => at <= idle || event.agent !== undefined);
      return { events: silent, from: silent[silent.length - 1]!.at };
    },
    rules: DEADLOCK,
    agent: "main",
    notBefore: 60,
    within: 75,
    times: 1,
    says: /does not know that "linux" and "mac" have ended/,
  },
  {
    name: "a wait for a child that has ended",
    of: ASKING,
    change: (events) =>
      gap(events, index(events, by("main", { type: "tool_result", tool: "get_subagent_result" }), -1), 300),
    rules: DEADLOCK,
    agent: "main",
    notBefore: 30,
    // The wait began while the child was at work.
    within: 2000,
    times: 1,
    says: /"\w+" waits for "large", which has ended/,
  },
  {
    name: "a wait for a child that never was",
    of: ASKING,
    change: (events) =>
      changed(events, index(events, calls('"small","wait"')), { args: { agent_id: "tiny", wait: true } }),
    rules: DEADLOCK,
    agent: "main",
    notBefore: 30,
    within: 45,
    times: 1,
    says: /"\w+" waits for "tiny", and there is no such agent/,
  },
  {
    name: "a child that asks the parent that waits for it",
    of: CHAIN,
    change: (events) => {
      const result = index(events, by("build", { type: "tool_result" }), 3);
      const ask = { type: "lifecycle", event: "message_send", agent: "build", to: "main", replyWanted: true };
      const asking = added(events, result, [ask]);
      return gap(asking, index(asking, by("build", { type: "assistant" }), 4), 150);
    },
    rules: DEADLOCK,
    agent: "build",
    notBefore: 30,
    within: 45,
    times: 1,
    says: /"main" and "build" wait for each other/,
  },
  {
    name: "a child's question that nobody sees",
    of: "a child's question that is shown in the main session",
    change: (events) => {
      const unseen = events.filter((event) => !/^ui_prompt/.test(String(field(event, "event"))));
      const asked = unseen[index(unseen, life("cleaner", "permission_ask"))]!.at;
      return { events: unseen, from: asked, over: unseen[index(unseen, life("cleaner", "permission_reply"))]!.at };
    },
    rules: DEADLOCK,
    agent: "cleaner",
    notBefore: 180,
    within: 195,
    times: 1,
    says: /"[\w-]+" asked a question that nobody sees/,
  },
  {
    name: "a development server that outlives the child that started it",
    of: "development servers that end with who started them",
    change: (events) => changed(events, index(events, by("chromium", { alive: false })), { alive: true }),
    rules: ["intervention:orphan"],
    agent: "chromium",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /process 501 runs on although "chromium" has ended/,
  },
  {
    name: "a sixth level of children",
    of: NESTING,
    change: (events) => {
      const work = index(events, by("level-5", { type: "tool_result" }), 2);
      const six = { type: "lifecycle", agent: "level-6" };
      const deep = added(events, work, [
        { ...six, event: "subagent_spawn", parent: "level-5", task: "Do the rest." },
        { ...six, event: "subagent_end", status: "completed" },
      ]);
      return { events: deep, from: events[work]!.at };
    },
    rules: ["intervention:spawn_depth"],
    agent: "level-6",
    notBefore: 0,
    within: 1,
    times: 1,
    says: /it is 6 levels below the main session; the limit is 5/,
  },
  {
    name: "a child that is given the task of the agent above its parent",
    of: NESTING,
    change: (events) => {
      const task = field(events[index(events, life("level-1", "subagent_spawn"))]!, "task");
      return changed(events, index(events, life("level-3", "subagent_spawn")), { task });
    },
    rules: ["intervention:spawn_depth"],
    agent: "level-3",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /it was given the very task of "level-1", which is above it/,
  },
  {
    name: "the same review again and again, and nothing is changed",
    of: "the same review again after every change",
    change: (events) => {
      const still = withoutCalls(events, (event) => event.type === "tool_call" && event.tool === "edit");
      return { events: still, from: still[index(still, life("review-2", "subagent_spawn"))]!.at };
    },
    rules: ["intervention:spawn_depth"],
    agent: "review-2",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /the same task was given 3 times, each time after it had been done/,
  },
  {
    name: "a child that failed and is said to be done",
    of: "a failed child that is tried again",
    change: (events) => changed(events, index(events, life("importer-0", "subagent_end")), { status: "completed" }),
    rules: ["intervention:empty_result"],
    agent: "importer-0",
    notBefore: 0,
    within: 0,
    times: 1,
    says: /its result is worth nothing/,
  },
  {
    name: "a finished child that answers every question with the same words",
    of: "a finished child that is asked one question after the other",
    change: (events) => {
      const refusing = events.map((event) =>
        event.agent === "expert" && event.type === "assistant" && event.stopReason === "stop"
          ? { ...event, text: "I am done." }
          : event,
      );
      return { events: refusing, from: refusing[index(refusing, life("expert", "subagent_resume"), 1)]!.at };
    },
    rules: DEADLOCK,
    agent: "expert",
    notBefore: 0,
    within: 120,
    // After two fruitless answers, and after four.
    times: 2,
    says: /it has finished and was taken up again 3 times/,
  },
];
