// A main session without Pi: the real link over the real store, and a record of what it was told. For tests that need
// hundreds of connections or peers that no Pi would be.

import { connectLink } from "../../../extension/link/backend.ts";
import { publishMain } from "../../../extension/root.ts";
import type { BackendConnection, Delivering, MainSession, WatchedSession } from "../../../extension/runtime.ts";
import type { SubagentBackend } from "../../../extension/subagents/backend.ts";
import type { Host } from "../../../extension/subagents/connection.ts";
import { defaultConfig, type Notice, processes, store, type TargetSummary } from "../../../index.js";
import type { Scope } from "../cleanup.ts";
import { poll } from "../wait.ts";

let mains = 0;

export interface Told {
  notice: Notice;
  note: string | undefined;
  how: Delivering | undefined;
}

export class TestMain {
  readonly id: string;
  readonly told: Told[] = [];
  readonly faults: string[] = [];
  /** How often it was to look at what is due of the tree. */
  tended = 0;
  readonly session: WatchedSession;
  connection: BackendConnection;
  readonly #main: MainSession;
  readonly #retract: () => void;

  readonly #processes: typeof processes | undefined;

  /** `processes: undefined`: as where the system proves nothing. */
  constructor(scope: Scope, host: { processes: typeof processes | undefined } = { processes }) {
    this.#processes = host.processes;
    this.id = `main-${process.pid}-${++mains}`;
    const config = defaultConfig();
    const handle = store.open(this.id, Date.now(), { name: "main", kind: "task" }, config);
    this.session = {
      id: this.id,
      rootId: this.id,
      isMain: true,
      handle,
      config,
      backends: [],
    } as unknown as WatchedSession;
    const told = this.told;
    this.#main = {
      id: this.id,
      attended: true,
      config,
      deliver: (notice, note, how) => void told.push({ notice, note, how }),
      steer: async () => ({ outcome: "refused", reason: "not here" }),
      stop: async () => ({ outcome: "refused", reason: "not here" }),
      child: () => undefined,
      tend: () => {
        this.tended += 1;
      },
    };
    this.#retract = publishMain(this.#main);
    this.connection = this.#connect();
    scope.after(() => this.close());
  }

  #connect(): BackendConnection {
    const fault = (message: string) => this.faults.push(message);
    const host = { session: this.session, store, processes: this.#processes, now: Date.now, fault };
    return connectLink(host as unknown as Host);
  }

  /** As a `/reload` of the main session does. */
  reload(): void {
    this.connection.dispose(true);
    this.connection = this.#connect();
  }

  get address(): { path: string; token: string; rootId: string; pid: number } {
    return JSON.parse(process.env.PI_WATCHDOG_LINK ?? "{}");
  }

  get backend(): SubagentBackend {
    const [backend] = this.session.backends;
    if (backend === undefined) throw new Error("no child was ever here");
    return backend;
  }

  targets(): TargetSummary[] {
    return store.targets(this.id, true).filter(({ id }) => id !== this.id);
  }

  target(id: string): TargetSummary {
    const target = this.targets().find((one) => one.id === id);
    if (target === undefined) throw new Error(`no target ${id}`);
    return target;
  }

  /** Waits until the targets are as wished. */
  when(fits: (targets: TargetSummary[]) => boolean, what: string): Promise<true> {
    return poll(
      () => (fits(this.targets()) ? (true as const) : undefined),
      () => `${what}; targets: ${JSON.stringify(this.targets().slice(0, 3))}`,
    );
  }

  close(): void {
    this.connection.dispose();
    this.#retract();
  }
}
