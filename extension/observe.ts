// Which event of Pi goes to which part of the observer. A session that is not watched costs a null check.

import type { ExtensionAPI, ExtensionContext, TurnEndEvent } from "@earendil-works/pi-coding-agent";
import type { ModelMessage } from "./alerts/room.ts";
import type { Guard } from "./guard.ts";
import { nameParent } from "./link/address.ts";
import type { MessageObserver } from "./observe/messages.ts";
import type { RunObserver } from "./observe/run.ts";
import type { ToolObserver } from "./observe/tools.ts";
import type { Session } from "./session.ts";

/** A session under watch, from session_start to session_shutdown. */
export interface Watch {
  readonly guard: Guard;
  readonly session: Session;
  readonly messages: MessageObserver;
  readonly tools: ToolObserver;
  readonly run: RunObserver;
  /** The circuit breaker ends the turn. */
  stopped(): void;
  /** A turn is over. `goesOn`: the model is called again in any case. */
  turnEnded(goesOn: boolean): void;
  /** A run begins; what goes with its prompt. */
  prompted(byPerson: boolean): ModelMessage | undefined;
  /** The run is over. */
  settled(aborted: boolean): void;
  /** The agent has begun to work, or stopped for good until the next prompt. */
  working(working: boolean): void;
  /** It asks the model: it works, also where its beginning was not seen. */
  asks(): void;
}

export function observe(pi: ExtensionAPI, { current }: { current(): Watch | null }): void {
  /** A handler that runs only under watch and never throws. */
  function watched<E, R = void>(where: string, handle: (watch: Watch, event: E) => R) {
    return (event: E, ctx: ExtensionContext): R | undefined => {
      const watch = current();
      if (watch === null || !watch.session.observing) return undefined;
      watch.session.ctx = ctx;
      return watch.guard.run(where, () => handle(watch, event));
    };
  }

  pi.on(
    "input",
    watched("input", ({ messages }, event) => messages.input(event)),
  );
  pi.on(
    "before_agent_start",
    watched("before_agent_start", ({ messages, prompted }) => {
      const message = prompted(messages.takePrompt());
      return message && { message: { ...message, display: true } };
    }),
  );
  pi.on(
    "message_start",
    watched("message_start", ({ messages }, event) => messages.start(event)),
  );
  pi.on(
    "message_update",
    watched("message_update", ({ messages }, event) => messages.update(event)),
  );
  pi.on(
    "message_end",
    watched("message_end", ({ messages, run }, event) => {
      run.message(event);
      messages.end(event);
    }),
  );

  pi.on(
    "tool_execution_start",
    watched("tool_execution_start", ({ tools }, event) => tools.start(event)),
  );
  pi.on(
    "tool_call",
    watched("tool_call", ({ tools, session, stopped }, event) => {
      // What the call starts finds out by this whose it is.
      nameParent(session.id);
      if (session.config.circuitBreaker === "off") return undefined;
      const refusal = tools.refusal(event);
      if (refusal?.terminate) stopped();
      return refusal === null ? undefined : { block: true, ...refusal };
    }),
  );
  pi.on("tool_result", async (event, ctx) => {
    const watch = current();
    if (watch === null || !watch.session.observing) return;
    await watch.guard.runAsync("tool_result", () => watch.tools.result(event, ctx.cwd));
  });
  pi.on(
    "tool_execution_end",
    watched("tool_execution_end", ({ tools }, event) => tools.end(event)),
  );

  pi.on(
    "tool_execution_update",
    watched("tool_execution_update", ({ tools }, event) => tools.update(event)),
  );

  pi.on(
    "agent_start",
    watched("agent_start", ({ run, working }) => {
      working(true);
      run.begin();
    }),
  );
  pi.on(
    "turn_start",
    watched("turn_start", (watch) => watch.asks()),
  );
  pi.on("turn_end", (event, ctx) => {
    const watch = current();
    if (watch === null || !watch.session.observing) return;
    watch.guard.run("turn_end", () => watch.turnEnded(goesOn(event, ctx)));
  });
  pi.on(
    "agent_end",
    watched("agent_end", ({ run }) => run.end()),
  );
  pi.on(
    "agent_settled",
    watched("agent_settled", ({ run, tools, session, working, settled }, event) => {
      const aborted = run.settled(event);
      tools.settled();
      working(false);
      settled(aborted);
      session.breaker.settled(session);
    }),
  );
  pi.on(
    "session_before_compact",
    watched("session_before_compact", ({ run }, event) => run.compacting(event)),
  );
  pi.on(
    "session_compact",
    watched("session_compact", ({ run }, event) => run.compacted(event)),
  );
  pi.on(
    "session_compact_failed",
    watched("session_compact_failed", ({ run }, event) => run.notCompacted(event)),
  );
  pi.on(
    "session_tree",
    watched("session_tree", ({ session }) => session.reopen()),
  );
  pi.on(
    "session_info_changed",
    watched("session_info_changed", ({ session }) => session.renamed()),
  );
  pi.on(
    "thinking_level_select",
    watched("thinking_level_select", ({ run }, event) => run.thinks(event.level)),
  );
  pi.on(
    "ui_prompt_start",
    watched("ui_prompt_start", ({ run }, event) => run.asking(event)),
  );
  pi.on(
    "ui_prompt_end",
    watched("ui_prompt_end", ({ run }) => run.answered()),
  );
}

/** Whether Pi calls the model again whatever the watchdog does: it has results to show, or a message waits. */
function goesOn({ toolResults }: TurnEndEvent, ctx: ExtensionContext): boolean {
  if (ctx.signal?.aborted === true) return false;
  return toolResults.length > 0 || ctx.hasPendingMessages();
}
