// Argument completion of `/watchdog`: subcommands, configuration keys, their values, target ids.

import type { AutocompleteItem } from "@earendil-works/pi-tui";
import type { TargetSummary } from "../../index.js";
import { shortIds, stateOf } from "../format.ts";
import { unreachable } from "../reach.ts";
import type { Runtime } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { installWords } from "./install-agent.ts";
import { configKeys, findKey } from "./keys.ts";

export interface Subcommand {
  name: string;
  /** Arguments, for usage texts. */
  args: string;
  description: string;
}

/** Completions for everything typed after `/watchdog `; each item replaces all of it. */
export function completions(
  runtime: Runtime,
  subcommands: readonly Subcommand[],
  typed: string,
): AutocompleteItem[] | null {
  const [, head = "", gap = "", rest = ""] = /^\s*(\S*)(\s*)([\s\S]*)$/.exec(typed) ?? [];
  const items = gap === "" ? subcommandItems(subcommands, head) : argumentItems(runtime, head, rest);
  // What is typed out in full needs no menu: Enter would take the item instead of running the command.
  const open = items.filter((item) => item.value !== typed.trimStart());
  return open.length > 0 ? open : null;
}

function subcommandItems(subcommands: readonly Subcommand[], prefix: string): AutocompleteItem[] {
  return subcommands
    .filter(({ name }) => name.startsWith(prefix.toLowerCase()))
    .map(({ name, args, description }) => ({
      // What needs no argument can be run as it is.
      value: args === "" || args.startsWith("[") ? name : `${name} `,
      label: args === "" ? name : `${name} ${args}`,
      description,
    }));
}

function argumentItems(runtime: Runtime, subcommand: string, rest: string): AutocompleteItem[] {
  if (subcommand === "set") return setItems(runtime, rest);
  if (subcommand === "inspect") return targetItems(runtime, subcommand, rest, () => true);
  const reachable = (target: TargetSummary): boolean => unreachable(target, runtime.session?.id ?? "") === undefined;
  if (subcommand === "orphans") {
    return ["close", "kill"]
      .filter((action) => action.startsWith(rest))
      .map((action) => ({ value: `orphans ${action}${action === "kill" ? " " : ""}`, label: action }));
  }
  if (subcommand === "install-agent") return wordItems(subcommand, rest);
  if (subcommand === "stop" || subcommand === "steer") return targetItems(runtime, subcommand, rest, reachable);
  return [];
}

/** Words in any order, each once. */
function wordItems(subcommand: string, rest: string): AutocompleteItem[] {
  const typed = rest.split(/\s+/);
  const last = typed.pop() ?? "";
  const before = [subcommand, ...typed].join(" ");
  return installWords
    .filter((word) => word.startsWith(last.toLowerCase()) && !typed.includes(word))
    .map((word) => ({ value: `${before} ${word}`, label: word }));
}

function setItems(runtime: Runtime, rest: string): AutocompleteItem[] {
  const keys = configKeys(runtime.native);
  const [, name = "", gap = "", value = ""] = /^(\S*)(\s*)([\s\S]*)$/.exec(rest) ?? [];
  if (gap === "") {
    return keys
      .filter((key) => key.name.toLowerCase().startsWith(name.toLowerCase()))
      .map((key) => ({ value: `set ${key.name} `, label: key.name, description: key.description }));
  }
  const key = findKey(keys, name);
  return (key?.choices ?? [])
    .filter((choice) => choice.startsWith(value.toLowerCase()))
    .map((choice) => ({ value: `set ${key?.name} ${choice}`, label: choice }));
}

function targetItems(
  runtime: Runtime,
  subcommand: string,
  prefix: string,
  offered: (target: TargetSummary) => boolean,
): AutocompleteItem[] {
  const { session, native } = runtime;
  if (session === null) return [];
  const targets = native.store.targets(session.rootId, true);
  const ids = shortIds(targets);
  // A message follows the target.
  const end = subcommand === "steer" ? " " : "";
  return targets
    .filter(offered)
    .filter((target) => [target.id, ...target.aliases].some((id) => id.startsWith(prefix)))
    .map((target) => {
      const id = ids.get(target.id) ?? target.id;
      return {
        value: `${subcommand} ${id}${end}`,
        label: oneLine(id, 40),
        description: `${oneLine(target.name, 60)}, ${stateOf(target)}`,
      };
    });
}
