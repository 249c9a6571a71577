// Children that are processes of their own, as one more way in which sub-agents are met: the socket is open while the
// main session is watched, and every session that is reported over it can be steered and stopped over it.

import { overrideLayers } from "../overrides.ts";
import type { BackendConnection } from "../runtime.ts";
import type { Delivery, PackageReport, SubagentBackend, SubagentRecord } from "../subagents/backend.ts";
import type { Host } from "../subagents/connection.ts";
import { type Child, Children } from "./children.ts";
import type { Connection } from "./connection.ts";
import { ANSWER_MS, LOOK_IDLE_MS, LOOK_MS, MAX_MESSAGE, STOP_MS, TAKE_UP_MS } from "./limits.ts";
import { LINK } from "./owners.ts";
import { Requests } from "./requests.ts";
import { LinkServer } from "./server.ts";
import type { Frame } from "./wire.ts";

export function connectLink({ session, store, processes, now, fault }: Host): BackendConnection {
  const connections = new Set<Connection>();
  const requests = new Requests();
  const children = new Children({ store, session, processes, now, run });
  let failure: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let told = "";
  let disposed = false;

  const backend: SubagentBackend = {
    name: LINK,
    capabilities: { list: true, steer: true, stop: true, resume: false },
    list: () => children.all().map(toRecord),
    steer,
    stop,
    dispose: () => dispose(false),
  };

  function run(work: () => void): void {
    try {
      work();
    } catch (error) {
      fault(`${LINK}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  const server = new LinkServer({
    rootId: session.id,
    processes,
    now,
    run,
    proved(connection) {
      if (!children.joins()) return connection.close();
      connections.add(connection);
      connection.send({ ...mainFrame(), t: "welcome" });
      lookIn(LOOK_MS);
    },
    frame(connection, frame) {
      if (frame.t === "did") requests.answered(connection, frame);
      else if (!children.take(connection, frame)) return connection.close();
      if (children.seen > 0 && !session.backends.includes(backend)) session.backends.push(backend);
    },
    closed(connection) {
      connections.delete(connection);
      requests.lost(connection);
      children.lost(connection);
    },
    failed(reason) {
      failure = reason;
    },
  });

  /** What a child needs to know of its main session. */
  function mainFrame(): Frame {
    const { config } = session;
    return { t: "main", config, layers: overrideLayers(session.id), paused: store.paused(session.id) };
  }

  function lookIn(ms: number): void {
    clearTimeout(timer);
    timer = disposed ? undefined : setTimeout(() => run(look), ms).unref();
  }

  function look(): void {
    lookIn(
      connections.size > 0 || children.all().some(({ endedAt }) => endedAt === undefined) ? LOOK_MS : LOOK_IDLE_MS,
    );
    server.look();
    children.look();
    inform();
  }

  /** Whatever way it changed: by a file, a command, a model, or a pause. */
  function inform(): void {
    const frame = mainFrame();
    const text = JSON.stringify(frame);
    if (text !== told) for (const connection of connections) connection.send(frame);
    told = text;
  }

  /** Children of a main session that is not watched are not watched either. They stay, and go on when it does. */
  function refresh(): void {
    if (disposed) return;
    if (session.config.enabled) {
      server.open();
      if (timer === undefined) lookIn(LOOK_IDLE_MS);
    } else server.hide();
    inform();
  }

  async function steer(agentId: string, message: string): Promise<Delivery> {
    const to = addressee(agentId);
    if ("outcome" in to) return to;
    const frame = { t: "steer", s: to.id, text: message.slice(0, MAX_MESSAGE) };
    return requests.ask(to.connection, frame, ANSWER_MS, TAKE_UP_MS);
  }

  async function stop(agentId: string): Promise<Delivery> {
    const to = addressee(agentId);
    if ("outcome" in to) return to;
    const delivery = await requests.ask(to.connection, { t: "stop", s: to.id }, ANSWER_MS, STOP_MS);
    return children.get(to.id)?.endedAt === undefined ? delivery : { outcome: "delivered" };
  }

  function addressee(agentId: string): { id: string; connection: Connection } | Delivery {
    const child = children.get(agentId);
    if (child === undefined || disposed)
      return { outcome: "unknown_target", reason: "no process reports a session of this id" };
    if (child.endedAt !== undefined) return { outcome: "refused", reason: `the session has ended (${child.status})` };
    if (child.connection === undefined) return { outcome: "refused", reason: "its process is out of contact" };
    return { id: child.id, connection: child.connection };
  }

  function toRecord(child: Child): SubagentRecord {
    return {
      agentId: child.id,
      sessionId: child.id,
      link: "exact",
      type: child.type,
      description: child.name,
      status: child.status,
      startedAt: child.startedAt,
      ...(child.endedAt === undefined ? {} : { completedAt: child.endedAt }),
      ...(child.parentId === session.id ? {} : { parentId: child.parentId }),
      ...(child.process === undefined ? {} : { pid: child.process.pid }),
    };
  }

  function report(): PackageReport[] {
    if (failure !== undefined) {
      const detail = `children in processes of their own cannot report: no socket (${failure})`;
      return [{ package: LINK, state: "unusable", detail }];
    }
    const lost = children
      .all()
      .map(({ handle }) => store.target(handle)?.remote?.lost ?? 0)
      .reduce((sum, some) => sum + some, 0);
    const details = [
      ...(lost > 0 ? [`${lost} events lost`] : []),
      ...(children.muted > 0 ? [`${children.muted} notices held back: too many`] : []),
    ];
    if (children.seen === 0) return [];
    return [{ package: LINK, state: "in use", ...(details.length > 0 ? { detail: details.join(", ") } : {}) }];
  }

  function dispose(goesOn: boolean): void {
    if (disposed) return;
    disposed = true;
    clearTimeout(timer);
    run(() => (goesOn ? children.leave() : children.close()));
    run(() => server.close(goesOn));
    session.backends = session.backends.filter((other) => other !== backend);
  }

  run(refresh);
  return { child: () => undefined, report, refresh: () => run(refresh), dispose: (goesOn = false) => dispose(goesOn) };
}
