// Tool calls: what was asked for, what came back, which file an edit left. Also where a call may be refused, because
// a refused call must be observed as one.

import type {
  ToolCallEvent,
  ToolExecutionEndEvent,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
  ToolResultEvent,
} from "@earendil-works/pi-coding-agent";
import { now } from "../clock.ts";
import { argumentsText, textOf } from "../content.ts";
import { fileState, isEditTool, isReadTool, pathArgument, throughLink } from "../files.ts";
import { lifecycle, type Sink } from "./sink.ts";
import type { Turns } from "./turns.ts";

/** Named as the guard in results of calls that the watchdog itself refused. */
const OWN_GUARD = "pi-watchdog-supervisor";
/** Some handler refused the call; Pi does not say whose. */
const OTHER_GUARD = "extension";

interface OpenCall {
  turn: number;
  args: string;
  /** As the store takes it: JSON text of path → hash. */
  files: string;
  refused: boolean;
  /** It has a result of its own. Before 1.1 Pi does not say how long a call ran, and this alone tells that it did. */
  ran: boolean;
  /** When its output was last told of. */
  updatedAt: number;
}

/** Output of a running call is a sign of life, told this often; ms. */
const UPDATE_EVERY = 5000;

export class ToolObserver {
  readonly #sink: Sink;
  readonly #turns: Turns;
  readonly #open = new Map<string, OpenCall>();

  constructor(sink: Sink, turns: Turns) {
    this.#sink = sink;
    this.#turns = turns;
  }

  /** Whether a call runs. */
  get calling(): boolean {
    return this.#open.size > 0;
  }

  /** Fires for every call, also for those that will never run. Nested calls belong to the turn of their parent. */
  start(event: ToolExecutionStartEvent): void {
    const turn = this.#open.get(event.parentToolCallId ?? "")?.turn ?? this.#turns.current;
    const args = argumentsText(event.args);
    this.#open.set(event.toolCallId, { turn, args, files: "", refused: false, ran: false, updatedAt: 0 });
    const { store, handle } = this.#sink;
    this.#sink.signal(store.observeToolCall(handle, now(), turn, event.toolCallId, event.toolName, args));
  }

  /** Why the call must not run, or `null`. */
  refusal(event: ToolCallEvent): { reason: string; terminate: boolean } | null {
    const call = this.#open.get(event.toolCallId);
    const { store, handle } = this.#sink;
    const refusal = store.refusal(handle, event.toolName, call?.args ?? argumentsText(event.input));
    if (refusal !== null && call !== undefined) call.refused = true;
    return refusal;
  }

  /** Looks at the file of a successful edit before the result is observed. */
  async result(event: ToolResultEvent, cwd: string): Promise<void> {
    const call = this.#open.get(event.toolCallId);
    if (call !== undefined) call.ran = true;
    const edits = isEditTool(event.toolName);
    if (call === undefined || event.isError || !(edits || isReadTool(event.toolName))) return;
    const path = pathArgument(event.input);
    if (path === undefined) return;
    if (edits) call.files = await fileState(cwd, path);
    // Two agents may know one file by two names.
    const real = await throughLink(cwd, path);
    if (real !== undefined) lifecycle(this.#sink, edits ? "file_written" : "file_read", { path: real });
  }

  /** Partial output of a running call. */
  update(event: ToolExecutionUpdateEvent): void {
    const call = this.#open.get(event.toolCallId);
    const at = now();
    if (call === undefined || at - call.updatedAt < UPDATE_EVERY) return;
    call.updatedAt = at;
    lifecycle(this.#sink, "tool_update", { callId: event.toolCallId });
  }

  end(event: ToolExecutionEndEvent): void {
    const call = this.#open.get(event.toolCallId);
    this.#open.delete(event.toolCallId);
    const output = textOf(event.result?.content);
    const { store, handle } = this.#sink;
    const bits = store.observeToolResult(
      handle,
      now(),
      call?.turn ?? this.#turns.current,
      event.toolCallId,
      event.toolName,
      output,
      event.isError,
      call?.files ?? "",
      call?.refused ? OWN_GUARD : call?.ran ? "" : blockedBy(event, output),
    );
    this.#sink.signal(bits);
  }

  /** Whatever is still open now will never end. */
  settled(): void {
    this.#open.clear();
  }
}

/** A call that never ran and failed for none of Pi's own reasons was refused by some handler. */
function blockedBy(event: ToolExecutionEndEvent, output: string): string {
  if (!event.isError || event.durationMs !== undefined) return "";
  const own =
    output === "Operation aborted" ||
    output === `Tool ${event.toolName} not found` ||
    output.startsWith("Validation failed for tool ") ||
    output.startsWith(`Tool call "${event.toolName}" was not executed: `);
  return own ? "" : OTHER_GUARD;
}
