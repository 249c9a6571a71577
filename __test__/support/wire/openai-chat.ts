// OpenAI chat completions, as Pi's `openai-completions` provider sends and reads it.

import type { Message, ToolCall, Wire } from "../model-types.ts";
import { contentText, ENDING, frame, parseArgs, pieces } from "./sse.ts";

interface Body {
  model: string;
  messages: {
    role: "system" | "developer" | "user" | "assistant" | "tool";
    content: unknown;
    tool_calls?: { id: string; function: { name: string; arguments: string } }[];
    tool_call_id?: string;
  }[];
  tools?: { function: { name: string } }[];
}

const FINISH = { stop: "stop", length: "length", toolUse: "tool_calls" } as const;

export const openaiChat: Wire = {
  api: "openai-completions",
  base: "/openai/v1",
  accepts: (path) => path === "/chat/completions",

  parse(body) {
    const { model, messages, tools } = body as Body;
    const system: string[] = [];
    const neutral: Message[] = [];
    for (const message of messages) {
      const text = contentText(message.content);
      if (message.role === "system" || message.role === "developer") system.push(text);
      else if (message.role === "tool")
        neutral.push({ role: "tool", text, toolCalls: [], callId: message.tool_call_id });
      else {
        const toolCalls: ToolCall[] = (message.tool_calls ?? []).map((call) => ({
          id: call.id,
          name: call.function.name,
          args: parseArgs(call.function.arguments),
        }));
        neutral.push({ role: message.role, text, toolCalls });
      }
    }
    return { model, system: system.join("\n"), messages: neutral, tools: (tools ?? []).map((t) => t.function.name) };
  },

  *frames(reply) {
    const chunk = (delta: unknown, finish: string | null = null) =>
      frame({
        id: reply.id,
        object: "chat.completion.chunk",
        created: 0,
        model: reply.model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    yield chunk({ role: "assistant", content: "" });
    for (const part of pieces(reply.thinking)) yield chunk({ reasoning_content: part });
    for (const part of pieces(reply.text)) yield chunk({ content: part });
    for (const [index, call] of reply.toolCalls.entries()) {
      yield chunk({
        tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }],
      });
      for (const part of pieces(JSON.stringify(call.args))) {
        yield chunk({ tool_calls: [{ index, function: { arguments: part } }] });
      }
    }
    yield ENDING;
    yield chunk({}, FINISH[reply.stopReason]);
    const { input, output, cacheRead, cacheWrite } = reply.usage;
    const prompt = input + cacheRead + cacheWrite;
    yield frame({
      id: reply.id,
      object: "chat.completion.chunk",
      created: 0,
      model: reply.model,
      choices: [],
      usage: {
        prompt_tokens: prompt,
        completion_tokens: output,
        total_tokens: prompt + output,
        prompt_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
      },
    });
    yield "data: [DONE]\n\n";
  },

  failure: (_status, message) => ({ error: { message, type: "scripted_error", code: null, param: null } }),
};
