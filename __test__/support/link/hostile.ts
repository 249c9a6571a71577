// A process that holds the token and speaks the link's protocol as it is told to, with as many connections as it is told.
// Lines of JSON in: {do: "join", as, run?, pid?}, {do: "send", as, frames}, {do: "drop", as}; lines of JSON out. What is
// marked with `below` is for another such process, which it starts.

import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { type Line, Peer } from "./peer.ts";

interface Order {
  do: "join" | "send" | "drop";
  as: string;
  run?: string;
  pid?: number;
  frames?: Line[];
  below?: boolean;
}

const address = JSON.parse(process.env.PI_WATCHDOG_LINK ?? "{}");
const peers = new Map<string, Peer>();
let child: ChildProcess | undefined;
const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);

async function join({ as, run, pid }: Order): Promise<void> {
  const peer = await Peer.join(address, run, pid);
  peers.set(as, peer);
  say({ as, line: { t: "joined", pid: process.pid } });
  let at = 0;
  const pass = () => {
    for (; at < peer.lines.length; at += 1) say({ as, line: peer.lines[at] });
  };
  peer.socket.on("data", () => setImmediate(pass));
  peer.socket.on("close", () => say({ as, line: { t: "closed" } }));
  pass();
}

async function act({ below, ...order }: Order): Promise<void> {
  if (below) {
    const own = fileURLToPath(import.meta.url);
    child ??= spawn(process.execPath, ["--no-warnings", own], { stdio: ["pipe", "inherit", "inherit"] });
    child.stdin?.write(`${JSON.stringify(order)}\n`);
  } else if (order.do === "join") await join(order);
  else if (order.do === "send") for (const frame of order.frames ?? []) peers.get(order.as)?.send(frame);
  else peers.get(order.as)?.socket.destroy();
}

let queue = Promise.resolve();
createInterface({ input: process.stdin }).on("line", (line) => {
  queue = queue.then(() => act(JSON.parse(line)));
});
process.stdin.on("end", () => process.exit());
