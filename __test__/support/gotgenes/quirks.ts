// Deviations from the observed behaviour that a test can ask for, as a comma-separated list in the environment.
// Without it the stand-in behaves as version 18 was seen to; with `v23` as far as is known of the versions 19 to 23.

export interface Quirks {
  /** The service is published only when the first prompt arrives, not when the package loads. */
  lateSlot: boolean;
  /** Child sessions are created outside the async context in which `subagents:started` was emitted. */
  detached: boolean;
  /** A child that ends removes the service slot, as versions after 18 do. */
  deleteSlot: boolean;
  /** One agent at a time; the others queue. */
  serial: boolean;
  /** Foreground agents, and resumed ones, are announced when they end, as from 21.2 on. */
  announceAll: boolean;
  /** Records name the session's file, and say whether the agent is in the background, as from 20.1 on. */
  outputFile: boolean;
  /** Other packages can resume an agent by the service, as from 21.6 on. */
  resume: boolean;
  /** Children may start children. */
  nested: boolean;
  /** Only the tool that starts agents: Pi does not load two packages whose tools have the same names. */
  oneTool: boolean;
  /** The service shows no live agents, as a version may that makes its manager private. */
  noLive: boolean;
  /** Children get a session and are never asked anything. */
  unstarted: boolean;
  /** Children that have done their work stay "running". */
  unreturned: boolean;
  /** The main agent is not told of the end of a background agent. */
  untold: boolean;
}

export function readQuirks(text: string | undefined = process.env.PI_SUBAGENTS_STAND_IN): Quirks {
  const asked = new Set((text ?? "").split(",").map((word) => word.trim()));
  const later = asked.has("v23");
  return {
    lateSlot: asked.has("late-slot"),
    detached: asked.has("detached"),
    deleteSlot: later || asked.has("delete-slot"),
    serial: asked.has("serial"),
    announceAll: later,
    outputFile: later,
    resume: later,
    nested: asked.has("nested"),
    oneTool: asked.has("one-tool"),
    noLive: asked.has("no-live"),
    unstarted: asked.has("unstarted"),
    unreturned: asked.has("unreturned"),
    untold: asked.has("untold"),
  };
}
