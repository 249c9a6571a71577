// Which Pi this runs in, for the few things that older ones do otherwise.

import { VERSION } from "@earendil-works/pi-coding-agent";

/** Results of tools may say that they failed (`isError`), with data beside it; before, only an exception did. */
export const RESULTS_CAN_FAIL = "0.99";

export const piIsBefore = (version: string): boolean => isBefore(VERSION, version);

/** By major and minor number. */
export function isBefore(version: string, other: string): boolean {
  const [major = 0, minor = 0] = numbers(version);
  const [otherMajor = 0, otherMinor = 0] = numbers(other);
  return major !== otherMajor ? major < otherMajor : minor < otherMinor;
}

const numbers = (version: string): number[] => version.split(".").map((part) => Number.parseInt(part, 10) || 0);
