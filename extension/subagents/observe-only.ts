// Tool calls that look as if they started agents, of which nothing else is seen: no package is met, no session comes up,
// no process reports. They are counted, for one line in `/watchdog status`; their calls are watched as any tool is.
// Opens no targets: a target for an agent that nobody can see would only say what the open call says already.

import type { BackendConnection } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import type { Host } from "./connection.ts";

/** Names by which extensions call a tool that hands a task to another agent. */
const NAMES =
  /^(?:(?:run|spawn|start|call|dispatch|launch|invoke)[_-]?)?(?:sub[_-]?agents?|agents?|task|delegate(?:[_-]?(?:task|work))?|workers?)$/i;
/** Such a call carries the task; one that only lists agents or asks after one does not. */
const TASKS = ["prompt", "task", "tasks", "chain", "message", "instructions"];
/** An agent that a call starts in the background may come up when the call has ended. */
const LATE_MS = 5_000;
const MAX_TOOLS = 8;
const NAME_CHARS = 60;

interface Tool {
  name: string;
  calls: number;
  /** Some call of it was one that another part knows agents of. */
  covered: boolean;
  /** The latest call: agents that come up after its end are its. */
  startedAt: number;
  endedAt: number;
}

export function connectObserveOnly({ pi, session, store, now, fault }: Host): BackendConnection {
  const tools = new Map<string, Tool>();
  const open = new Map<string, Tool>();
  let disposed = false;

  const offs = [
    pi.on("tool_execution_start", (event) => attempt(() => begin(event))),
    pi.on("tool_execution_end", ({ toolCallId, isError }) => attempt(() => end(toolCallId, isError))),
  ];

  function attempt(work: () => void): void {
    if (disposed) return;
    try {
      work();
    } catch (error) {
      fault(`sub-agent tools: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  function begin({ toolCallId, toolName, args }: { toolCallId: string; toolName: string; args: unknown }): void {
    if (!NAMES.test(toolName) || !handsOver(args)) return;
    const tool = tools.get(toolName) ?? { name: toolName, calls: 0, covered: false, startedAt: 0, endedAt: 0 };
    // What came up since its call before was that call's.
    judge(tool);
    if (!tools.has(toolName) && tools.size >= MAX_TOOLS) return;
    tools.set(toolName, tool);
    tool.startedAt = now();
    tool.endedAt = 0;
    open.set(toolCallId, tool);
  }

  function end(toolCallId: string, failed: boolean): void {
    const tool = open.get(toolCallId);
    open.delete(toolCallId);
    // A call that failed need not have started anything.
    if (tool === undefined || failed) return;
    tool.calls += 1;
    tool.endedAt = now();
    judge(tool);
  }

  /** A call is somebody's when a child came up or did something while it ran, came up soon after, or is in a queue. */
  function judge(tool: Tool): void {
    if (tool.covered || tool.endedAt === 0) return;
    const { startedAt, endedAt } = tool;
    tool.covered =
      store
        .targets(session.rootId, true)
        .filter(({ id }) => id !== session.id)
        .some((child) =>
          child.startedAt >= startedAt ? child.startedAt <= endedAt + LATE_MS : child.lastActiveAt >= startedAt,
        ) || session.backends.some((backend) => backend.list().some(({ status }) => status === "queued"));
  }

  return {
    child: () => undefined,
    report() {
      for (const tool of tools.values()) attempt(() => judge(tool));
      return [...tools.values()]
        .filter(({ calls, covered }) => calls > 0 && !covered)
        .map(({ name, calls }) => ({
          package: `tool ${oneLine(name, NAME_CHARS)}`,
          state: "in use" as const,
          detail: `${calls === 1 ? "one call" : `${calls} calls`}; the agents that it may start are not seen, only its calls`,
        }));
    },
    dispose() {
      disposed = true;
      for (const off of offs.splice(0)) off();
      open.clear();
    },
  };
}

function handsOver(args: unknown): boolean {
  if (typeof args !== "object" || args === null) return false;
  return TASKS.some((field) => {
    const value: unknown = Reflect.get(args, field);
    return (typeof value === "string" && value.trim() !== "") || (Array.isArray(value) && value.length > 0);
  });
}
