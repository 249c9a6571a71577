// `/watchdog`: which subcommands there are, and the way to each. The subcommands' own files do the work.

import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { AutocompleteItem } from "@earendil-works/pi-tui";
import { now } from "../clock.ts";
import type { Page } from "../render/page.ts";
import type { Runtime, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { updateChip } from "../status.ts";
import { answer, complain } from "./answer.ts";
import { completions, type Subcommand } from "./complete.ts";
import { configPage, setPage } from "./config.ts";
import { historyPage } from "./history.ts";
import { findTarget, inspectPage } from "./inspect.ts";
import { INSTALL_ARGS, installAgentPage } from "./install-agent.ts";
import { nearest } from "./nearest.ts";
import { orphansPage } from "./orphans.ts";
import { statusPage } from "./status.ts";
import { steerPage } from "./steer.ts";
import { stopPage } from "./stop.ts";

interface Command extends Subcommand {
  /** With these arguments it acts on more than the session that it is typed in: the main session's only. */
  acts?(rest: string): boolean;
  run(runtime: Runtime, session: WatchedSession, rest: string, ctx: ExtensionCommandContext): Page | Promise<Page>;
}

const status = (runtime: Runtime, session: WatchedSession): Page =>
  statusPage({
    store: runtime.native.store,
    session,
    main: runtime.main(),
    version: runtime.native.version,
    now: now(),
  });

function pause(paused: boolean): Command["run"] {
  return ({ native: { store } }, session) => {
    const before = store.paused(session.rootId);
    store.pause(session.rootId, paused);
    if (paused) {
      const text = before ? "Alerts are paused already." : "Alerts are paused. The watchdog goes on watching.";
      return [{ text: `${text} /watchdog resume turns them on again.`, tone: "warning" }];
    }
    return [{ text: before ? "Alerts are on again." : "Alerts are on; they were not paused.", tone: "success" }];
  };
}

const always = (): boolean => true;

export const subcommands: readonly Command[] = [
  { name: "status", args: "", description: "Versions, sub-agent packages, targets, warnings", run: status },
  {
    name: "config",
    args: "",
    description: "The effective configuration",
    run: (runtime, session) => configPage(runtime.native, session),
  },
  {
    name: "set",
    args: "<key> <value>",
    description: "Change a configuration key for this run",
    run: (runtime, session, rest) => setPage(runtime.native, session, rest),
  },
  { name: "pause", args: "", description: "Stop alerts; watching goes on", run: pause(true), acts: always },
  { name: "resume", args: "", description: "Turn alerts on again", run: pause(false), acts: always },
  {
    name: "inspect",
    args: "<target>",
    description: "Recent events of a target and the verdict on it",
    run: (runtime, session, rest) => inspectPage(runtime, session, rest, now()),
  },
  {
    name: "steer",
    args: "<target> [message]",
    description: "Send a message to a sub-agent, by default the rescue message",
    run: steerPage,
    acts: always,
  },
  { name: "stop", args: "<target>", description: "End a sub-agent", run: stopPage, acts: always },
  {
    name: "history",
    args: "[filter]",
    description: "Incidents of this and earlier sessions",
    run: (runtime, session, rest) => historyPage(runtime.native, session, rest, now()),
  },
  {
    name: "orphans",
    args: "[close|kill]",
    description: "Sessions that a Pi left behind",
    acts: (rest) => rest.trim() !== "",
    run: (runtime, _session, rest) =>
      orphansPage({ native: runtime.native, now: now(), kill: runtime.native.processes.end }, rest),
  },
  {
    name: "install-agent",
    args: INSTALL_ARGS,
    description: "Write the agent file of the watchdog sub-agent",
    run: (_runtime, session, rest, ctx) => installAgentPage(session, rest, ctx),
  },
  { name: "help", args: "", description: "All subcommands", run: () => helpPage() },
];

const usage = ({ name, args }: Subcommand): string => (args === "" ? name : `${name} ${args}`);

function helpPage(): Page {
  const width = Math.max(...subcommands.map((one) => usage(one).length));
  return [
    { text: "/watchdog: the dashboard in a terminal, elsewhere the status", tone: "title" },
    ...subcommands.map((one) => ({ text: `/watchdog ${usage(one).padEnd(width)}  ${one.description}` })),
    { text: "/watchdog:settings: every configuration key, to be changed for this run" },
  ];
}

export function complete(runtime: Runtime, typed: string): AutocompleteItem[] | null {
  return completions(runtime, subcommands, typed);
}

export async function run(runtime: Runtime, args: string, ctx: ExtensionCommandContext): Promise<void> {
  const { session } = runtime;
  if (session === null) {
    complain(runtime, ctx, "The watchdog does not watch this session: it is disabled, or the session has ended.");
    return;
  }
  const [, name = "", rest = ""] = /^\s*(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
  if (name === "") {
    if (ctx.mode === "tui") await (await import("./dashboard.ts")).openDashboard(runtime, session, ctx);
    else answer(runtime, ctx, status(runtime, session));
    return;
  }
  const command = subcommands.find((one) => one.name === name.toLowerCase());
  if (command === undefined) {
    const names = subcommands.map((one) => one.name);
    const meant = nearest(name, names);
    const hint = meant === undefined ? "" : ` Did you mean /watchdog ${meant}?`;
    const usages = subcommands.map(usage).join(" | ");
    complain(runtime, ctx, `Unknown subcommand "${oneLine(name, 40)}".${hint}`, `Use /watchdog ${usages}.`);
    return;
  }
  if (!session.isMain && command.acts?.(rest) === true) {
    // Whoever prompts a sub-agent can write a command, so it is no word of the user.
    runtime.main()?.attempted?.(session.id, `/watchdog ${command.name}`, false);
    complain(runtime, ctx, `/watchdog ${command.name} is refused in a sub-agent. Use it in the main session.`);
    return;
  }
  if (command.name === "inspect" && ctx.mode === "tui") {
    const found = findTarget(runtime.native.store, session, rest, "/watchdog inspect <target>");
    if (found.ok) {
      await (await import("./dashboard.ts")).openDashboard(runtime, session, ctx, found.target.id);
      return;
    }
  }
  const page = await command.run(runtime, session, rest, ctx);
  // A package may answer only after the session has ended; there is nobody to tell then.
  if (runtime.session !== session) return;
  answer(runtime, ctx, page);
  updateChip(runtime);
}
