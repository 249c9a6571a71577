// Requests to pi-subagents over the bus, and their answers. Knows the envelope, not what is asked.

import { randomUUID } from "node:crypto";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { type Fields, fields, text } from "./wire.ts";

const REQUEST = "subagents:rpc:v1:request";
const REPLY = "subagents:rpc:v1:reply:";

export type Reply =
  | { ok: true; data: Fields }
  | { ok: false; reason: string; code: string }
  /** Nobody answered. */
  | undefined;

export interface Rpc {
  ask(method: string, params: Fields, timeoutMs: number): Promise<Reply>;
  /** Answers nobody waits for any more; idempotent. */
  dispose(): void;
}

export function createRpc(bus: ExtensionAPI["events"]): Rpc {
  const waiting = new Set<() => void>();
  return {
    ask(method, params, timeoutMs) {
      return new Promise((resolve) => {
        const requestId = `watchdog-${randomUUID()}`;
        const done = (reply: Reply): void => {
          clearTimeout(timer);
          off();
          waiting.delete(give);
          resolve(reply);
        };
        const give = (): void => done(undefined);
        const timer = setTimeout(give, timeoutMs);
        timer.unref();
        waiting.add(give);
        const off = bus.on(`${REPLY}${requestId}`, (payload) => done(read(payload)));
        bus.emit(REQUEST, { version: 1, requestId, method, params, source: { extension: "pi-watchdog-supervisor" } });
      });
    },
    dispose() {
      for (const give of waiting) give();
    },
  };
}

function read(payload: unknown): Reply {
  const from = fields(payload);
  if (from?.success === true) return { ok: true, data: fields(from.data) ?? {} };
  const error = fields(from?.error);
  return { ok: false, reason: text(error?.message, 500) || "it gave no reason", code: text(error?.code) };
}
