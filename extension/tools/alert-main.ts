// watchdog_alert_main: a model tells the main session about a target. Honours pause and cooldown; the model's words
// go along as a quoted note, never as the alert itself.

import { StringEnum } from "@earendil-works/pi-ai";
import { Type } from "typebox";
import type { Notice, Severity } from "../../index.js";
import { plain } from "../sanitize.ts";
import { findTarget, nameOf, type Reply, type ToolScope, targetIdParameter, type WatchdogTool } from "./common.ts";

export const alertMain: WatchdogTool = {
  name: "watchdog_alert_main",
  label: "Watchdog: alert main",
  description:
    "Tell the main session that one watched agent needs attention. The alert carries the evidence of the rules and your message as a quoted note. " +
    "The user sees it at once, the main agent reads it before its next model call; it starts none. " +
    "It is not sent while alerts are paused, the same incident was just reported, or sub-agents sent too many; the result says so.",
  promptSnippet: "Send an alert about a watched agent to the main session",
  promptGuidelines: [
    "Use watchdog_alert_main once per incident, with the evidence from watchdog_detect_stuck or watchdog_read_events in the message; do not repeat it when it was suppressed.",
  ],
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  parameters: Type.Object({
    targetId: targetIdParameter,
    message: Type.String({ minLength: 1, description: "What you saw, in a few sentences" }),
    severity: Type.Optional(
      StringEnum(["info", "warning", "critical"] as const, {
        default: "warning",
        description: "How urgent it is to the user. Default: warning",
      }),
    ),
  }),
  outputSchema: Type.Object({
    targetId: Type.String(),
    sent: Type.Boolean(),
    reason: Type.Union(
      ["", "paused", "cooldown", "too_many"].map((reason) => Type.Literal(reason)),
      {
        description: "Why it was not sent",
      },
    ),
    recorded: Type.Boolean({ description: "Whether it counts for the cooldown; only alerts that the rules back do" }),
    severity: Type.String(),
    likelyStuck: Type.Boolean(),
  }),
  summary: (args) => `${args.targetId ?? ""} ${args.severity ?? "warning"}: ${args.message ?? ""}`,
  run: (params, scope) =>
    run(String(params.targetId), String(params.message), (params.severity as Severity | undefined) ?? "warning", scope),
};

function run(query: string, message: string, severity: Severity, scope: ToolScope): Reply {
  const { store, main, now } = scope;
  const { handle, target } = findTarget(scope, query);
  const note = plain(message).trim();
  if (note === "") throw new Error("message is empty. Call watchdog_alert_main again and say what you saw.");
  if (main === undefined) {
    throw new Error(
      "The main session of this tree is gone, so there is nobody to alert. Report in your own answer instead.",
    );
  }

  const analysis = store.analysis(handle);
  const { send, reason, recorded } = store.requestAlert(handle, now);
  const data = { targetId: target.id, sent: send, reason, recorded, severity, likelyStuck: analysis.likelyStuck };
  if (!send) {
    const why =
      reason === "paused"
        ? "alerts are paused for this session tree; the user resumes them with /watchdog resume"
        : "this incident was reported within the cooldown; another alert now would tell nothing new";
    return { text: `Not sent: ${why}.`, data };
  }

  const lastCommand = store.lastCommand(handle);
  const notice: Notice = {
    kind: "stuck",
    targetId: target.id,
    targetName: target.name,
    severity,
    incident: analysis.evidenceKey,
    analysis,
    ...(lastCommand === "" ? {} : { lastCommand }),
    // What a loop cost is known to the store's own notices only; zero is left out of the text.
    cost: { rounds: 0, tokens: 0, usd: 0, wallMs: 0 },
    ordinal: 1,
  };
  const author = scope.session.id === main.id ? undefined : authorOf(scope);
  if (main.deliver(notice, note, author === undefined ? {} : { author }) === false) {
    const text =
      "Not sent: sub-agents sent ten alerts at once, and one more passes in ten seconds. Put it into your own answer.";
    return { text, data: { ...data, sent: false, reason: "too_many" } };
  }
  const basis = analysis.likelyStuck
    ? "The rules agree that it is stuck."
    : "By the rules it is not stuck, so the alert is not recorded and does not start a cooldown.";
  return {
    text: `Alert (${severity}) about ${nameOf(target)} sent to the main session: the user sees it now, the main agent reads it before its next model call. ${basis}`,
    data,
  };
}

/** Label of the child whose model asks. */
function authorOf({ store, session }: ToolScope): string {
  return store.target(session.handle)?.name ?? session.id;
}
