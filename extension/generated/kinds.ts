// Made by `npm run generate` from the Rust core, where each kind is declared in the file of its rule. Do not edit.

import type { EvidenceType, InterventionKind } from "../../index.js";

export interface InterventionInfo {
  /** Who hears of it besides the screen: nobody, the main agent's model, or also the agents that it concerns. */
  readonly audience: "people" | "main_agent" | "parties";
  /** The state of the agent; reads after "is". */
  readonly state: string;
  /** The same in a word or two, for columns. */
  readonly brief: string;
  /** The same for the footer, which counts agents in it; empty: not shown there. */
  readonly footer: string;
  /** What the agent itself is advised; empty where the proposed action says it all. */
  readonly itself: readonly string[];
  /** What its main agent is advised. `{steer}`: a call that steers it; `{stop}`: the command that ends it. */
  readonly others: readonly string[];
  /** The agent's next activity shows that it is over. */
  readonly untilActive: boolean;
  /** Holds when the agent has ended. */
  readonly outlives: boolean;
  /** It comes with a limit: a remark on the way there does not say that it was reached. */
  readonly limit: boolean;
}

export const INTERVENTIONS: Readonly<Record<InterventionKind, InterventionInfo>> = {
  stream_loop: {
    audience: "people",
    brief: "going round",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: false,
    state: "going round in one message",
    untilActive: false,
  },
  polling: {
    audience: "people",
    brief: "polling",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: false,
    state: "polling instead of waiting",
    untilActive: false,
  },
  denied: {
    audience: "people",
    brief: "refused",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: false,
    state: "refused again and again",
    untilActive: false,
  },
  provider_failure: {
    audience: "people",
    brief: "provider",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: false,
    state: "failed by its provider",
    untilActive: false,
  },
  compaction_loop: {
    audience: "people",
    brief: "compacting",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: false,
    state: "compacting again and again",
    untilActive: false,
  },
  empty_result: {
    audience: "people",
    brief: "no result",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: true,
    state: "without a result",
    untilActive: false,
  },
  timeout: {
    audience: "main_agent",
    brief: "silent",
    footer: "silent",
    itself: [],
    limit: true,
    others: [],
    outlives: false,
    state: "not responding",
    untilActive: true,
  },
  excessive_cost: {
    audience: "main_agent",
    brief: "cost limit",
    footer: "",
    itself: [
      "Tell the user what was spent and ask whether to go on before you spend more.",
      "The user can raise the limit: /watchdog set costLimitUsd <dollars>",
    ],
    limit: true,
    others: [
      "Tell the user what was spent and ask whether it shall go on. The user can end it by {stop}",
      "The user can raise the limit: /watchdog set costLimitUsd <dollars>",
    ],
    outlives: false,
    state: "over its cost limit",
    untilActive: false,
  },
  deadlock: {
    audience: "parties",
    brief: "deadlock",
    footer: "deadlocked",
    itself: ["Do not go on waiting: answer, or end what you wait for."],
    limit: false,
    others: ["Answer what it waits for, or end the wait: {steer}. The user can end it by {stop}"],
    outlives: false,
    state: "in a deadlock",
    untilActive: true,
  },
  file_conflict: {
    audience: "parties",
    brief: "conflict",
    footer: "in conflict",
    itself: ["Agree on who changes the file, and read it again before your next change."],
    limit: false,
    others: ["Decide which agent changes the file, and have it read again before the next change."],
    outlives: false,
    state: "in a file conflict",
    untilActive: false,
  },
  orphan: {
    audience: "main_agent",
    brief: "orphan",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: true,
    state: "left without an owner",
    untilActive: false,
  },
  spawn_depth: {
    audience: "main_agent",
    brief: "too deep",
    footer: "",
    itself: ["Do the work where it is instead of starting another agent for it."],
    limit: false,
    others: ["Do the work where it is instead of starting another agent for it."],
    outlives: false,
    state: "nested too deep",
    untilActive: false,
  },
  plan_lag: {
    audience: "main_agent",
    brief: "past plan",
    footer: "",
    itself: [],
    limit: false,
    others: [],
    outlives: false,
    state: "working past its plan",
    untilActive: false,
  },
};

/** Evidence that an agent ends its run with: it holds until the agent does something. */
export const AT_THE_END: ReadonlySet<EvidenceType> = new Set(["empty_turns", "narration"]);
