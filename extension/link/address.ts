// Where a main session is to be found, as it is handed down in the environment, and which session of a process its own
// children belong to. Reads and writes the variables; opens nothing.

export interface Address {
  /** Of the socket or the named pipe. */
  path: string;
  /** Session id of the main session. */
  rootId: string;
  /** Known to the main session and to what was started within it. */
  token: string;
  /** Of the main session. */
  pid: number;
}

const ADDRESS = "PI_WATCHDOG_LINK";
/** Session id of the nearest process above that reports; absent below the main session itself. */
const PARENT = "PI_WATCHDOG_LINK_PARENT";

const MAX_VALUE = 2000;
const ID = /^[\w.:-]{1,200}$/;

export const isSessionId = (value: unknown): value is string => typeof value === "string" && ID.test(value);

export function readAddress(): { address: Address; parentId: string } | undefined {
  const text = process.env[ADDRESS];
  if (text === undefined || text.length > MAX_VALUE) return undefined;
  try {
    const { path, rootId, token, pid } = JSON.parse(text) as Partial<Record<keyof Address, unknown>>;
    if (typeof path !== "string" || path === "" || !isSessionId(rootId)) return undefined;
    if (typeof token !== "string" || token === "" || typeof pid !== "number" || !Number.isSafeInteger(pid) || pid <= 0)
      return undefined;
    const parentId = process.env[PARENT];
    return { address: { path, rootId, token, pid }, parentId: isSessionId(parentId) ? parentId : rootId };
  } catch {
    return undefined;
  }
}

/** Hands an address down. The returned function takes it back, and nothing but it. */
export function publishAddress({ path, rootId, token, pid }: Address): () => void {
  const text = JSON.stringify({ path, rootId, token, pid });
  process.env[ADDRESS] = text;
  delete process.env[PARENT];
  return () => {
    if (process.env[ADDRESS] !== text) return;
    delete process.env[ADDRESS];
    delete process.env[PARENT];
  };
}

/** Processes that are started from now on belong to a session of this process: one of its tool calls begins. */
export function nameParent(sessionId: string): void {
  if (process.env[ADDRESS] !== undefined) process.env[PARENT] = sessionId;
}

/** This process has no children on the link any more. */
export function forgetParent(): void {
  delete process.env[PARENT];
}
