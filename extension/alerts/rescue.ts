// The rescue message as a model reads it. One that a project's file or a model set is quoted as theirs, wherever it goes:
// it does not speak as the user.

import type { ConfigSources } from "../../index.js";
import { plain, quoted } from "../sanitize.ts";

export interface RescueText {
  text: string;
  /** Who set it, where that is neither the user nor the default. */
  setBy?: "project" | "model" | undefined;
}

interface Configured {
  readonly config: { readonly rescueMessage: string };
  /** Absent for a main session of another copy of the package, which does not say. */
  readonly sources?: ConfigSources;
}

/** The effective rescue message, and whose it is where that is not the user's. */
export function rescueTextOf({ config, sources }: Configured): RescueText {
  const source = sources?.rescueMessage;
  return { text: config.rescueMessage, ...(source === "project" || source === "model" ? { setBy: source } : {}) };
}

export function rescueLines({ text, setBy }: RescueText): string[] {
  if (setBy === undefined) return plain(text).split("\n");
  const whose =
    setBy === "project"
      ? "The rescue message of the project's configuration file"
      : "The rescue message that a model set";
  return [`${whose}:`, quoted(text)];
}

/** What is sent where nobody wrote a message of their own. */
export const rescueMessageOf = (session: Configured): string => rescueLines(rescueTextOf(session)).join("\n");
