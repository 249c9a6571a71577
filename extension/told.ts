// Tells the user something about the watchdog itself: a notification where there is a UI, a line on stderr elsewhere.
// Once per process and sentence, because every session and every child meets the same broken file.

import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { oneLine } from "./sanitize.ts";

const KEY = Symbol.for("pi-watchdog-supervisor:told/v1");
const MAX_CHARS = 400;

function told(): Set<string> {
  const shared = globalThis as unknown as Record<symbol, Set<string> | undefined>;
  shared[KEY] ??= new Set();
  return shared[KEY];
}

/** As `tellOnce`, every time. */
export function tell(ctx: ExtensionContext, sentences: readonly string[]): void {
  const shown = sentences.map((sentence) => oneLine(sentence, MAX_CHARS));
  if (shown.length === 0) return;
  if (ctx.hasUI) ctx.ui.notify(["Watchdog:", ...shown].join(shown.length > 1 ? "\n" : " "), "warning");
  else for (const sentence of shown) console.error(`pi-watchdog-supervisor: ${sentence}`);
}

/** Call it for main sessions only: the terminal is not a child's to write on. */
export function tellOnce(ctx: ExtensionContext, sentences: readonly string[]): void {
  const before = told();
  const fresh = sentences.map((sentence) => oneLine(sentence, MAX_CHARS)).filter((sentence) => !before.has(sentence));
  for (const sentence of fresh) before.add(sentence);
  tell(ctx, fresh);
}

/** After a reload the user wants to hear again what is still wrong. */
export function tellAgain(): void {
  told().clear();
}
