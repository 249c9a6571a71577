// A child process without Pi: the real store, the real client, and as many calls as it is told to make. Its parent
// tells it what to do by its arguments and reads lines of JSON from it.
//
// node child.ts <session id> <calls> <ms between calls, 0: all at once> [hold: stays until its stdin ends]

import { setTimeout as delay } from "node:timers/promises";
import { joinLink } from "../../../extension/link/join.ts";
import { publishLive } from "../../../extension/root.ts";
import * as native from "../../../index.js";

const [id = "", count = "0", every = "0", hold] = process.argv.slice(2);
const { store } = native;
const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

const config = { ...native.defaultConfig(), maxEventsPerAgent: 200 };
const client = joinLink(native, "json");
const handle = store.open(id, Date.now(), { name: `process ${id}`, kind: "task", status: "running" }, config);
const live = {
  id,
  rootId: "above",
  file: undefined,
  steer: (message: string) => {
    say({ steered: message });
    // As when the agent's next model request carries it.
    if (message.startsWith("Now:")) setImmediate(() => client?.lifecycle(id, Date.now(), "steer", { text: message }));
    if (message.startsWith("Late:")) return false;
    return true;
  },
  refresh: () => say({ refreshed: true }),
};
publishLive(live, () => {});
client?.add({ id, handle, parentId: undefined, lost: () => say({ lost: true }) });
say({ linked: client !== undefined });

// Keeps the process, as a running agent does.
const work = setInterval(() => {}, 1000);
for (let call = 1; call <= Number(count); call += 1) {
  const args = JSON.stringify({ command: `echo ${call}` });
  store.observeToolCall(handle, Date.now(), call, `c${call}`, "bash", args);
  store.observeToolResult(handle, Date.now(), call, `c${call}`, "bash", `${call}`, false, "", "");
  store.observeUsage(handle, Date.now(), 100, 10, 5, 0, 0.001);
  if (Number(every) > 0) await delay(Number(every));
}
say({ made: 2 * Number(count), memory: process.memoryUsage().rss });
if (hold !== undefined) {
  process.stdin.resume();
  await new Promise((resolve) => process.stdin.once("end", resolve));
}
await client?.remove(id, "completed");
clearInterval(work);
say({ ended: true, over: client?.over });
