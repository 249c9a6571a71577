// The words of `/watchdog history` and what is said of sessions that were left behind.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseWords } from "../../../extension/commands/history.ts";
import { orphansPage } from "../../../extension/commands/orphans.ts";
import { orphanSentence } from "../../../extension/orphans.ts";
import { toText } from "../../../extension/render/page.ts";
import type { Orphan } from "../../../index.js";

const NOW = Date.UTC(2026, 10, 30, 12);

function orphan(sessionId: string, more: Partial<Orphan> = {}): Orphan {
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, usd: 0.5 };
  const at = { startedAt: NOW - 7_200_000, lastAt: NOW - 3_600_000 };
  const counts = { incidents: 0, toolCalls: 0, patches: 0 };
  return {
    sessionId,
    rootId: sessionId,
    status: "running",
    ...at,
    ...counts,
    usage,
    pid: 42,
    start: "1000",
    running: false,
    ...more,
  };
}

describe("the words of /watchdog history", () => {
  it("mean what they look like, in any order", () => {
    assert.deepEqual(parseWords(["7d", "critical", "open", "here", "5"], "/p", NOW), {
      since: NOW - 7 * 86_400_000,
      severity: "critical",
      open: true,
      project: "/p",
      limit: 5,
    });
    assert.equal(parseWords(["cycle"], "/p", NOW)?.rule, "cycle");
    assert.equal(parseWords(["intervention:timeout"], "/p", NOW)?.rule, "intervention:timeout");
    for (const id of ["01a22e82-304d", "deadbeef"]) assert.equal(parseWords([id], "/p", NOW)?.session, id);
  });

  it("that mean nothing are no filter", () => {
    assert.equal(parseWords(["open", "what;ever"], "/p", NOW), undefined);
  });
});

describe("sessions that were left behind", () => {
  it("are one sentence with who, when, how much, what still runs and what can be done", () => {
    const kid = orphan("kid", { name: "look\u001b[2J around", pid: 43, running: true, rootId: "main" });
    const text = orphanSentence([orphan("main", { name: "fix it" }), kid], NOW);
    assert.match(
      text,
      /^Watchdog: 1 session of a Pi that is gone did not end in order: "fix it" \(pid 42\), last seen /,
    );
    assert.match(
      text,
      /\$1\.00 spent\. Still running without a main session: "look around" \(pid 43\)\. \/watchdog orphans/,
    );
    const many = orphanSentence(
      Array.from({ length: 9 }, (_, n) => orphan(`s${n}`)),
      NOW,
    );
    assert.match(many, /9 sessions .*"s0" .*"s2" \(pid 42\) and 6 more/);
  });

  it("end only when a single one is named, and its process is the one that was written down", async () => {
    const killed: unknown[] = [];
    let proven = false;
    const kill = (pid: number, start: string) => proven && killed.push([pid, start]) > 0;
    const left = [orphan("aa1"), orphan("aa2", { running: true, pid: 77 })];
    const native = { findOrphans: async () => left, closeOrphans: async () => 1 };
    const say = async (words: string) => toText(await orphansPage({ native, now: NOW, kill }, words));
    assert.match(await say("kill"), /^Usage/);
    assert.match(await say("kill aa"), /"aa" is ambiguous: aa1, aa2/);
    assert.match(await say("kill zz"), /No session left behind begins with "zz"/);
    assert.match(await say("kill aa1"), /is gone: \/watchdog orphans close aa1/);
    assert.match(await say("close aa2"), /still runs: \/watchdog orphans kill aa2/);
    assert.match(await say("kill aa2"), /Process 77 was not ended: nothing proves that it still is the one/);
    assert.deepEqual(killed, []);
    proven = true;
    assert.match(await say("kill aa2"), /Asked process 77 to end \(SIGTERM\)/);
    assert.deepEqual(killed, [[77, "1000"]]);
    assert.match(await say("close"), /Marked 1 session as closed/);
    assert.match(await say("dance"), /^Usage/);
    left.length = 0;
    assert.match(await say(""), /^No session in the history was left behind\.\n.*without the watchdog.* is not known/);
  });
});
