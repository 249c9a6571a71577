// JSON lines of bounded length. Knows bytes and frames; what a frame means is for others.

export type Frame = Record<string, unknown> & { t: string };

/** One line, and how it is read: too long or no frame is an `undefined` and the end of the connection. */
export class LineReader {
  #parts: Buffer[] = [];
  #bytes = 0;
  #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** The peer is known now and may say more. */
  allow(max: number): void {
    this.#max = max;
  }

  /** Hands every full line to `take` until that says no. False when a line is too long or was refused. */
  feed(chunk: Buffer, take: (line: string) => boolean): boolean {
    let start = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      if (!this.#keep(chunk.subarray(start, end))) return false;
      const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#bytes = 0;
      start = end + 1;
      if (!take(line?.toString("utf8") ?? "")) return false;
    }
    return this.#keep(chunk.subarray(start));
  }

  #keep(part: Buffer): boolean {
    if (part.length === 0 && this.#parts.length > 0) return true;
    this.#bytes += part.length;
    if (this.#bytes > this.#max) return false;
    if (part.length > 0 || this.#parts.length === 0) this.#parts.push(part);
    // A line in thousands of pieces would cost more in bookkeeping than in bytes.
    if (this.#parts.length > 64) this.#parts = [Buffer.concat(this.#parts)];
    return true;
  }
}

export function parseFrame(line: string): Frame | undefined {
  try {
    const frame: unknown = JSON.parse(line);
    if (typeof frame !== "object" || frame === null || Array.isArray(frame)) return undefined;
    return typeof (frame as Frame).t === "string" ? (frame as Frame) : undefined;
  } catch {
    return undefined;
  }
}

export const encode = (frame: Frame): string => `${JSON.stringify(frame)}\n`;
