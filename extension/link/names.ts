// How a process is called that nobody named.

import { oneLine } from "../sanitize.ts";

/** What a session without a name says of itself; whoever knows better names it. */
export const UNNAMED = "sub-agent";

/** Of a name that is the beginning of a task. */
const TASK_CHARS = 60;

/** A process that a shell line started is known by the first task it was told; empty where that says nothing. */
export const nameOfTask = (task: string): string => oneLine(task, TASK_CHARS);
