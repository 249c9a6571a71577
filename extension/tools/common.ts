// What the watchdog_* tools share: finding the target that a model named, the shape of a reply, and how calls and
// results are drawn. A tool file holds one definition and one function over (store, session).

import type {
  AgentToolResult,
  ExtensionToolContext,
  Theme,
  ToolDefinition,
  ToolRenderResultOptions,
} from "@earendil-works/pi-coding-agent";
import { Text, TruncatedText } from "@earendil-works/pi-tui";
import { type TSchema, Type } from "typebox";
import type { TargetSummary, WatchdogStore } from "../../index.js";
import { piIsBefore, RESULTS_CAN_FAIL } from "../pi-version.ts";
import { expandHint } from "../render/hint.ts";
import type { MainSession, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";

type ResultRenderer = NonNullable<ToolDefinition["renderResult"]>;
type ToolRenderContext = Parameters<ResultRenderer>[3];

/** What a tool works on. */
export interface ToolScope {
  readonly store: WatchdogStore;
  readonly session: WatchedSession;
  /** Main session of the tree; undefined when it has gone. */
  readonly main: MainSession | undefined;
  readonly now: number;
}

/** One reply: the first line says the outcome, the rest gives the detail; `data` matches the tool's output schema. */
export interface Reply {
  text: string;
  data: unknown;
  failed?: boolean;
}

export type WatchdogTool<T extends TSchema = TSchema> = Pick<
  ToolDefinition<T, undefined>,
  | "name"
  | "label"
  | "description"
  | "promptSnippet"
  | "promptGuidelines"
  | "annotations"
  | "outputSchema"
  | "parameters"
> & {
  /** Arguments in one line, for the call's title. */
  summary(args: Record<string, unknown>): string;
  run(params: Record<string, unknown>, scope: ToolScope): Reply | Promise<Reply>;
};

export interface FoundTarget {
  handle: number;
  target: TargetSummary;
}

export const targetIdParameter = Type.String({
  minLength: 1,
  description: "Session id, agent id, run id, or an unambiguous prefix of one",
});

/** The target that `query` names within the tree of the session. Throws with what to do next. */
export function findTarget({ store, session }: ToolScope, query: string): FoundTarget {
  const name = query.trim();
  const shown = oneLine(name, 80);
  const found = name === "" ? undefined : store.resolve(name, session.rootId);
  if (found === undefined || (!found.ok && found.reason === "unknown")) {
    throw new Error(
      `No target "${shown}" in this session tree. Call watchdog_list_targets with includeCompleted: true to see the ids.`,
    );
  }
  if (!found.ok) {
    const candidates = found.candidates.slice(0, 8).map((id) => oneLine(id, 80));
    throw new Error(
      `"${shown}" is ambiguous: ${candidates.join(", ")}. Repeat the call with a longer prefix or the full id.`,
    );
  }
  const target = store.target(found.handle);
  if (target === null) {
    throw new Error(`Target "${shown}" is no longer kept. Call watchdog_list_targets for those that are.`);
  }
  return { handle: found.handle, target };
}

/** A target's name as data: safe, short, in quotes. */
export function nameOf(target: Pick<TargetSummary, "name">): string {
  return `"${oneLine(target.name, 60)}"`;
}

/** The definition that Pi takes: validation is Pi's, errors become error results there. */
export function toPiTool(tool: WatchdogTool, scope: () => ToolScope): ToolDefinition<TSchema, undefined> {
  const { name, label, description, promptSnippet, promptGuidelines, annotations, outputSchema, parameters } = tool;
  return {
    name,
    label,
    description,
    promptSnippet,
    promptGuidelines,
    annotations,
    outputSchema,
    parameters,
    async execute(
      _callId: string,
      params: unknown,
      _signal: AbortSignal | undefined,
      _update: unknown,
      _ctx: ExtensionToolContext,
    ): Promise<AgentToolResult<undefined>> {
      const reply = await tool.run((params ?? {}) as Record<string, unknown>, scope());
      if (reply.failed && piIsBefore(RESULTS_CAN_FAIL)) throw new Error(reply.text);
      return {
        content: [{ type: "text", text: reply.text }],
        details: undefined,
        // The data is built of plain values; JSON drops the optional fields that are undefined.
        structuredContent: JSON.parse(JSON.stringify(reply.data)),
        ...(reply.failed ? { isError: true } : {}),
      };
    },
    renderCall(args: unknown, theme: Theme) {
      const title = theme.fg("toolTitle", theme.bold(name));
      const rest = oneLine(tool.summary((args ?? {}) as Record<string, unknown>), 120);
      return new TruncatedText(rest === "" ? title : `${title} ${theme.fg("muted", rest)}`, 0, 0);
    },
    renderResult(
      result: AgentToolResult<undefined>,
      options: ToolRenderResultOptions,
      theme: Theme,
      context: ToolRenderContext,
    ) {
      return drawResult(result, options, theme, context);
    },
  };
}

function drawResult(
  result: AgentToolResult<unknown>,
  { expanded, isPartial }: ToolRenderResultOptions,
  theme: Theme,
  context: ToolRenderContext,
) {
  if (isPartial) return new Text(theme.fg("muted", "…"), 0, 0);
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const [first = "", ...rest] = text.split("\n");
  const head = theme.fg(context.isError ? "error" : "toolOutput", first);
  if (rest.length === 0) return new Text(head, 0, 0);
  if (!expanded) return new Text(`${head} ${theme.fg("dim", `(${expandHint(context)})`)}`, 0, 0);
  return new Text([head, ...rest.map((line) => theme.fg("toolOutput", line))].join("\n"), 0, 0);
}
