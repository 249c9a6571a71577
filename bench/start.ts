// What the extension adds to Pi's start: real Pi in RPC mode, offline, from spawn to the answer to its first command. In
// turn without any package, with one that does nothing, and with this one installed. Most of what the first package costs
// are Pi's loaders of TypeScript, skills and prompts; the goal is for what is this package's own.
//
// The result is processor time of Pi's main thread where the system tells it (Linux): other work on the machine disturbs
// it less than the time on the wall, which is given beside it.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { CleanupStack, type Scope } from "../__test__/support/cleanup.ts";
import { ModelServer } from "../__test__/support/model-server.ts";
import { PiHome } from "../__test__/support/pi-home.ts";
import { PiRpc } from "../__test__/support/pi-rpc.ts";
import { median, medianError } from "./measure.ts";
import type { Row } from "./report.ts";

const LIMIT_MS = 15;

export async function startUp(starts: number): Promise<Row[]> {
  const scope = new CleanupStack();
  try {
    const server = await ModelServer.start(() => ({ text: "never asked" }), scope);
    const homes = {
      plain: new PiHome(server, scope, { watchdog: "none" }),
      watched: new PiHome(server, scope, { watchdog: "package" }),
      inert: new PiHome(server, scope, { watchdog: "none", packages: [inertPackage(scope)] }),
    };
    // Fills the cache of the TypeScript loader, as a user's second start finds it.
    for (const home of Object.values(homes)) await startOnce(home);
    await assertLoaded(homes.watched);
    const samples: Record<keyof typeof homes, Start[]> = { plain: [], watched: [], inert: [] };
    for (let round = 0; round < starts; round += 1) {
      const names = Object.keys(homes) as (keyof typeof homes)[];
      for (const name of round % 2 === 0 ? names : names.toReversed()) {
        samples[name].push(await startOnce(homes[name]));
      }
    }
    type Home = keyof typeof homes;
    const added = (from: Home, to: Home, figure: keyof Start) =>
      samples[to].map((start, index) => start[figure] - (samples[from][index]?.[figure] ?? Number.NaN));
    const hasThreadTime = samples.plain.every(({ threadMs }) => !Number.isNaN(threadMs));
    const figure = hasThreadTime ? "threadMs" : "wallMs";
    const row = (what: string, from: Home, to: Home): Row => {
      const typical = (of: Home) => median(samples[of].map((start) => start[figure])).toFixed(0);
      const walls = added(from, to, "wallMs");
      const wall = `on the wall ${signed(median(walls))} ± ${medianError(walls).toFixed(0)} ms`;
      const figures = added(from, to, figure);
      return {
        what,
        detail: `${typical(from)} → ${typical(to)} ms, ± ${medianError(figures).toFixed(1)}, ${starts} pairs; ${wall}`,
        result: `${median(figures).toFixed(1)} ms`,
      };
    };
    const ours = row("added to Pi's start, where a package of the same shape is loaded", "inert", "watched");
    const met = Number.parseFloat(ours.result) < LIMIT_MS;
    return [
      { ...ours, goal: `< ${LIMIT_MS} ms`, met },
      row("what any first package of this shape adds (Pi's own loaders)", "plain", "inert"),
      row("both together: to a Pi without any package", "plain", "watched"),
    ];
  } finally {
    await scope.close();
  }
}

function signed(ms: number): string {
  return `${ms < 0 ? "−" : "+"}${Math.abs(ms).toFixed(0)}`;
}

/** An extension that does nothing, a skill and a prompt: what makes Pi load its loaders of each. */
function inertPackage(scope: Scope): string {
  const folder = mkdtempSync(join(tmpdir(), "pi-watchdog-inert-"));
  scope.after(() => rmSync(folder, { recursive: true, force: true }));
  const files = {
    "package.json": JSON.stringify({
      name: "inert",
      pi: { extensions: ["./index.ts"], skills: ["./skills"], prompts: ["./prompts"] },
    }),
    "index.ts": "export default function inert(): void {}\n",
    "skills/inert/SKILL.md": "---\nname: inert\ndescription: Does nothing.\n---\n\nNothing.\n",
    "prompts/inert.md": "---\ndescription: Asks for nothing\n---\n\nNothing.\n",
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

interface Start {
  /** From spawn to the first answer. */
  wallMs: number;
  /** Processor time of the main thread until then; NaN where it is not known. */
  threadMs: number;
}

async function startOnce(home: PiHome): Promise<Start> {
  const scope = new CleanupStack();
  const start = performance.now();
  const pi = new PiRpc(home, scope);
  try {
    await pi.send({ type: "get_state" });
    return { wallMs: performance.now() - start, threadMs: mainThreadMs(pi.process.pid) };
  } finally {
    await scope.close();
  }
}

function mainThreadMs(pid: number | undefined): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
  } catch {
    return Number.NaN;
  }
}

/** A figure of an extension that did not load would be a lie. */
async function assertLoaded(home: PiHome): Promise<void> {
  const scope = new CleanupStack();
  const pi = new PiRpc(home, scope);
  try {
    const { commands } = await pi.send({ type: "get_commands" });
    const loaded = commands.some(
      ({ name, source }: { name: string; source: string }) => name === "watchdog" && source === "extension",
    );
    if (!loaded) throw new Error(`the extension did not load\n${pi.stderr}`);
  } finally {
    await scope.close();
  }
}
