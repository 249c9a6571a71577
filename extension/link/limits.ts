// Every bound of the link in one place: what a process may cost the main session, and what a slow main session may cost
// a child. Bytes, counts, milliseconds.

/** A line on the wire, either way. */
export const MAX_LINE = 256 * 1024;
/** A line before the peer has proved that it belongs here. */
export const MAX_GREETING = 2048;
/** From the connection to the proof, whatever came in between; and how long a child waits for a busy main session. */
export const GREETING_MS = 4000;
export const WELCOME_MS = 10_000;
/** Connections that have not proved anything; and all of them. */
export const MAX_STRANGERS = 64;
export const MAX_CONNECTIONS = 512;

/** Sessions of one process at once, and over its life. */
export const MAX_SESSIONS = 64;
export const MAX_SESSIONS_EVER = 1000;
/** Ended sessions that are remembered, so that one that is resumed is known again. */
export const MAX_ENDED = 200;

/** What is read of one process in a second, and of all of them together; beyond it the process has to wait. */
export const READ_PER_SECOND = 2 * 1024 * 1024;
export const READ_ALL_PER_SECOND = 8 * 1024 * 1024;
/** What waits to be written to one child; one that does not read is let go. */
export const MAX_UNREAD = 1024 * 1024;

/** Notices of one process that are shown: so many at once, then one in so many milliseconds. */
export const NOTICES_AT_ONCE = 10;
export const NOTICE_EVERY_MS = 10_000;

/** Events that a child keeps while they are not acknowledged. */
export const MAX_QUEUED = 4000;
export const MAX_QUEUED_BYTES = 2 * 1024 * 1024;
export const MAX_QUEUED_NOTICES = 32;
/** Events in one line. */
export const BATCH = 200;
export const BATCH_BYTES = 64 * 1024;

/**
 * How often a child takes new events, of which its store keeps few; how often it tells its figures; how often it says that
 * it is there when there is nothing else.
 */
export const PULL_MS = 50;
export const REPORT_MS = 200;
export const BEAT_MS = 3000;
/** How often the main session looks after its children; and, without any, whether its socket is still there. */
export const LOOK_MS = 1000;
export const LOOK_IDLE_MS = 10_000;
/** Silence after which a connected child counts as out of contact. */
export const SILENT_MS = 15_000;
/** A lost connection whose process lives may come back for so long; one whose process is gone for so long. */
export const RETURN_MS = 60_000;
export const GRACE_MS = 3000;

/** Between attempts to connect. */
export const RETRY_MS = 100;
export const MAX_RETRY_MS = 5000;
/**
 * A child that finds nobody for so long goes on by itself: sooner where the folder is gone, later where somebody takes its
 * connection and does not answer.
 */
export const GIVE_UP_ON_NOTHING_MS = 5000;
export const GIVE_UP_MS = 15_000;
export const GIVE_UP_ON_BUSY_MS = 120_000;
/** What an ending process waits at most for its last reports to be taken. */
export const FLUSH_MS = 500;

/** For an answer to a request, and after it for the message to be taken up. */
export const ANSWER_MS = 5000;
export const TAKE_UP_MS = 1500;
/** For a child that was asked to end. */
export const STOP_MS = 10_000;

export const MAX_MESSAGE = 8000;
