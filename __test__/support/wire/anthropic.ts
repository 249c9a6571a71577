// Anthropic Messages, as Pi's `anthropic-messages` provider sends and reads it.

import type { Message, Wire } from "../model-types.ts";
import { contentText, ENDING, frame, pieces } from "./sse.ts";

interface Block {
  type: string;
  text?: string;
  id?: string;
  name?: string;
  input?: Record<string, unknown>;
  tool_use_id?: string;
  content?: unknown;
}

interface Body {
  model: string;
  system?: unknown;
  messages: { role: "user" | "assistant" | "system"; content: string | Block[] }[];
  tools?: { name: string }[];
}

const STOP = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use" } as const;

export const anthropic: Wire = {
  api: "anthropic-messages",
  base: "/anthropic",
  accepts: (path) => path === "/v1/messages",

  parse(body) {
    const { model, system, messages, tools } = body as Body;
    const neutral: Message[] = [];
    const systemTexts = [contentText(system)];
    for (const { role, content } of messages) {
      const blocks: Block[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
      if (role === "system") {
        systemTexts.push(contentText(blocks));
        continue;
      }
      if (role === "assistant") {
        const toolCalls = blocks
          .filter((block) => block.type === "tool_use")
          .map((block) => ({ id: block.id ?? "", name: block.name ?? "", args: block.input ?? {} }));
        neutral.push({ role, text: contentText(blocks.filter((block) => block.type === "text")), toolCalls });
        continue;
      }
      // One user message may hold several results and, after them, text.
      const texts: Block[] = [];
      for (const block of blocks) {
        if (block.type === "tool_result") {
          neutral.push({ role: "tool", text: contentText(block.content), toolCalls: [], callId: block.tool_use_id });
        } else if (block.type === "text") texts.push(block);
      }
      if (texts.length > 0) neutral.push({ role: "user", text: contentText(texts), toolCalls: [] });
    }
    return { model, system: systemTexts.join("\n"), messages: neutral, tools: (tools ?? []).map((tool) => tool.name) };
  },

  *frames(reply) {
    const event = (type: string, fields: Record<string, unknown> = {}) => frame({ type, ...fields }, type);
    const { input, output, cacheRead, cacheWrite } = reply.usage;
    yield event("message_start", {
      message: {
        id: reply.id,
        type: "message",
        role: "assistant",
        model: reply.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: {
          input_tokens: input,
          output_tokens: 1,
          cache_read_input_tokens: cacheRead,
          cache_creation_input_tokens: cacheWrite,
        },
      },
    });
    let index = 0;
    if (reply.thinking.length > 0) {
      const block = { type: "thinking", thinking: "", signature: "" };
      yield event("content_block_start", { index, content_block: block });
      for (const part of pieces(reply.thinking)) {
        yield event("content_block_delta", { index, delta: { type: "thinking_delta", thinking: part } });
      }
      const signature = Buffer.from(reply.id).toString("base64");
      yield event("content_block_delta", { index, delta: { type: "signature_delta", signature } });
      yield event("content_block_stop", { index: index++ });
    }
    if (reply.text.length > 0) {
      yield event("content_block_start", { index, content_block: { type: "text", text: "" } });
      for (const text of pieces(reply.text)) {
        yield event("content_block_delta", { index, delta: { type: "text_delta", text } });
      }
      yield event("content_block_stop", { index: index++ });
    }
    for (const call of reply.toolCalls) {
      const block = { type: "tool_use", id: call.id, name: call.name, input: {} };
      yield event("content_block_start", { index, content_block: block });
      for (const part of pieces(JSON.stringify(call.args))) {
        yield event("content_block_delta", { index, delta: { type: "input_json_delta", partial_json: part } });
      }
      yield event("content_block_stop", { index: index++ });
    }
    yield ENDING;
    yield event("message_delta", {
      delta: { stop_reason: STOP[reply.stopReason], stop_sequence: null },
      usage: { output_tokens: output },
    });
    yield event("message_stop");
  },

  failure: (_status, message) => ({ type: "error", error: { type: "scripted_error", message } }),
};
