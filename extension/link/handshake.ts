// How two processes find out that both know the token, without sending it: each answers the other's random number.
// A listener in the way learns nothing, and what was recorded once opens nothing again.

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export const VERSION = 1;

const NONCE = /^[0-9a-f]{32}$/;
const RUN = /^[0-9a-f]{32}$/;
const PROOF = /^[0-9a-f]{64}$/;

export const randomToken = (): string => randomBytes(32).toString("hex");
export const randomId = (): string => randomBytes(16).toString("hex");

export const isNonce = (value: unknown): value is string => typeof value === "string" && NONCE.test(value);
export const isRun = (value: unknown): value is string => typeof value === "string" && RUN.test(value);

/** `role`: whose proof it is, so that one side's cannot be sent back as the other's. */
export function proof(token: string, role: "main" | "child", mine: string, theirs: string, run: string): string {
  return createHmac("sha256", token).update(`${VERSION}|${role}|${mine}|${theirs}|${run}`).digest("hex");
}

export function sameProof(given: unknown, expected: string): boolean {
  return typeof given === "string" && PROOF.test(given) && timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}
