// One watched session: who it is (main or whose child), its configuration, its target in the store. Created at
// session_start and closed once; decides nothing about what is observed or told.

import { isDeepStrictEqual } from "node:util";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ConfigSources, ConfigWarning, TargetInfo, TargetStatus, WatchdogConfig } from "../index.js";
import { now } from "./clock.ts";
import { type ConfigFiles, changeConfig, configuration, readConfigFiles } from "./config.ts";
import type { OverrideSource } from "./overrides.ts";
import {
  type Caller,
  findCaller,
  findLive,
  findMain,
  findParent,
  forgetSteers,
  type LiveSession,
  liveSessions,
  noteToolless,
  type Parentage,
  publishLive,
} from "./root.ts";
import type { Native, WatchedSession } from "./runtime.ts";
import { oneLine } from "./sanitize.ts";
import { StreamBreaker } from "./stream-breaker.ts";
import type { PackageReport, SubagentBackend } from "./subagents/backend.ts";
import { isWatchdogByTools, isWatchdogType, missingTools } from "./subagents/kind.ts";
import { tell } from "./told.ts";

export interface SessionHooks {
  /** Puts a message before the session's next model call; false when that cannot be. */
  steer(message: string): boolean;
  /** Whether one of the session's tool calls runs. */
  calling(): boolean;
  /** The configuration changed, or the session turned out to be a child. */
  changed(): void;
}

export class Session implements WatchedSession {
  readonly id: string;
  readonly handle: number;
  ctx: ExtensionContext;
  config: WatchdogConfig;
  sources: ConfigSources;
  warnings: ConfigWarning[];
  backends: SubagentBackend[] = [];
  packages: () => PackageReport[] = () => [];
  readonly breaker: StreamBreaker;

  readonly #pi: ExtensionAPI;
  readonly #native: Native;
  readonly #files: ConfigFiles;
  readonly #hooks: SessionHooks;
  readonly #parentFile: string | undefined;
  readonly #caller: Caller | undefined;
  readonly #mode: ExtensionContext["mode"];
  readonly #live: LiveSession;
  readonly #unpublish: () => void;
  #parent: Parentage | undefined;
  /** By its tools it is there to watch others. */
  #watches = false;
  #status: TargetStatus = "idle";
  #open = true;

  /** Reads the configuration files and opens the session's target. */
  static async start(pi: ExtensionAPI, native: Native, ctx: ExtensionContext, hooks: SessionHooks): Promise<Session> {
    // Asked before anything is awaited: what tells a child's package link may hang on the async context of the call.
    const { sessionManager } = ctx;
    const parentFile = sessionManager.getHeader()?.parentSession;
    const id = sessionManager.getSessionId();
    const caller = findCaller(id);
    const parent = findParent(id, parentFile, ctx.mode, caller);
    return new Session(pi, native, ctx, hooks, await readConfigFiles(ctx), parentFile, caller, parent);
  }

  private constructor(
    pi: ExtensionAPI,
    native: Native,
    ctx: ExtensionContext,
    hooks: SessionHooks,
    files: ConfigFiles,
    parentFile: string | undefined,
    caller: Caller | undefined,
    parent: Parentage | undefined,
  ) {
    this.#pi = pi;
    this.breaker = new StreamBreaker(pi);
    this.#native = native;
    this.#files = files;
    this.#hooks = hooks;
    this.#parentFile = parentFile;
    this.#caller = caller;
    this.#parent = parent;
    this.ctx = ctx;
    this.#mode = ctx.mode;
    this.id = ctx.sessionManager.getSessionId();
    const { config, sources, warnings } = configuration(native, files, this.rootId, this.id);
    this.config = this.#inherited(config, sources);
    this.sources = sources;
    this.warnings = warnings;
    this.handle = native.store.open(this.id, now(), this.#info(), this.config);
    native.store.detachRemote(this.handle);
    this.#live = this.#publishable(ctx.sessionManager.getSessionFile());
    this.#unpublish = publishLive(this.#live, abandoned(native, this.id, this.handle));
  }

  get rootId(): string {
    return this.#parent?.rootId ?? this.id;
  }

  get isMain(): boolean {
    return this.#parent === undefined;
  }

  get parentId(): string | undefined {
    return this.#parent?.parentId;
  }

  /** Pi has let go of the session; nothing of it may be used any more. */
  get disposed(): boolean {
    try {
      return this.ctx.mode === undefined;
    } catch {
      return true;
    }
  }

  get observing(): boolean {
    return this.#open && this.config.enabled;
  }

  /**
   * A package may learn only later whose child a session is. Being asked, the main session also looks at the agent:
   * one that is resumed tells nobody else.
   */
  relate(): void {
    const parent = findParent(this.id, this.#parentFile, this.#mode, this.#caller);
    if (parent === undefined || isDeepStrictEqual(parent, this.#parent)) return;
    this.#parent = parent;
    const { status: _, ...info } = this.#info();
    this.#native.store.update(this.handle, info);
    this.refresh();
  }

  /**
   * The main session was in another process and is gone: the first session of this one is a main session from now on,
   * and the others are its children.
   */
  orphaned(): void {
    const first = findLive(this.#parent?.parentId ?? "");
    this.#parent = first && { rootId: first.id, parentId: first.id, link: { link: "none" } };
    this.#native.store.update(this.handle, { rootId: this.rootId });
    this.refresh();
  }

  status(status: TargetStatus): void {
    this.#status = status;
    this.#native.store.update(this.handle, { status });
  }

  /** The conversation goes on from another point: what the detector remembers is another story. */
  reopen(): void {
    this.#native.store.open(this.id, now(), {}, this.config);
  }

  /** The session's tools are there: what they say of it. */
  equipped(tools: readonly string[]): void {
    if (this.isMain) return;
    this.#watches = isWatchdogByTools(tools);
    this.#native.store.update(this.handle, { kind: this.#info().kind });
    noteToolless(this.id, missingTools(tools).length > 0);
  }

  renamed(): void {
    this.#native.store.update(this.handle, { name: this.#info().name });
  }

  /**
   * In a sub-agent a command is no word of the user: whoever prompts a sub-agent can write one. It counts as its model's.
   */
  change(by: "command" | "model", name: string, patch: Record<string, unknown>): ConfigWarning[] {
    const before = this.config;
    const source: OverrideSource = this.isMain ? by : "child";
    const warnings = changeConfig(this.#native, this.#files, this, before, source, name, patch);
    // Main sessions first, because their children go by them.
    const live = liveSessions();
    for (const session of live) if (session.id === session.rootId) session.refresh();
    for (const session of live) if (session.id !== session.rootId) session.refresh();
    if (source !== "command") this.#report(source, before, patch);
    return warnings;
  }

  refresh(): void {
    if (!this.#open) return;
    const { config, sources, warnings } = configuration(this.#native, this.#files, this.rootId, this.id);
    this.config = this.#inherited(config, sources);
    this.sources = sources;
    this.warnings = warnings;
    this.#native.store.configure(this.handle, this.config);
    this.#hooks.changed();
  }

  /** `status`: absent when the session goes on in another instance of the extension. */
  close(status?: TargetStatus): void {
    if (!this.#open) return;
    this.#open = false;
    this.#unpublish();
    if (status === undefined) return;
    forgetSteers(this.id);
    this.#native.store.end(this.handle, now(), status);
  }

  /** The user sees a line when a model changed settings, and when a sub-agent's model tried to. */
  #report(source: "model" | "child", before: WatchdogConfig, patch: Record<string, unknown>): void {
    const keys = Object.keys(patch).filter((key) => key in before) as (keyof WatchdogConfig)[];
    const changed = keys.filter((key) => !isDeepStrictEqual(before[key], this.config[key]));
    if (source === "model") {
      const values = changed.map((key) => `${key} = ${show(this.config[key])}`);
      if (values.length > 0) tell(this.ctx, [`the main agent changed settings for this run: ${values.join(", ")}`]);
      return;
    }
    const main = findMain(this.rootId);
    for (const key of keys) main?.attempted?.(this.id, key, changed.includes(key));
  }

  /**
   * A main session that is not watched has no children that are, wherever they run; of one that is watched no project file
   * takes a child out, which the user would not see.
   */
  #inherited(config: WatchdogConfig, sources: ConfigSources): WatchdogConfig {
    const main = this.isMain ? undefined : findMain(this.rootId)?.config.enabled;
    if (main === false) return { ...config, enabled: false };
    return main === true && sources.enabled === "project" ? { ...config, enabled: true } : config;
  }

  #publishable(file: string | undefined): LiveSession {
    const session = this;
    return {
      id: this.id,
      get rootId() {
        return session.rootId;
      },
      file,
      steer: (message) => session.#hooks.steer(message),
      abort: () => session.ctx.abort(),
      calling: () => session.#hooks.calling(),
      refresh: () => session.refresh(),
    };
  }

  #info(): TargetInfo {
    const given = this.#pi.getSessionName();
    const project = this.ctx.cwd;
    if (this.#parent === undefined) return { name: given ?? "main", kind: "task", status: this.#status, project };
    const { rootId, parentId, link } = this.#parent;
    return {
      name: link.description ?? given ?? link.agentType ?? "sub-agent",
      kind: isWatchdogType(link.agentType ?? "") || this.#watches ? "watchdog" : "task",
      status: this.#status,
      project,
      rootId,
      parentId,
      link: link.link,
      ...(link.backend === undefined ? {} : { backend: link.backend }),
      ...(link.agentType === undefined ? {} : { agentType: link.agentType }),
    };
  }
}

const show = (value: unknown): string => oneLine(JSON.stringify(value), 100);

/** Ends the target of a session that was disposed without a shutdown, unless the session goes on elsewhere. */
function abandoned(native: Native, id: string, handle: number): () => void {
  return () => {
    if (findLive(id) === undefined) native.store.end(handle, now(), "stopped");
  };
}
