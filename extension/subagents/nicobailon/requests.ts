// Requests for an agent of a run, and what became of them, told as the package tells it: its answer first, then what
// the run's status says of it. Knows the agent and its run; decides nothing about links.

import { randomUUID } from "node:crypto";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { oneLine } from "../../sanitize.ts";
import type { Delivery } from "../backend.ts";
import type { Child } from "./child.ts";
import type { Reply, Rpc } from "./rpc.ts";
import type { BackgroundRun } from "./run.ts";
import { addressee, type Fields, fields, PACKAGE, steeringState, text } from "./wire.ts";

/** The package itself waits up to 3 s for the agent's process. */
const STEER_ANSWER = 6000;
const ANSWER = 5000;
/** A revived run starts a process. */
const RESUME_ANSWER = 20_000;
/** How long it is watched whether what was taken also takes effect, ms. */
const EFFECT = 5000;

export const refused = (reason: string): Delivery => ({ outcome: "refused", reason: oneLine(reason, 300) });

export interface Requests {
  steer(child: Child, run: BackgroundRun, message: string): Promise<Delivery>;
  stop(child: Child, run: BackgroundRun): Promise<Delivery>;
  /** Ends the present turn of a foreground run; the package calls it paused. */
  interrupt(child: Child): Promise<Delivery>;
  resume(child: Child, prompt: string): Promise<Delivery>;
}

/** `until`: resolves with whether the condition came true in time. `answers`: whether the package takes requests. */
export function createRequests(
  rpc: Rpc,
  answers: () => boolean,
  until: (holds: () => boolean, timeoutMs: number) => Promise<boolean>,
): Requests {
  async function steer(child: Child, run: BackgroundRun, message: string): Promise<Delivery> {
    const { index } = child.origin;
    let requestId: string;
    if (answers()) {
      const reply = await rpc.ask("steer", { ...address(child, run), message }, STEER_ANSWER);
      const delivery = refusal(reply);
      if (delivery !== undefined) return delivery;
      const steering = fields(fields(dataOf(reply).details)?.steering);
      requestId = text(steering?.requestId);
      const told = steered(addressee(steering, index));
      if (told !== undefined) return told;
    } else {
      requestId = randomUUID();
      try {
        writeRequest(run.started.asyncDir, requestId, index, message);
      } catch (error) {
        return refused(
          `its control folder cannot be written: ${error instanceof Error ? error.message : String(error)}`,
        );
      }
    }
    let final: Delivery | undefined;
    await until(() => {
      final = steered(steeringState(run.status, requestId, index));
      return final !== undefined || child.ended;
    }, EFFECT);
    if (final !== undefined) return final;
    return child.ended
      ? refused(`the agent ended (${child.status}) before it read the message`)
      : { outcome: "queued" };
  }

  async function stop(child: Child, run: BackgroundRun): Promise<Delivery> {
    const several = run.children.length > 1;
    if (several && child.childId === "")
      return refused(`${PACKAGE} does not tell how to stop this agent of the run alone; its run can be stopped`);
    const params = { runId: child.origin.runId, ...(several ? { childId: child.childId } : {}) };
    const delivery = refusal(await rpc.ask("stop", params, ANSWER));
    if (delivery !== undefined) return delivery;
    return { outcome: (await until(() => child.ended, EFFECT)) ? "delivered" : "queued" };
  }

  async function interrupt(child: Child): Promise<Delivery> {
    const delivery = refusal(await rpc.ask("interrupt", { runId: child.origin.runId }, ANSWER));
    if (delivery !== undefined) return delivery;
    return { outcome: (await until(() => child.ended, EFFECT)) ? "delivered" : "queued" };
  }

  async function resume(child: Child, prompt: string): Promise<Delivery> {
    const { runId, index } = child.origin;
    const params = { runId, ...(index === 0 ? {} : { index }), message: prompt };
    return refusal(await rpc.ask("resume", params, RESUME_ANSWER)) ?? { outcome: "delivered" };
  }

  return { steer, stop, interrupt, resume };
}

/** In a run of one the package knows its agent. */
function address(child: Child, run: BackgroundRun): Fields {
  const { runId, index } = child.origin;
  return run.children.length > 1 ? { runId, index } : { runId };
}

/** Undefined when the package took it. */
function refusal(reply: Reply): Delivery | undefined {
  if (reply === undefined) return { outcome: "unknown", reason: `${PACKAGE} did not answer` };
  if (reply.ok) return undefined;
  const reason = `${PACKAGE}: ${reply.reason}`;
  return reply.code === "not_found" ? { outcome: "unknown_target", reason: oneLine(reason, 300) } : refused(reason);
}

const dataOf = (reply: Reply): Fields => (reply?.ok ? reply.data : {});

/** Undefined while it is on its way. */
function steered({ state, reason }: { state: string; reason: string }): Delivery | undefined {
  if (state === "delivered" || state === "late" || state === "recovered") return { outcome: "delivered" };
  if (state === "failed") return refused(`${PACKAGE}: ${reason || "the agent's process could not take the message"}`);
  return undefined;
}

/** As the package does it: written aside and renamed, so that the agent's process never reads half of it. */
function writeRequest(asyncDir: string, id: string, index: number, message: string): void {
  const folder = join(asyncDir, "control", "steer-requests");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const ts = Date.now();
  const name = `${String(ts).padStart(13, "0")}-${Buffer.from(id).toString("base64url")}.json`;
  const aside = join(folder, `.${name}.tmp`);
  const source = "pi-watchdog-supervisor";
  const request = { type: "steer", id, ts, message, targetIndex: index, source };
  writeFileSync(aside, JSON.stringify(request), { mode: 0o600, flag: "wx" });
  renameSync(aside, join(folder, name));
}
