// When the extension really begins. Every file that Pi loads for an extension costs its start, so at first only the
// hooks are there; the rest is loaded when Pi has started and is idle, at the latest when the first prompt comes.

import type { ExtensionAPI, ExtensionContext, SessionStartEvent } from "@earendil-works/pi-coding-agent";
import { mark } from "./lineage.ts";
import type { Watch } from "./observe.ts";
import type { Watchdog } from "./watchdog.ts";

export interface Stage {
  /** The session under watch; null before the stage is ready and where nothing is watched. */
  current(): Watch | null;
  /** Begins, if it has not, and resolves when it has; with nothing when there is no watchdog. Never rejects. */
  ready(): Promise<Watchdog | undefined>;
}

/** Idle time of Pi before loading, ms: longer than the rest of a start takes on a busy machine. Nobody waits for it. */
const IDLE = 1000;

const WAITING = Symbol.for("pi-watchdog-supervisor:waiting/v1");
const COMPLAINED = Symbol.for("pi-watchdog-supervisor:complained/v1");

/** Sessions of this process that have started and wait: a child that begins needs its main session. */
function waiting(): Set<() => Promise<unknown>> {
  const shared = globalThis as unknown as Record<symbol, Set<() => Promise<unknown>> | undefined>;
  shared[WAITING] ??= new Set();
  return shared[WAITING];
}

/** One load per copy of this module: a child mostly gets the same copy, and begins at once. */
let code: Promise<typeof import("./watchdog.ts")> | undefined;

export function createStage(pi: ExtensionAPI): Stage {
  let begun: Promise<Watchdog | undefined> | undefined;
  let begin: (() => Promise<Watchdog | undefined>) | undefined;
  let watchdog: Watchdog | undefined;
  let timer: NodeJS.Timeout | undefined;

  function wait(ms: number | undefined): void {
    clearTimeout(timer);
    waiting().delete(ready);
    if (ms === undefined) return;
    waiting().add(ready);
    timer = setTimeout(ready, ms).unref();
  }

  function ready(): Promise<Watchdog | undefined> {
    wait(undefined);
    begun ??= begin?.();
    return begun ?? Promise.resolve(undefined);
  }

  pi.on("session_start", async (event, ctx) => {
    markChild(ctx);
    begun = undefined;
    begin = async () => {
      try {
        code ??= import("./watchdog.ts");
        const { createWatchdog } = await code;
        watchdog ??= await createWatchdog(pi);
        await Promise.all([...waiting()].map((others) => others()));
        await watchdog.start(event, ctx);
        return watchdog;
      } catch (error) {
        complain(ctx, error);
        return undefined;
      }
    };
    if (code === undefined && canWait(event, ctx)) wait(IDLE);
    else await ready();
  });
  // These come before anything that must be observed.
  pi.on("input", async (_event, ctx) => {
    markChild(ctx);
    await ready();
  });
  pi.on("before_agent_start", async (_event, ctx) => {
    markChild(ctx);
    await ready();
  });
  pi.on("agent_start", async () => void (await ready()));
  pi.on("session_shutdown", async (event) => {
    wait(undefined);
    begin = undefined;
    await begun;
    await watchdog?.close(event.reason);
  });

  return { current: () => watchdog?.current() ?? null, ready };
}

/** Sessions in the process of another have no user interface. */
function markChild(ctx: ExtensionContext): void {
  if (ctx.mode === "print") mark(ctx.sessionManager.getSessionId());
}

/** Not where messages of the watchdog are about to be shown again, which need their renderers. */
function canWait(event: SessionStartEvent, ctx: ExtensionContext): boolean {
  return (
    event.reason === "startup" && !ctx.sessionManager.getEntries().some((entry) => entry.type === "custom_message")
  );
}

/** Once per process: a child would say the same again, and has no terminal to say it on. */
function complain(ctx: ExtensionContext, error: unknown): void {
  if (gone(ctx)) return;
  const shared = globalThis as unknown as Record<symbol, boolean | undefined>;
  if (shared[COMPLAINED]) return;
  shared[COMPLAINED] = true;
  const message = `Watchdog: nothing is watched. ${error instanceof Error ? error.message : String(error)}`;
  if (ctx.hasUI) ctx.ui.notify(message, "error");
  else console.error(message);
}

/** A session may be over before its turn comes; then nothing is wrong, and nothing of it may be touched. */
function gone(ctx: ExtensionContext): boolean {
  try {
    return ctx.mode === undefined;
  } catch {
    return true;
  }
}
