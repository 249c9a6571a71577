// Loads the library with its addon, or says in one line why that is not possible. Pi ends when an extension cannot be
// imported, so what imports the library by value is itself imported only after this has succeeded (index.ts).

import type { Native } from "./runtime.ts";

export type NativeResult = { ok: true; native: Native } | { ok: false; message: string };

export async function loadNative(): Promise<NativeResult> {
  try {
    return { ok: true, native: await import("../index.js") };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, message: `The watchdog is off: ${reason.split("\n", 1)[0]}` };
  }
}
