// How a command's answer reaches whoever asked, in each of Pi's four modes. Answers are for people: where Pi has a way
// to show something without putting it before the model, that way is taken.

import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type Page, toText } from "../render/page.ts";
import type { Runtime } from "../runtime.ts";

/** Custom type of answers, as message (rpc, json) and as session entry (tui). */
export const ANSWER = "watchdog-answer";

export interface AnswerData {
  page: Page;
}

export function answer(runtime: Pick<Runtime, "pi">, ctx: ExtensionContext, page: Page): void {
  const details: AnswerData = { page };
  const text = toText(page);
  switch (ctx.mode) {
    case "tui":
      // An entry is drawn at once, also while the agent runs, and is no part of the model's context.
      runtime.pi.appendEntry(ANSWER, details);
      return;
    case "rpc":
      // While a turn runs a message would wait for its end, which a stuck turn may never reach.
      if (!ctx.isIdle()) {
        ctx.ui.notify(text, "info");
        return;
      }
      break;
    case "json":
      break;
    case "print":
      // Standard output belongs to the model's answer.
      process.stderr.write(`${text}\n`);
      return;
  }
  runtime.pi.sendMessage({ customType: ANSWER, content: text, display: true, details }, { triggerTurn: false });
}

/** Answers that had to become messages are left out of what the model is sent: they were not meant for it. */
export function keepAnswersFromModel(pi: ExtensionAPI): void {
  pi.on("context", ({ messages }) => {
    const others = messages.filter((message) => message.role !== "custom" || message.customType !== ANSWER);
    // An unchanged list must not be returned: Pi would send its prompt anew for it.
    return others.length < messages.length ? { messages: others } : undefined;
  });
}

export function complain(runtime: Runtime, ctx: ExtensionContext, ...sentences: string[]): void {
  answer(runtime, ctx, [{ text: sentences.join(" "), tone: "error" }]);
}
