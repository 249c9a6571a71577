// What the demo writes to the terminal: one line an event, with its time and who it is about. Colours only where the
// terminal takes them (`styleText` minds NO_COLOR and pipes). Knows nothing of Pi.

import { styleText } from "node:util";
import { lines, oneLine } from "../extension/sanitize.ts";

export type Actor = "you" | "main" | "child" | "watchdog" | "pi";

const COLOURS = { you: "white", main: "blue", child: "yellow", watchdog: "magenta", pi: "gray" } as const;

export class Screen {
  readonly #start = performance.now();

  title(text: string): void {
    this.#write(`\n${paint("bold", text)}`);
  }

  /** One event. What models and processes wrote is made safe and cut. */
  event(actor: Actor, text: string): void {
    const seconds = ((performance.now() - this.#start) / 1000).toFixed(1).padStart(5);
    this.#write(`${paint("gray", `${seconds} s`)}  ${paint(COLOURS[actor], actor.padEnd(8))}  ${oneLine(text, 160)}`);
  }

  /** Text of several lines below an event, as it was written. */
  block(text: string, actor: Actor = "pi"): void {
    for (const line of lines(text.trimEnd(), 60)) this.#write(`${" ".repeat(9)}${paint(COLOURS[actor], "│")} ${line}`);
  }

  check(passed: boolean, name: string, detail: string): void {
    const mark = passed ? paint("green", "[x]") : paint("red", "[ ]");
    this.#write(`  ${mark} ${name}${detail === "" ? "" : paint("gray", `  ${oneLine(detail, 120)}`)}`);
  }

  line(text: string): void {
    this.#write(text);
  }

  #write(text: string): void {
    process.stdout.write(`${text}\n`);
  }
}

function paint(style: Parameters<typeof styleText>[0], text: string): string {
  return styleText(style, text, { stream: process.stdout });
}
