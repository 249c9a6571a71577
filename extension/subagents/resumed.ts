// Whether a request to resume an agent has taken effect, for packages whose answer may come at once, at the end of the
// agent's new run, or never. Knows no package.

import type { Delivery, SubagentRecord } from "./backend.ts";

const LOOK_MS = 50;
const PATIENCE_MS = 5_000;

/** `ask` makes the request; `status` tells the agent's state now. */
export async function resumed(
  ask: () => unknown,
  status: () => SubagentRecord["status"] | undefined,
): Promise<Delivery> {
  let answer: Delivery | undefined;
  const asked = (async () => ask())().then(
    (value) => {
      // Answered without having run: refused, or run already.
      if (value === false || value === undefined || value === null) answer ??= { outcome: "refused", reason: REFUSED };
      else answer ??= { outcome: "delivered" };
    },
    (error: unknown) => {
      answer ??= { outcome: "refused", reason: error instanceof Error ? error.message : String(error) };
    },
  );
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_MS) {
    const now = status();
    if (now === "running") return { outcome: "delivered" };
    if (now === "queued") return { outcome: "queued" };
    if (answer !== undefined) return answer;
    await Promise.race([asked, pause()]);
  }
  return answer ?? { outcome: "unknown", reason: "the package did not answer, and the agent does not run" };
}

const REFUSED = "the package did not resume the agent";

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_MS).unref());
}
