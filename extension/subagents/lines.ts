// Bytes as they come → whole lines of text, bounded: a line that never ends must not fill the memory. Reads no file.

/** Longest line that is taken, in bytes. A session line with a few screenshots is shorter. */
const MAX_LINE = 16 * 1024 * 1024;
const NEWLINE = 10;

export class LineReader {
  readonly #max: number;
  #parts: Buffer[] = [];
  #held = 0;
  #skipping = false;
  #skipped = 0;

  constructor(max = MAX_LINE) {
    this.#max = max;
  }

  /** Lines that were too long. */
  get skipped(): number {
    return this.#skipped;
  }

  /** Takes the next bytes; the lines that end in them, without empty ones. The bytes may be reused afterwards. */
  take(bytes: Buffer): string[] {
    const lines: string[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      this.#hold(bytes.subarray(from, at));
      from = at + 1;
      const line = this.#end();
      if (line.trim() !== "") lines.push(line);
    }
    this.#hold(bytes.subarray(from));
    return lines;
  }

  /** What follows belongs to another text. */
  reset(): void {
    this.#parts = [];
    this.#held = 0;
    this.#skipping = false;
  }

  #hold(bytes: Buffer): void {
    if (this.#skipping || bytes.length === 0) return;
    if (this.#held + bytes.length > this.#max) {
      this.reset();
      this.#skipping = true;
      this.#skipped += 1;
      return;
    }
    this.#parts.push(Buffer.from(bytes));
    this.#held += bytes.length;
  }

  #end(): string {
    // Joined as bytes: a character may lie across two reads.
    const line = Buffer.concat(this.#parts, this.#held).toString("utf8");
    this.reset();
    return line;
  }
}
