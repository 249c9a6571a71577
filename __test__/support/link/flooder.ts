// A program that an agent's shell runs: holds the token of the main session, wants to speak for somebody else's session, and
// floods: usage that doubles, notices, connections, nested sessions. Says that it is another process.
//
// node flooder.ts <session to take over> <process id to declare>

import { randomBytes } from "node:crypto";
import { Peer, stuck } from "./peer.ts";

const [victim = "", pid = "1"] = process.argv.slice(2);
const address = JSON.parse(process.env.PI_WATCHDOG_LINK ?? "{}");
let sent = 0;

for (let life = 0; life < 30; life += 1) {
  const peer = await Peer.join(address, randomBytes(16).toString("hex"), Number(pid));
  if (life === 0) {
    const { t, why } = await peer.open(victim);
    console.log(`taken over: ${t}, ${why}`);
    peer.send({ t: "state", s: victim, d: { usage: { usd: 1000 }, status: "idle" } });
  }
  for (let n = 0; n < 4; n += 1) {
    const s = `flood-${process.pid}-${life}-${n}`;
    await peer.open(s, { parent: `flood-${process.pid}-${life}-${n - 1}` });
    for (let step = 0; step < 20; step += 1) {
      peer.send({ t: "state", s, d: { usage: { input: step, usd: 0.01 * 2 ** step } } });
      peer.send({ t: "notice", s, n: step + 1, notice: stuck(`\`flood ${life} ${n} ${step}\` repeated 3 times`) });
      sent += 2;
    }
  }
  await peer.open(`flood-${process.pid}-${life}-end`);
  peer.socket.destroy();
}
console.log(`sent: ${sent}`);
