// `npm run demo`: a real Pi session in which a child loops, is found, told and recovers, as it happens; then the replay of
// what was recorded. Exit code 0 only if every step was seen. `--fast` leaves out the pauses that are for readers;
// `--alert-mode main_only` shows the default, in which nobody speaks to the child: then not every step can be seen.

import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { CleanupStack, deadline, Lab, type PiRecord, type PiRpc, REPOSITORY } from "../__test__/support/pi.ts";
import type { Report } from "../extension/outlets/index.ts";
import { version } from "../index.js";
import { actors, FILES, FRUITLESS, isChild, RESCUE, TASK } from "./actors.ts";
import { Checklist } from "./checklist.ts";
import { Observer } from "./observer.ts";
import { replay } from "./replay.ts";
import { Screen } from "./screen.ts";

const PACE_MS = 1400;
const LIMIT_MS = 120_000;
const LOG = "~/findings.jsonl";
/** The main agent starts the child, waits, and answers when it hears of its end. */
const MAIN_CALLS = 3;
/** From npm, as a user would install it. */
const PACKAGE = join(REPOSITORY, "node_modules", "@tintinweb", "pi-subagents");

const { values } = parseArgs({
  options: { fast: { type: "boolean", default: false }, "alert-mode": { type: "string", default: "both" } },
});
const screen = new Screen();
const checklist = new Checklist();
const stage = new CleanupStack();
try {
  await deadline(show(), () => "the end of the demo", LIMIT_MS);
} catch (error) {
  screen.line(`\nThe demo stopped: ${error instanceof Error ? error.message : error}`);
} finally {
  await stage.close().catch((error: Error) => screen.line(`\nClosing the demo: ${error.message}`));
}
checklist.show(screen);
screen.line(checklist.complete ? "\nEvery step was seen." : "\nNot every step was seen.");
// Waits that were given up may still hold timers. What is written must be out first.
process.stdout.write("", () => process.exit(checklist.complete ? 0 : 1));

async function show(): Promise<void> {
  screen.title(`pi-watchdog-supervisor ${version}: a sub-agent that goes round in circles`);
  const lab = await Lab.open(stage, {
    script: actors(values.fast ? 0 : PACE_MS),
    files: FILES,
    packages: [PACKAGE],
    // By default children are only reported. `both` lets the watchdog speak to the child as well.
    config: { alertMode: values["alert-mode"], rescueMessage: RESCUE, findingsLog: LOG },
  });
  const pi = await lab.rpc();
  const observer = new Observer(screen, checklist);
  await status(pi);

  screen.title("The run");
  observer.follow(lab, pi);
  screen.event("you", TASK);
  await pi.prompt(TASK);
  // The child's end wakes the main agent, which then answers.
  await pi.waitFor(isFinalAnswer, "the main agent's answer");
  observer.childEnded(lab.server.requests.filter(isChild));
  observer.mainEnded(MAIN_CALLS);
  const finding = findings(lab).find(({ state }) => state === "finding");

  screen.title("What the loop cost");
  cost(finding);
  screen.title("What the watchdog kept of the child: /watchdog inspect");
  await inspect(pi, observer.agentId ?? "");
  screen.title("The recorded session, replayed: pi-watchdog replay");
  await replayed(pi, finding?.target.id ?? "");
}

async function status(pi: PiRpc): Promise<void> {
  const text = await ask(pi, "/watchdog status");
  screen.event("pi", "started in RPC mode on a scripted local model; /watchdog status says:");
  screen.block(text);
  if (/@tintinweb\/pi-subagents/.test(text) && !/no sub-agent package/.test(text))
    checklist.tick("started", `native core ${version}, ${packageName()}`);
}

function packageName(): string {
  const manifest = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));
  return `${manifest.name} ${manifest.version}`;
}

/** What the watchdog wrote to its log for other programs. */
function findings(lab: Lab): Report[] {
  const text = readFileSync(LOG.replace("~", lab.home.root), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
}

function cost(finding: Report | undefined): void {
  if (finding?.cost === undefined) return;
  const text = `$${finding.cost.toFixed(4)} until it was found`;
  screen.line(`         ${text}`);
  if (finding.cost > 0) checklist.tick("cost", text);
}

async function inspect(pi: PiRpc, agentId: string): Promise<void> {
  const text = await ask(pi, `/watchdog inspect ${agentId}`);
  screen.block(text);
  if (text.includes(`bash: ${FRUITLESS}`) && text.includes(agentId)) {
    checklist.tick("inspected", `agent ${agentId}`);
  }
}

async function replayed(pi: PiRpc, sessionId: string): Promise<void> {
  const file = await recording(pi, sessionId);
  const { text, report } = await replay(file);
  screen.block(text);
  const finding = report?.findings.find(({ rule }) => rule === "repeated_command");
  const command = finding?.analysis.evidence.find(({ type }) => type === "repeated_command")?.command;
  if (finding?.entryId !== undefined && command === FRUITLESS) {
    checklist.tick("replayed", `${finding.rule} at entry ${finding.entryId}, line ${finding.line}`);
  }
}

/** The session file of the child, which is beside that of its main session. */
async function recording(pi: PiRpc, sessionId: string): Promise<string> {
  const { sessionFile } = await pi.send({ type: "get_state" });
  const directory = dirname(sessionFile);
  const name = readdirSync(directory).find((entry) => sessionId !== "" && basename(entry).includes(sessionId));
  if (name === undefined) throw new Error(`no session file of ${sessionId}`);
  return join(directory, name);
}

/** The answer of a command. */
async function ask(pi: PiRpc, command: string): Promise<string> {
  const records = await pi.prompt(command);
  const answer = records.find(
    ({ type, message }) => type === "message_end" && message.customType === "watchdog-answer",
  );
  return answer?.message.content ?? "";
}

function isFinalAnswer(record: PiRecord): boolean {
  if (record.type !== "message_end" || record.message.role !== "assistant") return false;
  return record.message.content.some((block: { text?: string }) => block.text?.startsWith("src/client.ts sets it"));
}
