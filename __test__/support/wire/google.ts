// Google Generative AI, as Pi's `google-generative-ai` provider sends and reads it.

import type { Message, Wire } from "../model-types.ts";
import { contentText, ENDING, frame, pieces } from "./sse.ts";

interface Part {
  text?: string;
  thought?: boolean;
  functionCall?: { id?: string; name: string; args?: Record<string, unknown> };
  functionResponse?: { id?: string; name: string; response: { output?: string; error?: string } };
}

interface Body {
  systemInstruction?: { parts: Part[] };
  contents: { role: "user" | "model"; parts: Part[] }[];
  tools?: { functionDeclarations: { name: string }[] }[];
}

const FINISH = { stop: "STOP", length: "MAX_TOKENS", toolUse: "STOP" } as const;

export const google: Wire = {
  api: "google-generative-ai",
  base: "/google/v1beta",
  accepts: (path) => /^\/models\/[^/]+:streamGenerateContent$/.test(path),

  parse(body, path) {
    const { systemInstruction, contents, tools } = body as Body;
    const messages: Message[] = [];
    for (const { role, parts } of contents) {
      if (role === "model") {
        const toolCalls = parts.flatMap(({ functionCall: call }) =>
          call === undefined ? [] : [{ id: call.id ?? "", name: call.name, args: call.args ?? {} }],
        );
        messages.push({
          role: "assistant",
          text: contentText(parts.filter((part) => part.thought !== true)),
          toolCalls,
        });
        continue;
      }
      const texts: Part[] = [];
      for (const part of parts) {
        const result = part.functionResponse;
        if (result !== undefined) {
          const text = result.response.output ?? result.response.error ?? "";
          messages.push({ role: "tool", text, toolCalls: [], callId: result.id ?? result.name });
        } else if (part.text !== undefined) texts.push(part);
      }
      if (texts.length > 0) messages.push({ role: "user", text: contentText(texts), toolCalls: [] });
    }
    return {
      model: path.slice("/models/".length, path.lastIndexOf(":")),
      system: contentText(systemInstruction?.parts),
      messages,
      tools: (tools ?? []).flatMap((group) => group.functionDeclarations.map((tool) => tool.name)),
    };
  },

  *frames(reply) {
    const chunk = (parts: Part[], more: Record<string, unknown> = {}, finishReason?: string) =>
      frame({
        responseId: reply.id,
        modelVersion: reply.model,
        candidates: [{ index: 0, content: { role: "model", parts }, finishReason }],
        ...more,
      });
    for (const text of pieces(reply.thinking)) yield chunk([{ text, thought: true }]);
    for (const text of pieces(reply.text)) yield chunk([{ text }]);
    for (const { id, name, args } of reply.toolCalls) yield chunk([{ functionCall: { id, name, args } }]);
    yield ENDING;
    const { input, output, cacheRead, cacheWrite } = reply.usage;
    const prompt = input + cacheRead + cacheWrite;
    const usageMetadata = {
      promptTokenCount: prompt,
      candidatesTokenCount: output,
      cachedContentTokenCount: cacheRead,
      totalTokenCount: prompt + output,
    };
    yield chunk([], { usageMetadata }, FINISH[reply.stopReason]);
  },

  failure: (status, message) => ({ error: { code: status, message, status: "SCRIPTED_ERROR" } }),
};
