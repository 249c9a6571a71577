// A page: lines with a meaning instead of a colour, so that one text serves terminals, JSON clients and plain output.
// Knows nothing of what is on it.

import type { Theme } from "@earendil-works/pi-coding-agent";
import { type Component, truncateToWidth, visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { squeeze } from "./branch.ts";

export type Tone = "title" | "text" | "muted" | "dim" | "accent" | "success" | "warning" | "error";

export interface Line {
  text: string;
  /** What the line is, where a page is shown again and again with other lines around it. Unique on its page. */
  key?: string;
  tone?: Tone;
  /** Columns from the left; wrapped lines hang below it. */
  indent?: number;
  /** Terminals: what stands before the first row instead of the indentation, and before the rows it wraps into. */
  branch?: { lead: string; hang: string };
  /** One row, cut at the edge: for lists in which each line is one thing. */
  cut?: boolean;
  /** End of the line, which stays when the text is cut. */
  tail?: string;
}

export type Page = readonly Line[];

const pad = (line: Line): string => " ".repeat(line.indent ?? 0);

/** Without colours: rpc, json and print, and what is stored in the session. */
export function toText(page: Page): string {
  return page.map((line) => (line.text === "" ? "" : pad(line) + line.text + (line.tail ?? ""))).join("\n");
}

/** One line in the colours of the theme. */
export function paint(theme: Theme, text: string, tone: Tone = "text"): string {
  return tone === "title" ? theme.bold(theme.fg("accent", text)) : theme.fg(tone, text);
}

/** Lines for a width; text wraps at words and never exceeds it. */
export function layOut(page: Page, theme: Theme, width: number): string[] {
  const narrow = page.some(({ branch }) => branch !== undefined && width - branch.hang.length < BRANCH_ROOM);
  return page.flatMap((line) => {
    if (line.branch !== undefined) return layOutBranch(line, line.branch, theme, width, narrow);
    const room = width - (line.indent ?? 0);
    // On a screen too narrow for the indent, the text is worth more than its place.
    const [left, columns] = room >= 8 ? [pad(line), room] : ["", Math.max(1, width)];
    const tail = line.tail ?? "";
    if (!line.cut) return wrapTextWithAnsi(paint(theme, line.text + tail, line.tone), columns).map((row) => left + row);
    const text = truncateToWidth(line.text, Math.max(1, columns - visibleWidth(tail)), "…");
    return [left + paint(theme, truncateToWidth(text + tail, columns, ""), line.tone)];
  });
}

/** Columns that a text in a tree should have. */
const BRANCH_ROOM = 28;

function layOutBranch(
  line: Line,
  branch: { lead: string; hang: string },
  theme: Theme,
  width: number,
  narrow: boolean,
): string[] {
  const [lead, hang] = narrow ? [squeeze(branch.lead), squeeze(branch.hang)] : [branch.lead, branch.hang];
  const fits = width - hang.length >= 8;
  const columns = fits ? width - hang.length : Math.max(1, width);
  return wrapTextWithAnsi(paint(theme, line.text, line.tone), columns).map((row, i) =>
    fits ? paint(theme, i === 0 ? lead : hang, "dim") + row : row,
  );
}

/** A page in the transcript. */
export class PageView implements Component {
  readonly #page: Page;
  readonly #theme: Theme;
  readonly #padding: number;
  #cached: { width: number; rows: readonly string[] } | undefined;

  constructor(page: Page, theme: Theme, padding: number) {
    this.#page = page;
    this.#theme = theme;
    this.#padding = padding;
  }

  render(width: number): readonly string[] {
    if (this.#cached?.width === width) return this.#cached.rows;
    const margin = width > 4 * this.#padding ? this.#padding : 0;
    const rows = layOut(this.#page, this.#theme, Math.max(1, width - 2 * margin)).map((row) =>
      visibleWidth(row) === 0 ? "" : " ".repeat(margin) + row,
    );
    this.#cached = { width, rows };
    return rows;
  }

  invalidate(): void {
    this.#cached = undefined;
  }
}
