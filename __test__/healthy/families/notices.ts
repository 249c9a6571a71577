// Plays events of a family to the store as the extension does, and takes what is due to be told as it comes.

import type { LifecycleEvent, Notice, TargetInfo, TraceEvent } from "../../../index.d.ts";
import { defaultConfig, store } from "../../../index.js";

const TICK_SEC = 15;

/** A notice about an agent of the trace, and when it was taken (seconds of the trace). */
export interface Taken {
  notice: Notice;
  agent: string;
  at: number;
}

/** `root`: id of the main session; the store is the process's, so every family needs its own. */
export function noticesOf(root: string, events: readonly TraceEvent[]): Taken[] {
  const config = { ...defaultConfig(), costLimitUsd: 0 };
  const id = (agent: string) => (agent === "main" ? root : `${root}:${agent}`);
  const handles = new Map([["main", store.open(root, 0, { kind: "task", status: "running" }, config)]]);
  const taken: Taken[] = [];
  let now = 0;
  const take = () => {
    for (;;) {
      const notice = store.takeTreeNotice(root, now * 1000);
      if (!notice) return;
      const agent = notice.targetId === root ? "main" : notice.targetId.slice(root.length + 1);
      taken.push({ notice, agent, at: now });
    }
  };
  for (const event of events) {
    while (now + TICK_SEC < event.at) {
      now += TICK_SEC;
      store.tickTree(root, now * 1000);
      take();
    }
    now = Math.max(now, event.at);
    const agent = event.agent ?? "main";
    const fields = event as unknown as Record<string, unknown>;
    if (fields.event === "subagent_spawn") {
      const parentId = id(typeof fields.parent === "string" ? fields.parent : "main");
      const background = fields.background === true;
      const info: TargetInfo = { name: agent, rootId: root, parentId, link: "exact", backend: "test", background };
      handles.set(agent, store.open(id(agent), now * 1000, { ...info, status: "running" }, config));
    } else {
      give(handles.get(agent) ?? 0, event);
    }
    take();
  }
  for (const handle of handles.values()) store.end(handle, now * 1000, "completed");
  return taken;
}

function give(handle: number, event: TraceEvent): void {
  const at = event.at * 1000;
  switch (event.type) {
    case "user":
      store.observeUser(handle, at, event.text, event.synthetic === true);
      break;
    case "assistant":
      if (event.partial) store.observeChunk(handle, at, event.turn ?? 0, event.text ?? "");
      else store.observeAssistant(handle, at, event.turn ?? 0, event.text ?? "", "", event.stopReason ?? "");
      break;
    case "tool_call":
      store.observeToolCall(handle, at, event.turn, event.callId, event.tool, JSON.stringify(event.args ?? {}));
      break;
    case "tool_result": {
      const { turn, callId, tool, output = "", isError = false } = event;
      store.observeToolResult(handle, at, turn, callId, tool, output, isError, "", "");
      break;
    }
    case "lifecycle":
      if (event.event === "subagent_end") store.end(handle, at, "completed");
      else store.observeLifecycle(handle, at, event.event as LifecycleEvent, JSON.stringify(event));
      break;
    case "file_change":
      break;
  }
}
