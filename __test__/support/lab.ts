// The one door for tests on real Pi: a scripted model, a home, and Pi in any mode, all closed when the test ends.

import { CleanupStack, type Scope } from "./cleanup.ts";
import { ModelServer, type Script } from "./model-server.ts";
import { type HomeOptions, PiHome } from "./pi-home.ts";
import { type OnceOptions, type OnceResult, runPi } from "./pi-once.ts";
import { PiRpc, type RpcOptions } from "./pi-rpc.ts";
import { PiTui, type TuiOptions } from "./pi-tui.ts";

export interface LabOptions extends HomeOptions {
  script: Script;
}

export class Lab {
  readonly server: ModelServer;
  readonly home: PiHome;
  readonly #scope: Scope;

  private constructor(server: ModelServer, home: PiHome, scope: Scope) {
    this.server = server;
    this.home = home;
    this.#scope = scope;
  }

  static async open(scope: Scope, options: LabOptions): Promise<Lab> {
    const stack = new CleanupStack();
    scope.after(() => stack.close());
    const server = await ModelServer.start(options.script, stack);
    return new Lab(server, new PiHome(server, stack, options), stack);
  }

  /** Starts Pi in RPC mode and waits until it answers. */
  async rpc(options: RpcOptions = {}): Promise<PiRpc> {
    const pi = new PiRpc(this.home, this.#scope, options);
    await pi.send({ type: "get_state" });
    return pi;
  }

  /** Runs Pi in json or print mode to its end. */
  run(options: OnceOptions): Promise<OnceResult> {
    return runPi(this.home, options);
  }

  /** Starts Pi in a terminal. Only where `tmuxMissing` is false. */
  tui(options: TuiOptions = {}): Promise<PiTui> {
    return PiTui.start(this.home, this.#scope, options);
  }
}
