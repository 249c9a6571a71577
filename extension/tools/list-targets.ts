// watchdog_list_targets: the sessions of this tree and how they are. Reads only.

import { Type } from "typebox";
import type { TargetSummary } from "../../index.js";
import { holding, type ToldIntervention } from "../alerts/interventions.ts";
import { ago, plural, stateOf, usage } from "../format.ts";
import { oneLine } from "../sanitize.ts";
import { interventionWords, limitsOf, lostEvents, totalsWords } from "../target-words.ts";
import { nameOf, type Reply, type ToolScope, type WatchdogTool } from "./common.ts";
import { asTree, type TreeRow } from "./tree.ts";

const usageSchema = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
  usd: Type.Number({ description: "US dollars; 0 where unknown" }),
});

const interventionSchema = Type.Object({
  kind: Type.String(),
  reason: Type.String(),
  severity: Type.String(),
  suggestedAction: Type.String(),
  autoExecute: Type.Boolean({ description: "true: the user allowed it to be done without asking" }),
  at: Type.Number({ description: "When it was told, ms since the epoch" }),
});

const targetSchema = Type.Object({
  id: Type.String({ description: "Session id" }),
  aliases: Type.Array(Type.String(), { description: "Agent ids and run ids of the same target" }),
  name: Type.String(),
  kind: Type.Union([Type.Literal("task"), Type.Literal("watchdog"), Type.Literal("unknown")]),
  status: Type.String(),
  parentId: Type.Optional(Type.String()),
  depth: Type.Number({ description: "0 for a main session, 1 for its children, and so on" }),
  agentType: Type.Optional(Type.String()),
  backend: Type.Optional(Type.String({ description: "Package that started it" })),
  agent: Type.Optional(
    Type.Object(
      {
        agentId: Type.String({ description: "What the package's own tools take" }),
        steer: Type.Optional(Type.String({ description: "A call of the package's own steering tool" })),
      },
      { description: "Only where the package knows the session beyond doubt" },
    ),
  ),
  visibility: Type.String({
    description:
      "full; no_open_tools: only finished messages are seen; result_only: only what its parent's call shows; unseen: nothing is seen of it",
  }),
  lostEvents: Type.Number({ description: "Events of a process of its own that never arrived here" }),
  link: Type.Optional(Type.String({ description: "exact: may be steered; inferred or none: never" })),
  startedAt: Type.Number({ description: "ms since the epoch" }),
  lastActiveAt: Type.Number({ description: "ms since the epoch" }),
  endedAt: Type.Optional(Type.Number({ description: "ms since the epoch" })),
  toolCallCount: Type.Number(),
  patchCount: Type.Number(),
  repeatedCommandCount: Type.Number(),
  repeatedMessageCount: Type.Number(),
  likelyStuck: Type.Boolean(),
  usage: usageSchema,
  usageWithChildren: Type.Optional(usageSchema),
  interventions: Type.Array(interventionSchema, {
    description: "What called for a hand, was told and is not over; the newest first",
  }),
});

export const listTargets: WatchdogTool = {
  name: "watchdog_list_targets",
  label: "Watchdog: list targets",
  description:
    "List the sessions that the watchdog watches in this session tree: the main agent and its sub-agents, with state, " +
    "tool calls, edits, repetitions, tokens and cost, whether each one is likely stuck, and what else called for a hand.",
  promptSnippet: "List the watched agents with their state, repetitions and cost",
  promptGuidelines: [
    "Use watchdog_list_targets to find the ids of running agents before you call another watchdog_* tool.",
  ],
  annotations: { readOnlyHint: true, openWorldHint: false },
  parameters: Type.Object({
    includeCompleted: Type.Optional(
      Type.Boolean({ description: "Also list agents that have ended. Default: false", default: false }),
    ),
  }),
  outputSchema: Type.Object({
    targets: Type.Array(targetSchema, { description: "Children after their parents" }),
    totals: Type.Intersect([usageSchema, Type.Object({ targets: Type.Number() })], {
      description: "Of the whole tree, with those that have ended",
    }),
  }),
  summary: (args) => (args.includeCompleted === true ? "with completed" : ""),
  run: (params, scope) => run(params.includeCompleted === true, scope),
};

function run(includeCompleted: boolean, { store, session, main, now }: ToolScope): Reply {
  const all = store.targets(session.rootId, true);
  const rows = asTree(all, (target) => includeCompleted || target.endedAt === undefined);
  const stuck = rows.filter(({ target }) => target.likelyStuck).length;
  const totals = store.treeUsage(session.rootId);
  const head = `${plural(rows.length, "target")}${stuck > 0 ? `, ${stuck} likely stuck` : ", none likely stuck"}`;
  const agentOf = ({ id }: TargetSummary) => {
    const name = main?.agentOf?.(id);
    return name && { agentId: name.agentId, steer: name.steer };
  };
  const told = (target: TargetSummary) => holding(main, target);
  return {
    text: [
      head,
      ...rows.map((row) => `${"  ".repeat(row.depth)}- ${describe(row, told(row.target), now)}`),
      `Together, with all that have ended: ${totalsWords(totals)}`,
    ].join("\n"),
    data: {
      targets: rows.map((row) => ({ ...published(row, told(row.target)), agent: agentOf(row.target) })),
      totals: { ...totals, targets: all.length },
    },
  };
}

function describe({ target, total, below }: TreeRow, told: readonly ToldIntervention[], now: number): string {
  const aliases = target.aliases.filter((alias) => alias !== target.id);
  return [
    `${nameOf(target)} ${oneLine(target.id, 80)}${aliases.length > 0 ? ` (${aliases.map((id) => oneLine(id, 80)).join(", ")})` : ""}`,
    `${target.kind}, ${stateOf(target)}`,
    ...interventionWords(told, now),
    ...(target.backend === undefined ? [] : [`by ${oneLine(target.backend, 80)}`]),
    plural(target.toolCallCount, "tool call"),
    plural(target.patchCount, "edit"),
    `repeated: ${plural(target.repeatedCommandCount, "command")}, ${plural(target.repeatedMessageCount, "message")}`,
    usage(target.usage),
    ...(below > 0 ? [`with the ${below} below it ${usage(total)}`] : []),
    `last active ${ago(target.lastActiveAt, now)}${target.lastActiveAt + 2000 > now ? "" : " ago"}`,
    ...limitsOf(target, now),
  ].join("; ");
}

function published({ target, depth, total, below }: TreeRow, told: readonly ToldIntervention[]) {
  return {
    id: target.id,
    aliases: target.aliases.map((alias) => oneLine(alias, 120)),
    name: oneLine(target.name, 120),
    kind: target.kind,
    status: target.status,
    parentId: target.parentId,
    depth,
    agentType: target.agentType === undefined ? undefined : oneLine(target.agentType, 120),
    backend: target.backend === undefined ? undefined : oneLine(target.backend, 120),
    visibility: target.visibility ?? "full",
    lostEvents: lostEvents(target),
    link: target.link,
    startedAt: target.startedAt,
    lastActiveAt: target.lastActiveAt,
    endedAt: target.endedAt,
    toolCallCount: target.toolCallCount,
    patchCount: target.patchCount,
    repeatedCommandCount: target.repeatedCommandCount,
    repeatedMessageCount: target.repeatedMessageCount,
    likelyStuck: target.likelyStuck,
    usage: target.usage,
    usageWithChildren: below > 0 ? total : undefined,
    interventions: [...told].reverse().map(({ kind, reason, severity, suggestedAction, autoExecute, at }) => ({
      kind: oneLine(kind, 40),
      reason: oneLine(reason),
      severity,
      suggestedAction,
      autoExecute,
      at,
    })),
  };
}
