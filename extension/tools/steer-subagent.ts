// watchdog_steer_subagent: sends a message to a sub-agent. Dry unless asked otherwise, and real only where the user
// allowed it (alertMode) and the target is known beyond doubt. What became of the message is told as it was.

import { Type } from "typebox";
import type { TargetSummary } from "../../index.js";
import { rescueMessageOf } from "../alerts/rescue.ts";
import { unreachable } from "../reach.ts";
import { cut, oneLine, plain, quoted } from "../sanitize.ts";
import type { Delivery } from "../subagents/backend.ts";
import { findTarget, nameOf, type Reply, type ToolScope, targetIdParameter, type WatchdogTool } from "./common.ts";

const MAX_MESSAGE = 4000;

export const steerSubagent: WatchdogTool = {
  name: "watchdog_steer_subagent",
  label: "Watchdog: steer sub-agent",
  description:
    "Send a message into a running sub-agent, by default the configured rescue message. With dryRun: true it only says what would be sent. " +
    "Real steering is refused while alertMode is main_only and when the target is not identified beyond doubt.",
  promptSnippet: "Send a rescue message to a stuck sub-agent (dryRun: true to see it first)",
  promptGuidelines: [
    "Use watchdog_steer_subagent with dryRun: true first; set dryRun: false only for an agent that watchdog_detect_stuck calls stuck.",
  ],
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  parameters: Type.Object({
    targetId: targetIdParameter,
    message: Type.Optional(
      Type.String({ description: `Default: the configured rescue message. At most ${MAX_MESSAGE} characters` }),
    ),
    dryRun: Type.Optional(
      Type.Boolean({
        description: "true: only say what would be sent. Always give it: the default is what the user configured",
      }),
    ),
  }),
  outputSchema: Type.Object({
    targetId: Type.String(),
    dryRun: Type.Boolean(),
    outcome: Type.Union(
      ["dry_run", "delivered", "queued", "refused", "unknown_target"].map((outcome) => Type.Literal(outcome)),
    ),
    reason: Type.Optional(Type.String({ description: "Why it was, or for a dry run would be, refused" })),
    message: Type.String(),
  }),
  summary: (args) => {
    const mode = args.dryRun === false ? " (real)" : "";
    return `${args.targetId ?? ""}${mode}${args.message === undefined ? "" : `: ${args.message}`}`;
  },
  run: (params, scope) =>
    run(String(params.targetId), scope, params.message as string | undefined, params.dryRun as boolean | undefined),
};

async function run(query: string, scope: ToolScope, wish?: string, dry?: boolean): Promise<Reply> {
  const { store, session, main, now } = scope;
  const { handle, target } = findTarget(scope, query);
  // The main session's settings rule: a child may run in another directory, with other files.
  const ruling = main ?? session;
  const wanted = plain(wish ?? "").trim();
  const message = cut(wanted === "" ? rescueMessageOf(ruling) : wanted, MAX_MESSAGE);
  const dryRun = dry ?? ruling.config.steerDryRunDefault ?? true;
  const refusal = refusalFor(target, scope);

  if (dryRun) {
    const verdict = refusal === undefined ? "It would be sent." : `It would be refused: ${refusal}.`;
    return {
      text: `Dry run for ${nameOf(target)}, nothing was sent. ${verdict} The message:\n${quoted(message, 40, 1000)}`,
      data: { targetId: target.id, dryRun, outcome: "dry_run", reason: refusal, message },
    };
  }
  if (refusal !== undefined || main === undefined) {
    const reason = refusal ?? "the main session of this tree is gone";
    return {
      text: `Refused, nothing was sent: ${reason}. Tell the main agent with watchdog_alert_main instead.`,
      data: { targetId: target.id, dryRun, outcome: "refused", reason, message },
      failed: true,
    };
  }

  const delivery = await main.steer(target.id, message);
  if (delivery.outcome === "delivered" || delivery.outcome === "queued") {
    store.note(handle, now, "subagent_steered", `steered: ${oneLine(message, 120)}`);
  }
  return { ...told(delivery, target), data: { targetId: target.id, dryRun, ...delivery, message } };
}

/** Why steering this target is out of the question, or undefined. */
function refusalFor(target: TargetSummary, { session, main }: ToolScope): string | undefined {
  const { config } = main ?? session;
  const never = unreachable(target, session.id);
  if (config.alertMode === "main_only" && target.id !== target.rootId && target.id !== session.id) {
    return "alertMode is main_only; the user allows steering with /watchdog set alertMode both";
  }
  return never;
}

function told(delivery: Delivery, target: TargetSummary): Pick<Reply, "text" | "failed"> {
  switch (delivery.outcome) {
    case "delivered":
      return { text: `Delivered to ${nameOf(target)}.` };
    case "queued":
      return { text: `Queued for ${nameOf(target)}: it arrives before the agent's next model call.` };
    case "refused":
      return {
        text: `Refused by the sub-agent package, nothing was sent: ${oneLine(delivery.reason)}. Tell the main agent with watchdog_alert_main instead.`,
        failed: true,
      };
    case "unknown_target":
      return {
        text: `The sub-agent package does not know this agent: ${oneLine(delivery.reason)}. Call watchdog_list_targets to see which agents still run.`,
        failed: true,
      };
    case "unknown":
      return {
        text: `Sent to ${nameOf(target)}, without an answer: ${oneLine(delivery.reason)}. It may have arrived; watchdog_read_events shows whether the agent changed its course.`,
      };
  }
}
