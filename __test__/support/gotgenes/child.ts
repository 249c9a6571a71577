// One child: a real Pi session in this process, with every installed extension loaded, so that extensions under test
// run in it as they would for a user. Knows the session, not the records.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type AgentSession,
  createAgentSession,
  DefaultResourceLoader,
  type ExtensionContext,
  getAgentDir,
  ModelRuntime,
  parseFrontmatter,
  SessionManager,
  SettingsManager,
} from "@earendil-works/pi-coding-agent";

/** What the default types list. */
const PI_TOOLS = ["read", "bash", "edit", "write", "grep", "find", "ls"];
/** Tools of this package; a child does not get them. */
export const OWN_TOOLS = ["subagent", "get_subagent_result", "steer_subagent"];

export interface ChildWatch {
  begun(callId: string, tool: string): void;
  tool(callId: string): void;
  usage(use: { input: number; output: number; cacheWrite: number }): void;
  compacted(reason: string, tokensBefore: number): void;
  /** A turn has ended; `n` turns so far in this run. */
  turn(n: number): void;
}

/** Children are always saved: beside a saved main session, else in a folder for unsaved ones. */
function childSessions(parent: ExtensionContext): SessionManager {
  const file = parent.sessionManager.getSessionFile();
  const folder = file === undefined ? join(getAgentDir(), "unsaved") : dirname(file);
  return SessionManager.create(parent.cwd, join(folder, "tasks"));
}

/**
 * What a child is: the tools that its type lists, and nothing but them. A type is the name of an agent file; types without
 * a file list Pi's own tools.
 */
function definition(type: string, cwd: string): { tools: string[]; prompt: string } {
  const folders = [join(cwd, ".pi", "agents"), join(getAgentDir(), "agents")];
  const file = folders.map((folder) => join(folder, `${type}.md`)).find((path) => existsSync(path));
  if (file === undefined) return { tools: PI_TOOLS, prompt: "" };
  const { frontmatter, body } = parseFrontmatter<Record<string, unknown>>(readFileSync(file, "utf8"));
  return { tools: listed(frontmatter.tools), prompt: body };
}

/** A list or a line with commas; nothing given: Pi's own; `none`: no tools. */
function listed(tools: unknown): string[] {
  if (tools === undefined || tools === null) return PI_TOOLS;
  const entries = Array.isArray(tools) ? tools.map(String) : String(tools).split(",");
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== "" && entry !== "none");
}

/** Loads the extensions (their factories run here) and creates the session; it is not yet bound. */
export async function createChild(parent: ExtensionContext, type: string, nested: boolean): Promise<AgentSession> {
  const { cwd } = parent;
  const agentDir = getAgentDir();
  const { tools, prompt } = definition(type, cwd);
  const settingsManager = SettingsManager.create(cwd, agentDir);
  const resourceLoader = new DefaultResourceLoader({
    cwd,
    agentDir,
    settingsManager,
    appendSystemPrompt: [`You are the sub-agent "${type}". Do the task of the first message, then answer.`, prompt],
  });
  await resourceLoader.reload();
  const modelRuntime = await ModelRuntime.create();
  const model = parent.model && modelRuntime.getModel(parent.model.provider, parent.model.id);
  const { session } = await createAgentSession({
    cwd,
    agentDir,
    settingsManager,
    resourceLoader,
    modelRuntime,
    model,
    sessionManager: childSessions(parent),
    tools: nested ? [...tools, ...OWN_TOOLS] : tools,
    excludeTools: nested ? [] : OWN_TOOLS,
  });
  return session;
}

/** Follows a bound session until it is told to stop. */
export function watchChild(session: AgentSession, watch: ChildWatch): () => void {
  let turns = 0;
  return session.subscribe((event) => {
    if (event.type === "agent_start") turns = 0;
    else if (event.type === "tool_execution_start") watch.begun(event.toolCallId, event.toolName);
    else if (event.type === "tool_execution_end") watch.tool(event.toolCallId);
    else if (event.type === "turn_end") watch.turn(++turns);
    else if (event.type === "message_end" && event.message.role === "assistant") watch.usage(event.message.usage);
    else if (event.type === "compaction_end" && event.result && !event.aborted)
      watch.compacted(event.reason, event.result.tokensBefore);
  });
}
