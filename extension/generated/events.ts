// Made by `npm run generate` from the Rust core, which declares all events in one place. Do not edit.

/** Lifecycle events that the extension sends; the store knows the others by itself, or only traces have them. */
export const LIVE_EVENTS = [
  "agent_start",
  "agent_end",
  "agent_settled",
  "session_start",
  "auto_retry_start",
  "provider_limit",
  "compaction_start",
  "compaction_end",
  "thinking_level",
  "tool_update",
  "ui_prompt_start",
  "ui_prompt_end",
  "user_abort",
  "notice",
  "steer",
  "subagent_stream",
  "file_read",
  "file_written",
] as const;

export type LiveEvent = (typeof LIVE_EVENTS)[number];

/** Lifecycle events that nothing in Pi tells: only recorded traces have them. */
export const TRACE_EVENTS: ReadonlySet<string> = new Set([
  "chain_end",
  "provider_retry",
  "permission_ask",
  "permission_reply",
  "message_send",
  "subagent_request",
  "usage",
  "process",
]);
