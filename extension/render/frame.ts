// A framed view on a terminal of a given height: what is drawn, and what part of a long text. Pure; knows nothing of Pi.

import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";

/** Rows at the bottom of the screen that stay free: Pi's footer with its status lines. */
export const FOOTER_ROWS = 3;
/** Border above, title, hints, border below. */
const FRAME_ROWS = 4;

/** Rows of text between title and hints, on a screen of so many rows. */
export const textRows = (screenRows: number): number => Math.max(1, screenRows - FOOTER_ROWS - FRAME_ROWS);

export interface FrameParts {
  title: string;
  body: readonly string[];
  hints: string;
  /** What part of the text is shown; stands in the lower border. */
  position?: string;
  border(text: string): string;
}

/** All rows of the view, never more than the screen has above its footer. */
export function frame(
  { title, body, hints, position, border }: FrameParts,
  width: number,
  screenRows: number,
): string[] {
  const text = body.slice(0, textRows(screenRows));
  const label = position === undefined ? "" : truncateToWidth(`── ${position} `, width, "");
  const lower = label + "─".repeat(Math.max(0, width - visibleWidth(label)));
  const rows = [border("─".repeat(Math.max(1, width))), title, ...text, hints, border(lower)];
  // On a screen too low for the frame the text is worth more than the borders.
  const room = Math.max(1, screenRows - FOOTER_ROWS);
  return rows.length <= room ? rows : [title, ...text, hints].slice(0, room);
}

/** The hints that fit into one row; the first ones are the last to go. */
export function fitHints(hints: readonly string[], width: number): string {
  let line = "";
  for (const hint of hints) {
    const longer = line === "" ? hint : `${line} · ${hint}`;
    if (visibleWidth(longer) > width) break;
    line = longer;
  }
  return line === "" ? truncateToWidth(hints[0] ?? "", width, "…") : line;
}

/** A row of a text, and the line that it belongs to, by which it is found again when the text has changed. */
export interface Row {
  key: string;
  text: string;
}

/**
 * What part of a growing text is shown. At the end it follows the text; elsewhere the reader goes on to see the same
 * rows, whatever is added or removed around them.
 */
export class Viewport {
  #atEnd = true;
  #top = 0;
  #anchor: { key: string; below: number } | undefined;
  #total = 0;
  #room = 1;

  /** The rows to show. */
  show(rows: readonly Row[], room: number): readonly Row[] {
    const last = Math.max(0, rows.length - room);
    if (this.#atEnd) this.#top = last;
    else if (this.#anchor !== undefined) {
      const { key, below } = this.#anchor;
      const at = rows.findIndex((row) => row.key === key);
      if (at >= 0) this.#top = at + (rows[at + below]?.key === key ? below : 0);
    }
    this.#top = Math.min(this.#top, last);
    this.#total = rows.length;
    this.#room = room;
    this.#hold(rows);
    return rows.slice(this.#top, this.#top + room);
  }

  /** `1-17 of 40`, or nothing where all of it is on the screen. */
  get position(): string | undefined {
    if (this.#total <= this.#room) return undefined;
    return `${this.#top + 1}-${Math.min(this.#total, this.#top + this.#room)} of ${this.#total}`;
  }

  move(by: number): void {
    this.#to(this.#top + by);
  }

  page(by: 1 | -1): void {
    // One row stays in sight.
    this.#to(this.#top + by * Math.max(1, this.#room - 1));
  }

  home(): void {
    this.#to(0);
  }

  end(): void {
    this.#to(this.#total);
  }

  #to(top: number): void {
    const last = Math.max(0, this.#total - this.#room);
    this.#top = Math.min(last, Math.max(0, top));
    this.#atEnd = this.#top === last;
    this.#anchor = undefined;
  }

  #hold(rows: readonly Row[]): void {
    const key = rows[this.#top]?.key;
    const first = key === undefined ? -1 : rows.findIndex((row) => row.key === key);
    this.#anchor = key === undefined ? undefined : { key, below: this.#top - first };
  }
}
