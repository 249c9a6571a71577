// watchdog_detect_stuck: the detector's verdict on one target, now. Reads only.

import { Type } from "typebox";
import { rescueMessageOf } from "../alerts/rescue.ts";
import { plural } from "../format.ts";
import { oneLine } from "../sanitize.ts";
import { findTarget, nameOf, type Reply, type ToolScope, targetIdParameter, type WatchdogTool } from "./common.ts";

const evidenceSchema = Type.Object({
  type: Type.String(),
  summary: Type.String(),
  count: Type.Number({ description: "Rounds that repeat; for cycles: laps" }),
  period: Type.Optional(Type.Number({ description: "Steps in one lap" })),
  command: Type.Optional(Type.String()),
  firstAt: Type.Number({ description: "ms since the epoch" }),
  lastAt: Type.Number({ description: "ms since the epoch" }),
});

export const detectStuck: WatchdogTool = {
  name: "watchdog_detect_stuck",
  label: "Watchdog: detect stuck",
  description:
    "Say by deterministic rules whether one watched agent is stuck: the verdict, its confidence, the evidence, and a rescue message that would help.",
  promptSnippet: "Ask the rules whether a watched agent is stuck, with evidence",
  promptGuidelines: [
    "Call watchdog_detect_stuck before you report an agent as stuck, and quote its evidence in the report.",
  ],
  annotations: { readOnlyHint: true, openWorldHint: false },
  parameters: Type.Object({ targetId: targetIdParameter }),
  outputSchema: Type.Object({
    targetId: Type.String(),
    likelyStuck: Type.Boolean(),
    confidence: Type.Union([Type.Literal("low"), Type.Literal("medium"), Type.Literal("high")]),
    reasons: Type.Array(Type.String()),
    evidence: Type.Array(evidenceSchema),
    evidenceKey: Type.String(),
    suggestedRescueMessage: Type.String(),
  }),
  summary: (args) => String(args.targetId ?? ""),
  run: (params, scope) => run(String(params.targetId), scope),
};

function run(query: string, scope: ToolScope): Reply {
  const { handle, target } = findTarget(scope, query);
  const analysis = scope.store.analysis(handle);
  const evidence = analysis.evidence.map((item) => ({
    ...item,
    summary: oneLine(item.summary),
    ...(item.command === undefined ? {} : { command: oneLine(item.command, 400) }),
  }));
  const suggestedRescueMessage = rescueMessageOf(scope.main ?? scope.session);
  const head = analysis.likelyStuck
    ? `${nameOf(target)} is likely stuck (confidence ${analysis.confidence}, ${plural(evidence.length, "finding")})`
    : `${nameOf(target)} is not stuck by the rules`;
  const text = [
    head,
    ...evidence.map((item) => `- ${item.type}: ${item.summary}`),
    ...(analysis.likelyStuck ? ["Suggested rescue:", suggestedRescueMessage] : []),
  ].join("\n");
  return {
    text,
    data: {
      targetId: target.id,
      likelyStuck: analysis.likelyStuck,
      confidence: analysis.confidence,
      reasons: analysis.reasons.map((reason) => oneLine(reason)),
      evidence,
      evidenceKey: analysis.evidenceKey,
      suggestedRescueMessage,
    },
  };
}
