// The process at the other end of a connection, as the system names it and not as it names itself, and where it stands
// among the processes of this machine. Knows no sessions. Where the system does not tell, nothing is proven.

import type { Socket } from "node:net";
import type { Native } from "../runtime.ts";

export type Processes = Native["processes"];

/** A process that was proven: its id with its start time. */
export interface Peer {
  readonly pid: number;
  readonly start: string;
}

/** The process at the other end of a socket. `undefined`: the system does not tell. */
export function peerOf(processes: Partial<Processes> | undefined, socket: Socket): Peer | undefined {
  // Node gives the descriptor to nobody officially; without it there is no proof.
  const descriptor = (socket as { _handle?: { fd?: unknown } })._handle?.fd;
  if (typeof descriptor !== "number" || descriptor < 0) return undefined;
  try {
    const found = processes?.peer?.(descriptor);
    return found ? { pid: found.pid, start: found.start } : undefined;
  } catch {
    return undefined;
  }
}

export const samePeer = (one: Peer | undefined, other: Peer | undefined): boolean =>
  one !== undefined && one.pid === other?.pid && one.start === other.start;

/** Whether the process runs on; one that recurs under its id is another one. */
export function runsOn(processes: Partial<Processes> | undefined, { pid, start }: Peer): boolean {
  try {
    return processes?.start?.(pid) === start;
  } catch {
    return false;
  }
}

/**
 * The nearest process above that `known` names, and what it started. `undefined`: none can be seen, also because a process
 * in between has ended.
 */
export function wayUp(
  processes: Partial<Processes> | undefined,
  { pid, start }: Peer,
  known: (pid: number, start: string) => boolean,
): { above: Peer; command: string } | undefined {
  try {
    const line = processes?.ancestry?.(pid) ?? [];
    if (line[0]?.start !== start) return undefined;
    for (let at = 1; at < line.length; at += 1) {
      const [above, below] = [line[at], line[at - 1]];
      if (above && below && known(above.pid, above.start))
        return { above: { pid: above.pid, start: above.start }, command: below.command };
    }
  } catch {
    // Nothing is known then.
  }
  return undefined;
}
