// Framing that the four shapes share.

/** Stands between the content of a stream and its end; writes nothing. */
export const ENDING = "";

/** One server-sent event. */
export function frame(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** Splits a text as a provider streams it. Never within a surrogate pair: providers send whole characters. */
export function* pieces(text: string, size = 48): Iterable<string> {
  let start = 0;
  while (start < text.length) {
    let end = Math.min(start + size, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end += 1;
    yield text.slice(start, end);
    start = end;
  }
}

/** Text of a content field that is a string, or a list of blocks with `text`. */
export function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: { text?: unknown }) => (typeof block?.text === "string" ? block.text : ""))
    .filter((text) => text.length > 0)
    .join("\n");
}

/** Arguments of a call that the shape sends as JSON text. */
export function parseArgs(json: unknown): Record<string, unknown> {
  if (typeof json !== "string" || json.length === 0) return {};
  return JSON.parse(json) as Record<string, unknown>;
}
