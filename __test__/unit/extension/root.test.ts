// How the sessions of a process find each other.

import assert from "node:assert/strict";
import { AsyncResource } from "node:async_hooks";
import { test } from "node:test";
import { mark } from "../../../extension/lineage.ts";
import {
  findCaller,
  findLive,
  findMain,
  findParent,
  noteSteer,
  publishLive,
  publishMain,
  takeSteer,
} from "../../../extension/root.ts";
import type { ChildLink, MainSession } from "../../../extension/runtime.ts";

const main = (id: string, attended: boolean, children: Record<string, ChildLink> = {}): MainSession =>
  ({ id, attended, child: (sessionId: string) => children[sessionId] }) as MainSession;
const live = (id: string, rootId: string, file?: string) => ({
  id,
  rootId,
  file,
  steer: () => true,
  refresh: () => {},
});
const nothing = () => {};

test("a child is who its main session knows, whoever else is there", () => {
  const retract = [
    publishMain(main("m1", true)),
    publishMain(main("m2", false, { c: { link: "exact", agentId: "a" } })),
  ];
  assert.deepEqual(findParent("c", undefined, "print"), {
    rootId: "m2",
    parentId: "m2",
    link: { link: "exact", agentId: "a" },
  });
  for (const take of retract) take();
  assert.equal(findParent("c", undefined, "print"), undefined);
});

test("a child that nobody knows has the parent of its header, and that one's root", () => {
  const retract = publishLive(live("p", "m", "/sessions/p.jsonl"), nothing);
  assert.deepEqual(findParent("c", "/sessions/p.jsonl", "print"), {
    rootId: "m",
    parentId: "p",
    link: { link: "none" },
  });
  assert.equal(findParent("c", "/sessions/other.jsonl", "print"), undefined);
  assert.equal(findParent("p", "/sessions/p.jsonl", "print"), undefined, "nobody is its own parent");
  retract();
  assert.equal(findParent("c", "/sessions/p.jsonl", "print"), undefined);
});

test("beside a session that somebody sits before there is no second main one; beside others there is", () => {
  const alone = publishMain(main("m1", false));
  assert.equal(findParent("x", undefined, "print"), undefined);
  alone();
  const attended = publishMain(main("m2", true));
  assert.equal(findParent("x", undefined, "print")?.rootId, "m2");
  assert.equal(findParent("m2", undefined, "print"), undefined);
  assert.equal(findParent("x", undefined, "rpc"), undefined);
  attended();
});

test("taking back a session leaves a newer one of the same id", () => {
  const old = live("s", "s");
  const young = live("s", "s");
  const takeOld = publishLive(old, nothing);
  const takeYoung = publishLive(young, nothing);
  takeOld();
  assert.equal(findLive("s"), young);
  takeYoung();
  assert.equal(findLive("s"), undefined);
  assert.equal(findMain("s"), undefined);
});

test("a steered message is known once, in its session, also when it was wrapped", () => {
  noteSteer("s", "stop");
  assert.equal(takeSteer("other", "stop"), false);
  assert.equal(takeSteer("s", "go"), false);
  assert.equal(takeSteer("s", "<system>stop</system>"), true);
  assert.equal(takeSteer("s", "stop"), false);
});

test("steered messages that never arrive are forgotten", () => {
  for (let n = 0; n < 300; n++) noteSteer(`lost-${n}`, "x");
  for (let n = 0; n < 20; n++) noteSteer("busy", `m${n}.`);
  assert.equal(takeSteer("lost-0", "x"), false);
  assert.equal(takeSteer("lost-299", "x"), true);
  assert.equal(takeSteer("busy", "m0."), false);
  assert.equal(takeSteer("busy", "m19."), true);
});

test("a session that begins in another's tool call is its child, one that the same code starts later is not", async () => {
  const retract = publishMain(main("m", true));
  const calling = new Set<string>();
  const session = (id: string) => publishLive({ ...live(id, "m"), calling: () => calling.has(id) }, nothing);
  const parents = new Map<string, string | undefined>();
  /** A session begins: it looks for its caller, and marks what follows in this call. */
  const begin = (id: string) => {
    mark(id);
    const caller = findCaller(id);
    parents.set(id, findParent(id, undefined, "print", caller)?.parentId);
    return session(id);
  };
  const takeBack = [begin("a")];
  await Promise.resolve();
  // The call that started a, which does not work yet, starts b.
  takeBack.push(begin("b"));
  const inB = AsyncResource.bind(() => {
    calling.add("b");
    takeBack.push(begin("c"));
    calling.add("c");
    takeBack.push(begin("d"));
    calling.delete("c");
    takeBack.push(begin("e"));
  });
  inB();
  assert.deepEqual(Object.fromEntries(parents), { a: "m", b: "m", c: "b", d: "c", e: "b" });
  for (const take of [retract, ...takeBack]) take();
});
