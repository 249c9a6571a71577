// What a test on real Pi imports.

export { CleanupStack, type Scope } from "./cleanup.ts";
export { Lab, type LabOptions } from "./lab.ts";
export * from "./model-server.ts";
export { MODEL, PiHome, piCli, provider, REPOSITORY } from "./pi-home.ts";
export type { OnceOptions, OnceResult } from "./pi-once.ts";
export { type PiRecord, PiRpc } from "./pi-rpc.ts";
export { PiTui, tmuxMissing } from "./pi-tui.ts";
export { DEADLINE_MS, deadline, poll } from "./wait.ts";
