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

/** Sessions of one process at once; and of all processes of a main session, the ones that are out of contact included. */
export const MAX_SESSIONS = 64;
export const MAX_ALL_SESSIONS = 256;
/** New sessions of all processes of a main session: so many at once, then one in so many milliseconds. */
export const OPENS_AT_ONCE = 256;
export const OPEN_EVERY_MS = 2000;
/** Sessions of it that are nested this deep or deeper; what is beyond hangs under the main session. */
export const DEEP = 3;
export const NESTED_AT_ONCE = 16;
export const NESTED_EVERY_MS = 30_000;
/** Ended sessions that are remembered, so that one that is resumed is known again. */
export const MAX_ENDED = 200;
/** Connections of children to a main session, those that come back included. */
export const JOINS_AT_ONCE = 600;
export const JOIN_EVERY_MS = 100;

/** What is read of one process in a second, and of all of them together; beyond it the process has to wait. */
export const READ_PER_SECOND = 2 * 1024 * 1024;
export const READ_ALL_PER_SECOND = 8 * 1024 * 1024;
/** What waits to be written to one child; one that does not read is let go. */
export const MAX_UNREAD = 1024 * 1024;

/** A line costs as much of that as so many bytes, however short it is. */
export const LINE_COST = 512;

/**
 * Notices that are shown: so many at once, then one in so many milliseconds. Of one process, whatever it connects and
 * opens; and of all processes of a main session.
 */
export const NOTICES_AT_ONCE = 10;
export const NOTICE_EVERY_MS = 10_000;
export const TREE_NOTICES_AT_ONCE = 20;
export const TREE_NOTICE_EVERY_MS = 10_000;
/** Verdict and figures of one session, as with notices; what is beyond is taken a little later, the latest only. */
export const STATES_AT_ONCE = 50;
export const STATE_EVERY_MS = 50;
/** Other names of one session. */
export const NAMES_AT_ONCE = 8;
export const NAME_EVERY_MS = 30_000;
/** How often the main session looks at what is due because children report, at most. */
export const STIR_EVERY_MS = 50;

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
