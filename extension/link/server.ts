// The socket that children of other processes connect to: listens, lets in who knows the token, and is found again when
// somebody removes it. Knows no sessions.

import { createServer, type Server } from "node:net";
import { publishAddress } from "./address.ts";
import { Budget } from "./budget.ts";
import { Connection } from "./connection.ts";
import { randomToken } from "./handshake.ts";
import { MAX_CONNECTIONS, MAX_STRANGERS, READ_ALL_PER_SECOND, READ_PER_SECOND } from "./limits.ts";
import { type Processes, peerOf } from "./peer.ts";
import { isThere, makePlace, type Place, removePlace, restore } from "./place.ts";
import type { Frame } from "./wire.ts";

export interface ServerHooks {
  readonly rootId: string;
  readonly processes: Partial<Processes> | undefined;
  now(): number;
  run(work: () => void): void;
  proved(connection: Connection): void;
  frame(connection: Connection, frame: Frame): void;
  closed(connection: Connection): void;
  /** It cannot be listened, for this reason; `undefined`: it can again. */
  failed(reason: string | undefined): void;
}

/** Where a main session listened before a reload, so that its children find it again. */
interface Kept {
  place: Place;
  token: string;
}
const KEY = Symbol.for("pi-watchdog-supervisor:link-places/v1");

function kept(): Map<string, Kept> {
  const shared = globalThis as unknown as Record<symbol, Map<string, Kept> | undefined>;
  if (shared[KEY] === undefined) {
    const places = new Map<string, Kept>();
    shared[KEY] = places;
    process.once("exit", () => {
      for (const { place } of places.values()) removePlace(place);
    });
  }
  return shared[KEY] as Map<string, Kept>;
}

export class LinkServer {
  readonly #hooks: ServerHooks;
  readonly #connections = new Set<Connection>();
  readonly #together: Budget;
  #kept: Kept | undefined;
  #server: Server | undefined;
  #retract: (() => void) | undefined;

  constructor(hooks: ServerHooks) {
    this.#hooks = hooks;
    this.#together = new Budget(READ_ALL_PER_SECOND, hooks.now);
  }

  /** Listens, and says so in the environment of what this process will start. */
  open(): void {
    const { rootId } = this.#hooks;
    if (this.#server !== undefined) {
      this.#announce();
      return;
    }
    try {
      this.#kept = kept().get(rootId) ?? { place: makePlace(), token: randomToken() };
      kept().set(rootId, this.#kept);
      this.#listen(this.#kept.place);
      this.#announce();
      this.#hooks.failed(undefined);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What is started from now on does not hear of it; who is here stays. */
  hide(): void {
    this.#retract?.();
    this.#retract = undefined;
  }

  #announce(): void {
    if (this.#retract !== undefined || this.#kept === undefined) return;
    const { place, token } = this.#kept;
    this.#retract = publishAddress({ path: place.path, rootId: this.#hooks.rootId, token, pid: process.pid });
  }

  /** Connections outlive the name of their socket; who comes later needs it. */
  look(): void {
    if (this.#server === undefined || this.#kept === undefined || isThere(this.#kept.place)) return;
    try {
      this.#server.close();
      this.#listen(this.#kept.place);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** `goesOn`: the session will listen again, in a new instance of the extension. */
  close(goesOn: boolean): void {
    this.hide();
    for (const connection of [...this.#connections]) connection.end({ t: "bye", back: goesOn });
    this.#server?.close();
    this.#server = undefined;
    if (goesOn || this.#kept === undefined) return;
    kept().delete(this.#hooks.rootId);
    removePlace(this.#kept.place);
    this.#kept = undefined;
  }

  #listen(place: Place): void {
    restore(place);
    const server = createServer((socket) => this.#hooks.run(() => this.#take(socket)));
    this.#server = server;
    server.unref();
    server.on("error", (error) => this.#hooks.run(() => this.#fail(error)));
    server.listen({ path: place.path });
  }

  #fail(error: unknown): void {
    const code = (error as NodeJS.ErrnoException).code;
    this.close(false);
    this.#hooks.failed(code ?? (error instanceof Error ? error.message : String(error)));
  }

  #take(socket: import("node:net").Socket): void {
    const strangers = [...this.#connections].filter(({ proved }) => !proved).length;
    if (strangers >= MAX_STRANGERS || this.#connections.size >= MAX_CONNECTIONS || this.#kept === undefined) {
      socket.on("error", () => {});
      socket.destroy();
      return;
    }
    const { token } = this.#kept;
    const connection = new Connection(socket, {
      token,
      process: peerOf(this.#hooks.processes, socket),
      budgets: [new Budget(READ_PER_SECOND, this.#hooks.now), this.#together],
      proved: this.#hooks.proved,
      frame: this.#hooks.frame,
      run: this.#hooks.run,
      closed: (gone) => {
        this.#connections.delete(gone);
        if (gone.proved) this.#hooks.closed(gone);
      },
    });
    this.#connections.add(connection);
  }
}
