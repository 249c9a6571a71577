// From session_start to session_shutdown: opens the watch over a session, closes it once, and in between puts changes
// of configuration and of parentage into effect. Every part that must be undone is undone here.

import type { ExtensionContext, SessionShutdownEvent, SessionStartEvent } from "@earendil-works/pi-coding-agent";
import { reportDue, reportStopped } from "./alerts/due.ts";
import { mainSession, type OwnMainSession } from "./alerts/main-session.ts";
import { append, post } from "./alerts/post.ts";
import { now, watchTime } from "./clock.ts";
import { handDown } from "./disabled.ts";
import type { Guard } from "./guard.ts";
import { createHistory } from "./history.ts";
import { goAlone, joinLink } from "./link/join.ts";
import { MessageObserver } from "./observe/messages.ts";
import { RunObserver } from "./observe/run.ts";
import { lifecycle, type Sink } from "./observe/sink.ts";
import { ToolObserver } from "./observe/tools.ts";
import { Turns } from "./observe/turns.ts";
import type { Watch } from "./observe.ts";
import { findMain, publishMain } from "./root.ts";
import type { BackendConnection, Runtime } from "./runtime.ts";
import { Session } from "./session.ts";
import { createTicker, tickEvery } from "./ticker.ts";
import { tellAgain, tellOnce } from "./told.ts";
import { worktreeOf } from "./worktree.ts";

/** Parts that show something, or meet the sub-agent packages. */
export interface Surroundings {
  connect(): BackendConnection;
  showTools(on: boolean): void;
  chip: { update(): void; clear(): void };
  console: { show(): void; clear(): void };
  /** What to tell of an addon that is not of this version. */
  staleAddon: string | undefined;
}

export interface Lifecycle {
  start(event: SessionStartEvent, ctx: ExtensionContext): Promise<void>;
  /** Resolves when a main session in another process has had the last word of it; soon in any case. */
  close(reason: SessionShutdownEvent["reason"]): Promise<void>;
  /** The session under watch. */
  current(): Watch | null;
}

const NOTHING_TO_LEAVE = (_status: "completed" | "stopped" | undefined): Promise<void> | undefined => undefined;

export function createLifecycle(
  runtime: Runtime,
  guard: Guard,
  { connect, showTools, chip, console, staleAddon }: Surroundings,
): Lifecycle {
  const { pi, native } = runtime;
  const { store, Signal } = native;
  let watch: Watch | null = null;
  let main: OwnMainSession | undefined;
  let connection: BackendConnection | undefined;
  const history = createHistory(native, guard);
  let retract = (): void => {};
  let leave = NOTHING_TO_LEAVE;
  let unwatch: (() => void) | undefined;
  let working = false;
  let off = false;
  let ended = false;

  const ticker = createTicker(() =>
    guard.run("a timer", () => {
      // A session that was disposed in mid-run says nothing of it; its timer must not outlive it.
      if (watch?.session.disposed) void close("stopped");
      else if (watch?.session.observing) signal(watch.session, store.tick(watch.session.handle, now()));
    }),
  );

  /** Ticks every so many ms, where a rule of this session needs it; 0: not any more. */
  function keepTime(session: Session | undefined, everyMs: number): void {
    ticker.set(everyMs);
    unwatch?.();
    const rootId = session?.rootId;
    const watches = everyMs > 0 && rootId !== undefined;
    unwatch = watches ? watchTime(rootId, (ms, at) => store.suspended(rootId, ms, at)) : undefined;
  }

  function signal(session: Session, bits: number): void {
    if (bits === 0) return;
    if (bits & Signal.NOTICE) reportDue(runtime, session);
    if (bits & Signal.TREE) findMain(session.rootId)?.tend();
    if (bits & Signal.VERDICT) chip.update();
  }

  function becomeMain(session: Session): void {
    const connected = connect();
    connection = connected;
    session.packages = () => connected.report();
    main = mainSession(runtime, session, guard, () => connection);
    retract = publishMain(main);
  }

  function resignAsMain(goesOn = false): void {
    retract();
    connection?.dispose(goesOn);
    connection = undefined;
    main?.close(goesOn);
    main = undefined;
  }

  function equip(session: Session): void {
    const { enabled } = session.config;
    showTools(enabled);
    if (enabled) session.equipped(pi.getActiveTools());
  }

  /** Puts into effect what is configured, and who the session is, now. */
  function apply(session: Session): void {
    if (main !== undefined && !session.isMain) resignAsMain();
    // Its main session was in another process, and is gone.
    if (main === undefined && session.isMain && watch?.session === session) becomeMain(session);
    connection?.refresh?.();
    const { enabled, debug, idleNoProgressSec } = session.config;
    equip(session);
    handDown(session.id, session.isMain && !enabled);
    // What is not observed is not seen to end either.
    if (!enabled) working = false;
    keepTime(session, working ? tickEvery(idleNoProgressSec) : 0);
    if (off && enabled) {
      showOff(session.ctx, undefined);
      if (watch?.session === session && !session.ctx.isIdle()) {
        watch.tools.settled();
        watch.run.missed();
      }
    }
    chip.update();
    off = !enabled;
    if (off) showOff(session.ctx, "watchdog: off");
    if (debug && enabled) console.show();
    else console.clear();
    history.begin(session);
  }

  /** The main session was in another process and is out of reach for good. */
  function alone(session: Session): void {
    goAlone();
    leave = NOTHING_TO_LEAVE;
    if (watch?.session === session) session.orphaned();
  }

  function steer(session: Session, message: string): boolean {
    try {
      // An agent that has finished would find the message only if somebody prompted it again.
      return !session.ctx.isIdle() && post(pi, "watchdog-rescue", message, {});
    } catch {
      return false;
    }
  }

  async function start(event: SessionStartEvent, ctx: ExtensionContext): Promise<void> {
    void close();
    ended = false;
    const link = joinLink(native, ctx.mode);
    const session = await Session.start(pi, native, ctx, {
      steer: (message) => steer(session, message),
      calling: () => watch?.tools.calling ?? false,
      changed: () => guard.run("a change of configuration", () => apply(session)),
    });
    if (ended) return session.close("stopped");
    const { id, handle } = session;
    const sink: Sink = {
      store,
      handle,
      signal: (bits) => signal(session, bits),
      tap: link && ((at, event, fields) => link.lifecycle(id, at, event, fields)),
    };
    const turns = new Turns(ctx.sessionManager.getEntries());
    runtime.session = session;
    watch = {
      guard,
      session,
      messages: new MessageObserver(sink, session.id, turns, {
        writing: (now) => {
          session.breaker.writing = now;
        },
        person: () => session.breaker.answered(),
        counted: (toolCallId, details) => connection?.counted?.(toolCallId, details),
      }),
      tools: new ToolObserver(sink, turns),
      run: new RunObserver(sink),
      stopped: () => reportStopped(runtime, session),
      turnEnded(goesOn) {
        const message = goesOn ? main?.room.beforeCall() : undefined;
        if (message === undefined) return;
        const { customType, content, details } = message;
        append(pi, customType, content, details);
      },
      prompted: (byPerson) => main?.room.withPrompt(byPerson),
      settled: (aborted) => main?.room.settled(aborted),
      working(now) {
        working = now;
        if (now) {
          session.relate();
          findMain(session.rootId)?.tend();
        }
        session.status(now ? "running" : "idle");
        history.check(session);
        keepTime(session, now ? tickEvery(session.config.idleNoProgressSec) : 0);
      },
      asks() {
        if (working) return;
        this.working(true);
        this.run.begin();
      },
    };
    // A main session in another process is told once what the session is for.
    equip(session);
    if (!session.isMain && link !== undefined) {
      leave = (status) => link.remove(id, status);
      link.add({ id, handle, parentId: session.parentId, lost: () => guard.run("the link", () => alone(session)) });
    }
    if (session.isMain) {
      becomeMain(session);
      if (event.reason === "reload") tellAgain();
      const messages = session.warnings.map((warning) => warning.message);
      tellOnce(ctx, staleAddon === undefined ? messages : [staleAddon, ...messages]);
    }
    if (session.observing) {
      const worktree = await worktreeOf(ctx.cwd);
      if (ended || watch?.session !== session) return;
      lifecycle(sink, "session_start", { reason: event.reason, sessionId: session.id, cwd: ctx.cwd, worktree });
      lifecycle(sink, "thinking_level", { level: pi.getThinkingLevel() });
      // A child that is there and never asked anything must be missed, also while nothing else runs.
      if (!session.isMain) findMain(session.rootId)?.tend();
    }
    apply(session);
  }

  /** `status`: absent when the session goes on in a new instance of the extension. */
  function close(status?: "completed" | "stopped"): Promise<void> | undefined {
    ended = true;
    keepTime(undefined, 0);
    working = false;
    resignAsMain(status === undefined);
    const session = watch?.session;
    if (session === undefined) return undefined;
    if (!session.disposed) {
      chip.clear();
      console.clear();
    }
    handDown(session.id, false);
    const left = leave(status);
    leave = NOTHING_TO_LEAVE;
    session.close(status);
    if (status !== undefined) history.end(session);
    watch = null;
    runtime.session = null;
    return left;
  }

  return {
    start: async (event, ctx) => void (await guard.runAsync("session_start", () => start(event, ctx))),
    // After a reload a new instance goes on with the session.
    close: async (reason) =>
      void (await guard.runAsync("session_shutdown", async () => close(reason === "reload" ? undefined : "completed"))),
    current: () => watch,
  };
}

function showOff(ctx: ExtensionContext, text: string | undefined): void {
  if (ctx.hasUI) ctx.ui.setStatus("watchdog", text);
}
