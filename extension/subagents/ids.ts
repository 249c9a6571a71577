// The name by which the main agent's own tools reach an agent: the sub-agent package's id, and the call of its steering
// tool. Only where the session is the agent's beyond doubt; a guessed id could reach another agent.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { oneLine } from "../sanitize.ts";
import type { SubagentBackend, SubagentRecord, ToolCall } from "./backend.ts";

export interface AgentName {
  /** What the package's own tools take. */
  agentId: string;
  /** Name of the package. */
  backend: string;
  /** A call of the package's own steering tool, on one line; absent where that tool cannot reach the agent now. */
  steer: string | undefined;
}

/** Longer ids are no ids of a package that is known; cut they would name nobody. */
const ID_CHARS = 200;
/** Stands in a call for the message, which the main agent writes. */
const MESSAGE = "…";

/** Undefined when no package knows the session, or none beyond doubt. */
export function agentOf(backends: readonly SubagentBackend[], sessionId: string): AgentName | undefined {
  const names = backends.flatMap((backend) => nameIn(backend, sessionId) ?? []);
  // A child may also report over the link, whose id is the session's own.
  return (
    names.find(({ steer }) => steer !== undefined) ?? names.find(({ agentId }) => agentId !== sessionId) ?? names[0]
  );
}

function nameIn(backend: SubagentBackend, sessionId: string): AgentName | undefined {
  try {
    const record = backend.list().find((entry) => isExact(entry, sessionId));
    if (record === undefined || !isPlain(record.agentId)) return undefined;
    const call = backend.steerCall?.(record.agentId);
    return { agentId: record.agentId, backend: backend.name, steer: call && words(call) };
  } catch {
    return undefined;
  }
}

const isExact = (record: SubagentRecord, sessionId: string): boolean =>
  record.sessionId === sessionId && record.link === "exact";

/** What would have to be changed before it is shown is no id. */
const isPlain = (id: string): boolean => id !== "" && id.length <= ID_CHARS && oneLine(id, ID_CHARS) === id;

function words({ tool, args }: ToolCall): string {
  const fields = Object.entries({ ...args, message: MESSAGE });
  return `${tool} {${fields.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`).join(", ")}}`;
}

/**
 * Whether the main agent has a tool of this name that takes these arguments. Packages use the same names, so it must come
 * from where `sibling` comes from, another tool of the package.
 */
export function hasTool(pi: ExtensionAPI, tool: string, parameters: readonly string[], sibling = tool): boolean {
  if (!pi.getActiveTools().includes(tool)) return false;
  const tools = pi.getAllTools();
  const found = tools.find(({ name }) => name === tool);
  const source: unknown = tools.find(({ name }) => name === sibling)?.sourceInfo?.path;
  if (source === undefined || found?.sourceInfo?.path !== source) return false;
  const properties = property(found.parameters, "properties");
  return typeof properties === "object" && properties !== null && parameters.every((name) => name in properties);
}

const property = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
