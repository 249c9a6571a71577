// `/watchdog orphans`: what other Pi processes left behind, and the user's own hand on it. A process is ended only when
// it was verified, at that moment, to be the one that was written down.

import type { Orphan } from "../../index.js";
import { ago, money, plural } from "../format.ts";
import { historyPath } from "../history.ts";
import { orphanName } from "../orphans.ts";
import type { Line, Page } from "../render/page.ts";
import type { Native } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";

const USAGE = "Usage: /watchdog orphans, /watchdog orphans close [session], /watchdog orphans kill <session>.";

/** What was written down is known, and no more. */
const NONE: Page = [
  { text: "No session in the history was left behind.", tone: "success" },
  { text: "What ran without the watchdog, on another machine or in another container is not known.", tone: "muted" },
];

/** `kill`: sends SIGTERM to the process that started then and to no other; false when it is not there or not proven. */
export interface OrphansInput {
  native: Pick<Native, "findOrphans" | "closeOrphans">;
  now: number;
  kill(pid: number, start: string): boolean;
}

export async function orphansPage({ native, now, kill }: OrphansInput, rest: string): Promise<Page> {
  const [action = "", id = "", ...more] = rest.trim().split(/\s+/);
  if (more.length > 0 || !["", "close", "kill"].includes(action)) return [{ text: USAGE, tone: "error" }];
  try {
    const orphans = await native.findOrphans(historyPath());
    if (action === "") return listPage(orphans, now);
    if (id === "" && action === "kill") return [{ text: USAGE, tone: "error" }];
    if (id === "") return closedPage(await native.closeOrphans(historyPath()));
    const fitting = orphans.filter((orphan) => orphan.sessionId.startsWith(id));
    const [orphan, ...others] = fitting;
    if (orphan === undefined)
      return [{ text: `No session left behind begins with "${oneLine(id, 60)}".`, tone: "error" }];
    if (others.length > 0) {
      return [
        { text: `"${oneLine(id, 60)}" is ambiguous: ${fitting.map((one) => one.sessionId).join(", ")}`, tone: "error" },
      ];
    }
    return action === "close" ? await close(native, orphan) : end(orphan, kill);
  } catch (error) {
    return [{ text: oneLine(`${error instanceof Error ? error.message : String(error)}`, 300), tone: "error" }];
  }
}

async function close(native: OrphansInput["native"], orphan: Orphan): Promise<Page> {
  if (orphan.running) {
    const text = `${orphanName(orphan)} still runs: /watchdog orphans kill ${orphan.sessionId} ends it.`;
    return [{ text, tone: "error" }];
  }
  return closedPage(await native.closeOrphans(historyPath(), orphan.sessionId));
}

function closedPage(closed: number): Page {
  if (closed === 0) return [{ text: "There was nothing to close." }];
  return [{ text: `Marked ${plural(closed, "session")} as closed.`, tone: "success" }];
}

function end(orphan: Orphan, kill: OrphansInput["kill"]): Page {
  if (!orphan.running) {
    const text = `The process of ${orphanName(orphan)} is gone: /watchdog orphans close ${orphan.sessionId} marks it closed.`;
    return [{ text, tone: "error" }];
  }
  if (!kill(orphan.pid, orphan.start)) {
    const text = `Process ${orphan.pid} was not ended: nothing proves that it still is the one that ran ${orphanName(orphan)}.`;
    return [{ text, tone: "error" }];
  }
  const text = `Asked process ${orphan.pid} to end (SIGTERM). /watchdog orphans shows whether it did.`;
  return [{ text, tone: "success" }];
}

function listPage(orphans: readonly Orphan[], now: number): Page {
  if (orphans.length === 0) return NONE;
  return [
    { text: `Left behind: ${plural(orphans.length, "session")}`, tone: "title" },
    ...orphans.flatMap((orphan) => lines(orphan, now)),
    { text: "" },
    {
      text: "/watchdog orphans close marks as closed what is gone; kill <session> ends a process that still runs.",
      tone: "muted",
    },
  ];
}

function lines(orphan: Orphan, now: number): Line[] {
  const what = orphan.running ? "runs without its main session" : "its process is gone";
  const seen = ago(orphan.lastAt, now);
  const spent = orphan.usage.usd > 0 ? [money(orphan.usage.usd)] : [];
  return [
    {
      text: [orphanName(orphan), what, `last seen ${seen}${seen === "now" ? "" : " ago"}`, ...spent].join(" · "),
      tone: orphan.running ? "warning" : "text",
      indent: 2,
    },
    {
      text: [
        `session ${oneLine(orphan.sessionId, 60)}`,
        ...(orphan.project ? [oneLine(orphan.project, 120)] : []),
      ].join(", "),
      tone: "dim",
      indent: 4,
    },
  ];
}
