// How times, amounts and states are written for people. Pure; the same words in every screen, tool and command.

import type { TargetSummary, TargetUsage } from "../index.js";

const two = (n: number): string => String(n).padStart(2, "0");

/** `HH:MM:SS`, local time. */
export function clock(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "--:--:--";
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `HH:MM` of today, `YYYY-MM-DD HH:MM` of another day; local time. */
export function day(at: number, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "--:--";
  const time = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === new Date(now).toDateString()) return time;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
}

/** How long ago, short: `now`, `12s`, `5m`, `3h`, `2d`. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - at) / 1000));
  if (seconds < 2) return "now";
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** `950`, `12.3k`, `4.5M`. */
export function amount(n: number): string {
  if (n < 1000) return String(Math.round(n));
  if (n < 999_950) return `${(n / 1000).toFixed(1)}k`;
  return `${(n / 1_000_000).toFixed(1)}M`;
}

/** Dollars; more digits for small sums. */
export function money(usd: number): string {
  const small = Math.abs(usd);
  if (small > 0 && small < 0.000_05) return "less than $0.0001";
  return `$${usd.toFixed(small > 0 && Number(small.toFixed(4)) < 0.1 ? 4 : 2)}`;
}

export function plural(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** All tokens of a target, cached ones included. */
export function totalTokens(usage: TargetUsage): number {
  return usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
}

/** Tokens and, where known, money: `12.3k tokens, $0.0123`. */
export function usage(of: TargetUsage): string {
  const tokens = `${amount(totalTokens(of))} tokens`;
  return of.usd > 0 ? `${tokens}, ${money(of.usd)}` : tokens;
}

const SHORT = 8;

/**
 * Short names by which targets can be told apart and named in commands and tools: the agent id where there is one,
 * else the shortest prefix of the session id that no other target of the list has. Session ids begin with the time,
 * so that siblings share their first characters: a fixed cut would be ambiguous.
 */
export function shortIds(targets: readonly Pick<TargetSummary, "id" | "aliases">[]): Map<string, string> {
  const ids = targets.map((target) => target.id).sort();
  const short = new Map<string, string>();
  for (const [i, id] of ids.entries()) {
    const shared = Math.max(sharedPrefix(id, ids[i - 1] ?? ""), sharedPrefix(id, ids[i + 1] ?? ""));
    short.set(id, id.slice(0, Math.max(SHORT, shared + 1)));
  }
  for (const target of targets) {
    const alias = target.aliases.find((name) => name !== target.id);
    if (alias !== undefined) short.set(target.id, alias);
  }
  return short;
}

function sharedPrefix(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

const ENDED = new Set(["completed", "partial", "steered", "aborted", "stopped", "rejected", "error"]);

/** Whether a target has come to its end, whatever the end was. */
export function hasEnded(target: Pick<TargetSummary, "status" | "endedAt">): boolean {
  return target.endedAt !== undefined || ENDED.has(target.status);
}

/** The state in one word: `stuck` outranks what the backend says. */
export function stateOf(target: TargetSummary): string {
  return target.likelyStuck && !hasEnded(target) ? "stuck" : target.status;
}
