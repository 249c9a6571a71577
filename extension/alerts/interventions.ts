// The interventions that were told in a tree, by target: so that screens and tools can show what called for a hand after
// the notice itself has passed. Kept by the main session, in memory; decides nothing.

import type { Intervention, InterventionKind, Notice, Severity, TargetSummary } from "../../index.js";
import { hasEnded } from "../format.ts";
import type { MainSession } from "../runtime.ts";
import { infoOf } from "./words.ts";

export interface ToldIntervention extends Intervention {
  targetId: string;
  severity: Severity;
  incident: string;
  /** ms; when it was told. */
  at: number;
}

const MAX_TARGETS = 200;
const MAX_KINDS = 16;

export class InterventionLog {
  /** By target, the latest of each kind, the newest last. */
  readonly #told = new Map<string, ToldIntervention[]>();

  record(notice: Notice, at: number): void {
    const { targetId, incident, severity, intervention } = notice;
    const before = this.#told.get(targetId) ?? [];
    if (notice.kind === "over") {
      this.#put(
        targetId,
        before.filter((told) => told.incident !== incident),
      );
      // A remark on the way to a limit does not say that it was reached.
    } else if (intervention !== undefined && !(severity === "info" && infoOf(intervention.kind)?.limit)) {
      const others = before.filter(({ kind }) => kind !== intervention.kind);
      this.#put(targetId, [...others, { ...intervention, targetId, severity, incident, at }].slice(-MAX_KINDS));
    }
  }

  /** A limit was changed: what was told of the old one does not hold, and of the new one it is told anew. */
  forget(kind: InterventionKind): void {
    for (const [targetId, told] of [...this.#told]) {
      this.#put(
        targetId,
        told.filter((one) => one.kind !== kind),
      );
    }
  }

  /** What was told of a target and is not over, the newest last. */
  of(targetId: string): readonly ToldIntervention[] {
    return this.#told.get(targetId) ?? [];
  }

  #put(targetId: string, told: ToldIntervention[]): void {
    this.#told.delete(targetId);
    if (told.length > 0) this.#told.set(targetId, told);
    const oldest = this.#told.keys().next().value;
    if (this.#told.size > MAX_TARGETS && oldest !== undefined) this.#told.delete(oldest);
  }
}

/** What was told of a target and still holds, as far as can be told; the newest last. */
export function holding(main: MainSession | undefined, target: TargetSummary): ToldIntervention[] {
  return (main?.interventions?.(target.id) ?? []).filter((told) => stillHolds(told, target));
}

/** What was told of an agent's silence does not outlast it. */
function stillHolds({ kind, at }: ToldIntervention, target: TargetSummary): boolean {
  if (hasEnded(target)) return infoOf(kind)?.outlives === true;
  return !(infoOf(kind)?.untilActive === true && target.lastActiveAt > at);
}
