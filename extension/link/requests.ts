// Requests that wait for an answer from another process: each is answered once, by the answer or by the time that it
// was given.

import type { Delivery } from "../subagents/backend.ts";
import { line } from "./check.ts";
import type { Connection } from "./connection.ts";
import type { Frame } from "./wire.ts";

interface Waiting {
  readonly connection: Connection;
  /** Answers that leave the request open are kept until a better one comes or time is up. */
  answer(delivery: Delivery): void;
  giveUp(reason: string): void;
}

export class Requests {
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  /** `settle`: after "queued" this long for what is better, 0 for an answer that is final. */
  ask(connection: Connection, frame: Frame, waitMs: number, settleMs: number): Promise<Delivery> {
    this.#last += 1;
    const number = this.#last;
    const { promise, resolve } = Promise.withResolvers<Delivery>();
    let soFar: Delivery = { outcome: "unknown", reason: "its process did not answer in time" };
    let timer: NodeJS.Timeout | undefined;
    const finish = (delivery: Delivery): void => {
      clearTimeout(timer);
      this.#waiting.delete(number);
      resolve(delivery);
    };
    timer = setTimeout(() => finish(soFar), waitMs).unref();
    this.#waiting.set(number, {
      connection,
      answer: (delivery) => {
        if (delivery.outcome !== "queued" || settleMs === 0) return finish(delivery);
        soFar = delivery;
        clearTimeout(timer);
        timer = setTimeout(() => finish(soFar), settleMs).unref();
      },
      giveUp: (reason) => finish(soFar.outcome === "queued" ? soFar : { outcome: "unknown", reason }),
    });
    if (!connection.send({ ...frame, r: number }))
      finish({ outcome: "refused", reason: "its process is out of contact" });
    return promise;
  }

  answered(connection: Connection, { r, outcome, reason }: Frame): void {
    const waiting = typeof r === "number" ? this.#waiting.get(r) : undefined;
    if (waiting === undefined || waiting.connection !== connection) return;
    if (outcome === "delivered" || outcome === "queued") waiting.answer({ outcome });
    else waiting.answer({ outcome: "refused", reason: line(reason, 200) || "its process refused" });
  }

  lost(connection: Connection): void {
    for (const waiting of [...this.#waiting.values()])
      if (waiting.connection === connection) waiting.giveUp("its process ended or went out of contact");
  }
}
