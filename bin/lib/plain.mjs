// Text from files, made safe for a terminal: one line at a time.

export { oneLine as plain } from "../../shared/plain.js";
