// An extension for tests: tools with outputs that no built-in tool gives, and a way to reload from RPC mode.

import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";

const MEGABYTE = 1024 * 1024;

/** Lone surrogates both ways, NULs, unterminated and nested escape sequences, C1 codes, bidi marks. */
export const SOUP = [
  "lone \ud800 and \udc00 and \udfff\ud83d",
  "nul \u0000 bell \u0007 backspace \b",
  "\u001b[31mred\u001b[0m \u001b[999;999H\u001b[2J\u001b[?1049h",
  "\u001b]0;title\u0007 \u001b]8;;http://example.invalid\u001b\\link\u001b]8;;\u001b\\",
  "\u001bPdcs never ended \u009b31m \u0090 \u009d0;x",
  "\u202eright to left\u202c \u2066isolate\u2069 \u200bzero\ufeff",
  "line\u2028separator\u2029paragraph\r\rover\rwritten",
  "\u001b]52;c;unterminated",
].join("\n");

function big(megabytes: number): string {
  const line = "0123456789abcdef ghijklmnopqrstuv \u2192 wxyz \u001b[32mok\u001b[0m\n";
  return line.repeat(Math.ceil((megabytes * MEGABYTE) / line.length));
}

export default function (pi: ExtensionAPI) {
  let calls = 0;
  const tool = (name: string, output: (times: number) => string) =>
    pi.registerTool({
      name,
      label: name,
      description: `Answers with ${name}.`,
      parameters: Type.Object({ times: Type.Optional(Type.Number()) }),
      async execute(_id, params) {
        calls += 1;
        return { content: [{ type: "text", text: output(params.times ?? 1) }], details: { calls } };
      },
    });
  tool("big_text", big);
  tool("soup", () => SOUP);
  tool("different_soup", () => `${SOUP}\nnumber ${calls} ${"\u001b[1m".repeat(calls)}`);
  pi.registerTool({
    name: "picture",
    label: "picture",
    description: "Answers with an image only.",
    parameters: Type.Object({}),
    async execute() {
      const data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
      return { content: [{ type: "image", data, mimeType: "image/png" }], details: undefined };
    },
  });

  // Keeps requests small: the model need not see all of a big output, the watchdog does.
  pi.on("context", ({ messages }) => ({
    messages: messages.map((message) => {
      if (message.role !== "toolResult") return message;
      const content = message.content.map((block) =>
        block.type === "text" && block.text.length > MEGABYTE
          ? { ...block, text: `(${block.text.length} characters)` }
          : block,
      );
      return { ...message, content };
    }),
  }));

  pi.registerCommand("test-reload", {
    description: "What /reload does in the terminal",
    handler: async (_args, ctx) => {
      await ctx.reload();
    },
  });
}
