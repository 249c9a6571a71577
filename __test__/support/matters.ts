// An extension for tests of the lifecycle watch: a tool whose result says what it used, a plan, and tools that wait for
// the user. Knows nothing of the watchdog.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

const answer = (text: string) => ({ content: [{ type: "text" as const, text }], details: undefined });

export default function matters(pi: ExtensionAPI): void {
  pi.registerTool({
    name: "ask_a_model",
    label: "Ask a model",
    description: "Answers with what another model said, and what that used.",
    parameters: Type.Object({}),
    execute: async () => ({
      ...answer("Forty-two."),
      usage: {
        input: 10_000,
        output: 2_000,
        cacheRead: 30_000,
        cacheWrite: 0,
        totalTokens: 42_000,
        cost: { input: 0.03, output: 0.03, cacheRead: 0.009, cacheWrite: 0, total: 0.069 },
      },
    }),
  });
  pi.registerTool({
    name: "todo_write",
    label: "Plan",
    description: "Writes the plan.",
    parameters: Type.Object({
      todos: Type.Array(Type.Object({ content: Type.String(), status: Type.String() })),
    }),
    execute: async (_id, { todos }) => answer(`${todos.length} items`),
  });
  pi.registerTool({
    name: "ask_user",
    label: "Ask the user",
    description: "Asks the user.",
    parameters: Type.Object({ question: Type.String() }),
    execute: async (_id, { question }, _signal, _update, ctx) =>
      answer((await ctx.ui.confirm("Question", question)) ? "yes" : "no"),
  });
}
