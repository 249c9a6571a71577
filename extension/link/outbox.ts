// What a child has to report of one session and the main session has not acknowledged yet. Bounded: when it is full
// the oldest goes, and its number tells the other side that something is missing. Pure.

import { BATCH, BATCH_BYTES, MAX_QUEUED, MAX_QUEUED_BYTES } from "./limits.ts";

interface Item {
  q: number;
  /** JSON text of the event, its number included. */
  text: string;
}

export class Outbox {
  #items: Item[] = [];
  #bytes = 0;
  #last = 0;
  /** Number of the latest item that was handed out over the present connection. */
  #sent = 0;

  /** Number of the latest item. */
  get last(): number {
    return this.#last;
  }

  get length(): number {
    return this.#items.length;
  }

  add(event: Record<string, unknown>): void {
    this.#last += 1;
    const text = JSON.stringify({ q: this.#last, ...event });
    this.#items.push({ q: this.#last, text });
    this.#bytes += text.length;
    let gone = 0;
    while (this.#items.length - gone > MAX_QUEUED || this.#bytes > MAX_QUEUED_BYTES) {
      this.#bytes -= this.#items[gone]?.text.length ?? 0;
      gone += 1;
    }
    // Not one by one: a full queue would be moved for every event.
    if (gone > 0) this.#items = this.#items.slice(gone);
  }

  /** So many events were made and could not be kept. */
  skip(count: number): void {
    this.#last += count;
  }

  /** JSON text of an array of what comes next; `""` when all is on its way. */
  next(): string {
    const texts: string[] = [];
    let bytes = 0;
    for (let at = this.#indexAfter(this.#sent); at < this.#items.length; at += 1) {
      const item = this.#items[at];
      if (item === undefined || texts.length >= BATCH || (bytes > 0 && bytes + item.text.length > BATCH_BYTES)) break;
      texts.push(item.text);
      bytes += item.text.length;
      this.#sent = item.q;
    }
    return texts.length === 0 ? "" : `[${texts.join(",")}]`;
  }

  acknowledged(q: number): void {
    const index = this.#indexAfter(q);
    if (index === 0) return;
    for (const item of this.#items.slice(0, index)) this.#bytes -= item.text.length;
    this.#items = this.#items.slice(index);
  }

  /** A new connection: whatever was not acknowledged is sent again. */
  restart(q: number): void {
    this.acknowledged(q);
    this.#sent = q;
  }

  #indexAfter(q: number): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#items[middle]?.q ?? 0) <= q) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
