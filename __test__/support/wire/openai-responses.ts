// OpenAI Responses, as Pi's `openai-responses` provider sends and reads it.

import type { Message, Wire } from "../model-types.ts";
import { contentText, ENDING, frame, parseArgs, pieces } from "./sse.ts";

interface Item {
  type?: string;
  role?: "system" | "developer" | "user" | "assistant";
  content?: unknown;
  call_id?: string;
  name?: string;
  arguments?: string;
  output?: unknown;
}

interface Body {
  model: string;
  instructions?: string;
  input: Item[] | string;
  tools?: { name: string }[];
}

export const openaiResponses: Wire = {
  api: "openai-responses",
  base: "/responses/v1",
  accepts: (path) => path === "/responses",

  parse(body) {
    const { model, instructions, input, tools } = body as Body;
    const system: string[] = instructions === undefined ? [] : [instructions];
    const messages: Message[] = [];
    // Text, reasoning and calls of one answer are separate items; the neutral form has one message for them.
    let answer: Message | undefined;
    const assistant = () => {
      if (answer === undefined) {
        answer = { role: "assistant", text: "", toolCalls: [] };
        messages.push(answer);
      }
      return answer;
    };
    const items: Item[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
    for (const item of items) {
      if (item.type === "reasoning") assistant();
      else if (item.type === "function_call") {
        assistant().toolCalls.push({ id: item.call_id ?? "", name: item.name ?? "", args: parseArgs(item.arguments) });
      } else if (item.type === "function_call_output") {
        answer = undefined;
        messages.push({ role: "tool", text: contentText(item.output), toolCalls: [], callId: item.call_id });
      } else if (item.role === "assistant") {
        const message = assistant();
        message.text = [message.text, contentText(item.content)].filter((text) => text.length > 0).join("\n");
      } else if (item.role === "user") {
        answer = undefined;
        messages.push({ role: "user", text: contentText(item.content), toolCalls: [] });
      } else if (item.role === "system" || item.role === "developer") system.push(contentText(item.content));
    }
    return { model, system: system.join("\n"), messages, tools: (tools ?? []).map((tool) => tool.name) };
  },

  *frames(reply) {
    let sequence = 0;
    const event = (type: string, fields: Record<string, unknown>) =>
      frame({ type, sequence_number: sequence++, ...fields }, type);
    const response = (status: string, more: Record<string, unknown>) => ({
      id: reply.id,
      object: "response",
      created_at: 0,
      model: reply.model,
      status,
      error: null,
      incomplete_details: null,
      output: [],
      ...more,
    });
    yield event("response.created", { response: response("in_progress", {}) });
    const output: unknown[] = [];

    if (reply.thinking.length > 0) {
      const at = { output_index: output.length, item_id: `rs_${reply.id}`, summary_index: 0 };
      const item = { type: "reasoning", id: at.item_id, summary: [] as unknown[], status: "in_progress" };
      yield event("response.output_item.added", { output_index: at.output_index, item });
      yield event("response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } });
      for (const delta of pieces(reply.thinking))
        yield event("response.reasoning_summary_text.delta", { ...at, delta });
      const done = { ...item, status: "completed", summary: [{ type: "summary_text", text: reply.thinking }] };
      output.push(done);
      yield event("response.output_item.done", { output_index: at.output_index, item: done });
    }

    if (reply.text.length > 0) {
      const at = { output_index: output.length, item_id: `msg_${reply.id}`, content_index: 0 };
      const item = {
        type: "message",
        role: "assistant",
        id: at.item_id,
        status: "in_progress",
        content: [] as unknown[],
      };
      yield event("response.output_item.added", { output_index: at.output_index, item });
      yield event("response.content_part.added", { ...at, part: { type: "output_text", text: "", annotations: [] } });
      for (const delta of pieces(reply.text)) yield event("response.output_text.delta", { ...at, delta });
      const done = {
        ...item,
        status: "completed",
        content: [{ type: "output_text", text: reply.text, annotations: [] }],
      };
      output.push(done);
      yield event("response.output_item.done", { output_index: at.output_index, item: done });
    }

    for (const call of reply.toolCalls) {
      const at = { output_index: output.length, item_id: `fc_${call.id}` };
      const item = { type: "function_call", id: at.item_id, call_id: call.id, name: call.name, arguments: "" };
      yield event("response.output_item.added", { output_index: at.output_index, item });
      const json = JSON.stringify(call.args);
      for (const delta of pieces(json)) yield event("response.function_call_arguments.delta", { ...at, delta });
      yield event("response.function_call_arguments.done", { ...at, arguments: json });
      const done = { ...item, arguments: json, status: "completed" };
      output.push(done);
      yield event("response.output_item.done", { output_index: at.output_index, item: done });
    }

    yield ENDING;
    const { input, output: written, cacheRead, cacheWrite } = reply.usage;
    const read = input + cacheRead + cacheWrite;
    const cut = reply.stopReason === "length";
    const type = cut ? "response.incomplete" : "response.completed";
    yield event(type, {
      response: response(cut ? "incomplete" : "completed", {
        output,
        incomplete_details: cut ? { reason: "max_output_tokens" } : null,
        usage: {
          input_tokens: read,
          input_tokens_details: { cached_tokens: cacheRead, cache_write_tokens: cacheWrite },
          output_tokens: written,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: read + written,
        },
      }),
    });
  },

  failure: (_status, message) => ({ error: { message, type: "scripted_error", code: null, param: null } }),
};
