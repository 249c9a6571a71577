// One child: a real Pi session in this process, with every installed extension loaded, so that extensions under test
// run in it as they would for a user. Knows the session, not the records.

import { dirname, join } from "node:path";
import {
  type AgentSession,
  createAgentSession,
  DefaultResourceLoader,
  type ExtensionContext,
  getAgentDir,
  ModelRuntime,
  SessionManager,
  SettingsManager,
} from "@earendil-works/pi-coding-agent";

/** Tools of this package; a child does not get them. */
export const OWN_TOOLS = ["subagent", "get_subagent_result", "steer_subagent"];

export interface ChildWatch {
  tool(): void;
  usage(use: { input: number; output: number; cacheWrite: number }): void;
  compacted(reason: string, tokensBefore: number): void;
  /** A turn has ended; `n` turns so far in this run. */
  turn(n: number): void;
}

/** Where children of a saved main session are saved; children of an unsaved one are not saved. */
function childSessions(parent: ExtensionContext): SessionManager {
  const file = parent.sessionManager.getSessionFile();
  if (file === undefined) return SessionManager.inMemory(parent.cwd);
  return SessionManager.create(parent.cwd, join(dirname(file), "tasks"));
}

/** Loads the extensions (their factories run here) and creates the session; it is not yet bound. */
export async function createChild(parent: ExtensionContext, type: string, nested: boolean): Promise<AgentSession> {
  const { cwd } = parent;
  const agentDir = getAgentDir();
  const settingsManager = SettingsManager.create(cwd, agentDir);
  const resourceLoader = new DefaultResourceLoader({
    cwd,
    agentDir,
    settingsManager,
    appendSystemPrompt: [`You are the sub-agent "${type}". Do the task of the first message, then answer.`],
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
    excludeTools: nested ? [] : OWN_TOOLS,
  });
  return session;
}

/** Follows a bound session until it is told to stop. */
export function watchChild(session: AgentSession, watch: ChildWatch): () => void {
  let turns = 0;
  return session.subscribe((event) => {
    if (event.type === "agent_start") turns = 0;
    else if (event.type === "tool_execution_end") watch.tool();
    else if (event.type === "turn_end") watch.turn(++turns);
    else if (event.type === "message_end" && event.message.role === "assistant") watch.usage(event.message.usage);
    else if (event.type === "compaction_end" && event.result && !event.aborted)
      watch.compacted(event.reason, event.result.tokensBefore);
  });
}
