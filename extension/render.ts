// Registers how the watchdog's messages look in the transcript. The texts are made elsewhere; what arrives here may have
// been stored by an older version or written by hand into a session file, so nothing is taken for granted.

import { ANSWER } from "./commands/answer.ts";
import { alertView, rescueView } from "./render/alert.ts";
import { type Line, type Page, PageView, type Tone } from "./render/page.ts";
import type { Runtime } from "./runtime.ts";
import { plain } from "./sanitize.ts";

export const ALERT = "watchdog-alert";
export const RESCUE = "watchdog-rescue";

export function registerRenderers({ pi }: Runtime): void {
  pi.registerMessageRenderer(ALERT, (message, options, theme) =>
    alertView(textOf(message.content), message.details, options, theme),
  );
  pi.registerMessageRenderer(RESCUE, (message, options, theme) =>
    rescueView(textOf(message.content), message.details, options, theme),
  );
  pi.registerMessageRenderer(ANSWER, (message, options, theme) => {
    const page = pageOf(message.details) ?? [{ text: textOf(message.content) }];
    return new PageView(page, theme, options.outputPad);
  });
  pi.registerEntryRenderer(ANSWER, (entry, _options, theme) => {
    const page = pageOf(entry.data);
    return page === undefined ? undefined : new PageView(page, theme, 1);
  });
}

function textOf(content: string | readonly { type: string; text?: string }[]): string {
  const text = typeof content === "string" ? content : content.map((part) => part.text ?? "").join("\n");
  return plain(text);
}

const TONES: readonly string[] = [
  "title",
  "text",
  "muted",
  "dim",
  "accent",
  "success",
  "warning",
  "error",
] satisfies Tone[];

function pageOf(data: unknown): Page | undefined {
  const page = (data as { page?: unknown } | undefined)?.page;
  if (!Array.isArray(page)) return undefined;
  return page.flatMap(
    (
      line: {
        text?: unknown;
        tone?: unknown;
        indent?: unknown;
        cut?: unknown;
        tail?: unknown;
        branch?: { lead?: unknown; hang?: unknown } | null;
      } | null,
    ) => {
      if (typeof line?.text !== "string") return [];
      return [
        {
          text: plain(line.text),
          ...(typeof line.tone === "string" && TONES.includes(line.tone) ? { tone: line.tone as Tone } : {}),
          ...(line.cut === true ? { cut: true } : {}),
          ...(typeof line.tail === "string" ? { tail: plain(line.tail) } : {}),
          ...branchOf(line.branch),
          ...(typeof line.indent === "number" ? { indent: Math.max(0, Math.min(40, line.indent)) } : {}),
        },
      ];
    },
  );
}

/** Glyphs are drawn as they are and measured by their count: nothing else may come in their place. */
const GLYPHS = /^[ │├└]{0,40}$/;

function branchOf(branch: { lead?: unknown; hang?: unknown } | null | undefined): Pick<Line, "branch"> {
  const { lead, hang } = branch ?? {};
  const drawn = typeof lead === "string" && typeof hang === "string" && GLYPHS.test(lead) && GLYPHS.test(hang);
  return drawn ? { branch: { lead, hang } } : {};
}
