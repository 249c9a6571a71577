// The three tools by which the main agent uses its sub-agents. They only translate to and from the manager.

import { defineTool, type ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import type { Manager } from "./manager.ts";
import type { AgentRecord, Emit } from "./record.ts";

const text = (value: string, details: Record<string, unknown> = {}) => ({
  content: [{ type: "text" as const, text: value }],
  details,
});

/** Only the id of an agent is known, not that of its session. */
const notFound = (id: string): string => `Agent not found: "${id}".`;

export function describe(record: AgentRecord): string {
  const head = `Agent ${record.id} (${record.type}): ${record.status}, ${record.toolUses} tool uses.`;
  if (record.error) return `${head}\nError: ${record.error}`;
  return record.completedAt === undefined ? head : `${head}\n${record.result || "No output."}`;
}

export function registerTools(
  pi: Pick<ExtensionAPI, "registerTool">,
  manager: Manager,
  emit: Emit,
  consumed: (id: string) => void,
): void {
  pi.registerTool(
    defineTool({
      name: "subagent",
      label: "Subagent",
      description: "Runs a task in a sub-agent, in the foreground or the background; or resumes an earlier one.",
      parameters: Type.Object({
        subagent_type: Type.String(),
        prompt: Type.String(),
        description: Type.Optional(Type.String()),
        run_in_background: Type.Optional(Type.Boolean()),
        max_turns: Type.Optional(Type.Number()),
        resume: Type.Optional(Type.String()),
      }),
      execute: async (_callId, params, signal, onUpdate) => {
        const report = (id: string) =>
          manager.onProgress(id, (record) => onUpdate?.(text(`${record.toolUses} tool uses`, { agentId: id })));
        if (params.resume !== undefined) {
          report(params.resume);
          const resumed = await manager.resume(params.resume, params.prompt);
          if (!resumed) throw new Error(`Agent ${params.resume} cannot be resumed.`);
          return text(describe(resumed), { agentId: resumed.id });
        }
        const id = manager.spawn(params.subagent_type, params.prompt, {
          description: params.description,
          isBackground: params.run_in_background,
          maxTurns: params.max_turns,
        });
        if (params.run_in_background) return text(`Agent ${id} started in the background.`, { agentId: id });
        const stop = () => void manager.abort(id);
        signal?.addEventListener("abort", stop, { once: true });
        report(id);
        const record = await manager.wait(id);
        signal?.removeEventListener("abort", stop);
        if (!record) throw new Error(`Agent ${id} is gone.`);
        return text(describe(record), { agentId: id });
      },
    }),
  );

  pi.registerTool(
    defineTool({
      name: "get_subagent_result",
      label: "Subagent result",
      description: "State and result of a background sub-agent.",
      parameters: Type.Object({ agent_id: Type.String(), wait: Type.Optional(Type.Boolean()) }),
      execute: async (_callId, params) => {
        if (params.wait) consumed(params.agent_id);
        const record = params.wait ? await manager.wait(params.agent_id) : manager.getRecord(params.agent_id);
        if (!record) return text(notFound(params.agent_id));
        return text(describe(record), { agentId: record.id });
      },
    }),
  );

  pi.registerTool(
    defineTool({
      name: "steer_subagent",
      label: "Steer subagent",
      description: "Sends a message to a running sub-agent.",
      parameters: Type.Object({ agent_id: Type.String(), message: Type.String() }),
      execute: async (_callId, params) => {
        const record = manager.getRecord(params.agent_id);
        if (!record) return text(notFound(params.agent_id));
        if (!(await manager.steer(params.agent_id, params.message)))
          return text(`Agent "${record.id}" is not running (status: ${record.status}).`);
        emit("subagents:steered", { id: params.agent_id, message: params.message });
        return text("Steering message queued.", { agentId: params.agent_id });
      },
    }),
  );
}
