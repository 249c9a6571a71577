// What the parts of one extension instance share. Holds types and no behaviour: each part owns its own file,
// and index.ts wires them.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { ConfigSource, ConfigSources, ConfigWarning, Notice, TargetUsage, WatchdogConfig } from "../index.js";
import type { ToldIntervention } from "./alerts/interventions.ts";
import type { Delivery, PackageReport, SubagentBackend } from "./subagents/backend.ts";
import type { AgentName } from "./subagents/ids.ts";

/** One session that this extension instance watches: from `session_start` to `session_shutdown`. */
export interface WatchedSession {
  readonly id: string;
  /** Session id of the main session of the tree; equals `id` for a main session. */
  readonly rootId: string;
  readonly isMain: boolean;
  /** Target handle in the native store. */
  readonly handle: number;
  /** Context of the latest event of the session. */
  ctx: ExtensionContext;
  config: WatchdogConfig;
  /** Where each value of `config` comes from. */
  sources: ConfigSources;
  warnings: ConfigWarning[];
  /** Changes configuration keys for this run. Returns the warnings; what is refused has one and stays as it was. */
  change(
    source: Extract<ConfigSource, "command" | "model">,
    name: string,
    patch: Record<string, unknown>,
  ): ConfigWarning[];
  /** Sub-agent packages that were found; main sessions only. */
  backends: SubagentBackend[];
  /** What was looked for, found or not; main sessions only. */
  packages(): PackageReport[];
}

/** The library. Nothing that index.ts imports may import it by value: without the addon that would end Pi. */
export type Native = typeof import("../index.js");

/** One extension instance. `session` is null before `session_start` and after `session_shutdown`. */
export interface Runtime {
  readonly pi: ExtensionAPI;
  readonly native: Native;
  session: WatchedSession | null;
  /** Main session of this session's tree (itself in a main session); undefined when it has gone. */
  main(): MainSession | undefined;
}

/**
 * A main session as its children see it, published on `globalThis` because children run other instances of the
 * extension, perhaps of another copy of the package. `root.ts` owns the registry.
 */
export interface MainSession {
  readonly id: string;
  /** Somebody sits before it, or a program that speaks for somebody (any mode but print). */
  readonly attended: boolean;
  /** The main session's own configuration: it decides what may be done to its children. */
  readonly config: WatchdogConfig;
  /** Where each value of `config` comes from. */
  readonly sources?: ConfigSources;
  /**
   * Takes a notice about an agent of the tree; `note` is what a model wrote about it, to be quoted. False: too many came
   * from children, and this one is left out.
   */
  deliver(notice: Notice, note?: string, how?: Delivering): boolean | undefined;
  /** Something is due about an agent of the tree, or one has begun to work: its clocks must run. */
  tend(): void;
  /** Sends a message to a child: by the backend that knows it, else within the child's own instance. */
  steer(sessionId: string, message: string): Promise<Delivery>;
  /** Ends a child by the backend that knows it; nothing else can. */
  stop(sessionId: string): Promise<Delivery>;
  /** What is known of a child session before its own `session_start`. */
  child(sessionId: string): ChildLink | undefined;
  /** The name by which the main agent's own tools reach a child; undefined where no package knows it beyond doubt. */
  agentOf?(sessionId: string): AgentName | undefined;
  /** Interventions that were told of a target and are not over, the newest last. */
  interventions?(targetId: string): readonly ToldIntervention[];
  /**
   * Shows the user, once for each child and key (or command), that a child set it for itself (`done`), or tried to and may
   * not.
   */
  attempted?(sessionId: string, what: string, done: boolean): void;
}

export interface Delivering {
  /** False: another process brought it; it starts no turn of an idle main agent. Default: true. */
  wake?: boolean;
  /** Label of the child whose model wrote the note. */
  author?: string;
}

/** What `connectBackends(runtime)` hands back to whoever started it. */
export interface BackendConnection {
  /** Called within the child's `session_start` too, in its async context. */
  child(sessionId: string): ChildLink | undefined;
  /** What of the usage in a tool's result is in targets of its agents; absent or undefined: nothing. */
  counted?(toolCallId: string, details: unknown): TargetUsage | undefined;
  /** Nothing when there is nothing to say. */
  report(): PackageReport[];
  /** The configuration of the main session changed. */
  refresh?(): void;
  /**
   * Stops listening and disposes of the backends; idempotent. `goesOn`: the session goes on in another instance of the
   * extension.
   */
  dispose(goesOn?: boolean): void;
}

export interface ChildLink {
  /** Agent id in the sub-agent package; absent when it is not known beyond doubt. */
  agentId?: string;
  agentType?: string;
  description?: string;
  link: "exact" | "inferred" | "none";
  /** Session id of the session that started it, where that is not the main session. */
  parentId?: string;
  /** Package that started it. */
  backend?: string;
}
