// watchdog_list_targets: the sessions of this tree and how they are. Reads only.

import { Type } from "typebox";
import type { TargetSummary } from "../../index.js";
import { ago, plural, stateOf, usage } from "../format.ts";
import { oneLine } from "../sanitize.ts";
import { nameOf, type Reply, type ToolScope, type WatchdogTool } from "./common.ts";
import { asTree } from "./tree.ts";

const usageSchema = Type.Object({
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Number(),
  cacheWrite: Type.Number(),
  usd: Type.Number({ description: "US dollars; 0 where unknown" }),
});

const targetSchema = Type.Object({
  id: Type.String({ description: "Session id" }),
  aliases: Type.Array(Type.String(), { description: "Agent ids and run ids of the same target" }),
  name: Type.String(),
  kind: Type.Union([Type.Literal("task"), Type.Literal("watchdog"), Type.Literal("unknown")]),
  status: Type.String(),
  parentId: Type.Optional(Type.String()),
  agentType: Type.Optional(Type.String()),
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
});

export const listTargets: WatchdogTool = {
  name: "watchdog_list_targets",
  label: "Watchdog: list targets",
  description:
    "List the sessions that the watchdog watches in this session tree: the main agent and its sub-agents, with state, " +
    "tool calls, edits, repetitions, tokens and cost, and whether each one is likely stuck.",
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
  outputSchema: Type.Object({ targets: Type.Array(targetSchema) }),
  summary: (args) => (args.includeCompleted === true ? "with completed" : ""),
  run: (params, scope) => run(params.includeCompleted === true, scope),
};

function run(includeCompleted: boolean, { store, session, now }: ToolScope): Reply {
  const targets = store.targets(session.rootId, includeCompleted);
  const stuck = targets.filter((target) => target.likelyStuck).length;
  const head = `${plural(targets.length, "target")}${stuck > 0 ? `, ${stuck} likely stuck` : ", none likely stuck"}`;
  const rows = asTree(targets).map(({ target, depth }) => `${"  ".repeat(depth)}- ${describe(target, now)}`);
  return { text: [head, ...rows].join("\n"), data: { targets: targets.map(published) } };
}

function describe(target: TargetSummary, now: number): string {
  const aliases = target.aliases.filter((alias) => alias !== target.id);
  const parts = [
    `${nameOf(target)} ${target.id}${aliases.length > 0 ? ` (${aliases.map((id) => oneLine(id, 80)).join(", ")})` : ""}`,
    `${target.kind}, ${stateOf(target)}`,
    plural(target.toolCallCount, "tool call"),
    plural(target.patchCount, "edit"),
    `repeated: ${plural(target.repeatedCommandCount, "command")}, ${plural(target.repeatedMessageCount, "message")}`,
    usage(target.usage),
    `last active ${ago(target.lastActiveAt, now)}${target.lastActiveAt + 2000 > now ? "" : " ago"}`,
  ];
  if (target.link !== undefined && target.link !== "exact") parts.push(`link ${target.link}: cannot be steered`);
  return parts.join("; ");
}

function published(target: TargetSummary) {
  return {
    id: target.id,
    aliases: target.aliases.map((alias) => oneLine(alias, 120)),
    name: oneLine(target.name, 120),
    kind: target.kind,
    status: target.status,
    parentId: target.parentId,
    agentType: target.agentType === undefined ? undefined : oneLine(target.agentType, 120),
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
  };
}
