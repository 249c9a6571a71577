// The JS twin of src/text/noise: the same classes of noise as regular expressions, as far as the benchmarks' outputs and
// the pairs in bench/equal.ts have them. What is noise and what is signal: docs/noise.md.
//
// Written to be fast for what it is: a pattern that must look behind does so after its first digit, so that the engine
// can skip to digits. With the look-behind in front it takes three times as long.

const ZONE = "(?:Z|\\s?[+-]\\d\\d:?\\d\\d)?";
const MINUTES = `:\\d\\d:\\d\\d(?:[.,]\\d{1,9})?(?:\\s?[AaPp][Mm])?${ZONE}`;
const UNIT = "(?:milliseconds?|millis|msecs?|ms|microseconds?|[µμu]s|ns|seconds?|secs?|s|minutes?|mins?|hours?|hrs?|h)";
/** The rest of a number of which the first digit was read. */
const REST = "\\d*(?:,\\d{3})*(?:\\.\\d+)?";
/** Behind the first digit: no word goes on to the left of it. */
const ALONE = "(?<![\\w.%$#@/\\\\]\\d|\\w-\\d)";

/** Patterns that begin with a digit. */
const NUMERIC: [placeholder: string, pattern: string][] = [
  ["<id>", "(?<![0-9A-Za-z]\\d)[0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9A-Za-z])"],
  ["<addr>", "(?<=\\b0)[xX][0-9a-fA-F]{9,16}\\b"],
  ["<time>", `(?<![\\w.]\\d)\\d{3}[-/]\\d\\d[-/]\\d\\d[T ]\\d{1,2}${MINUTES}(?!\\w)`],
  ["<time>", "(?<![\\w.\\-/]\\d)\\d{3}[-/]\\d\\d[-/]\\d\\d(?![\\w:]|[-./]\\w)"],
  ["<time>", `(?<![\\w:./]\\d|\\w-\\d)\\d?${MINUTES}(?![\\w:])`],
  ["<time>", "(?<![\\w.+\\-/]1)(?<=1)[4-9]\\d{11}(?:\\d{3}){0,2}(?!\\w|[-./]\\w)"],
  ["<dur>", `${ALONE}${REST} ?${UNIT}(?: \\d+(?:\\.\\d+)? ?${UNIT})*(?!\\w)`],
  ["<rate>", `${ALONE}${REST} ?[A-Za-z]{1,12}\\/(?:s|sec|second)\\b`],
  ["<pid>", '(?<=\\b(?:pid|ppid|tid|process)(?:" ?|[ :=#(]){1,3}\\d)\\d*\\b'],
  ["<n>", "(?<=\\b(?:attempts?|retry|retries|retrying)[ :#(]{1,3}\\d)\\d*(?:(?: of |\\/)\\d+)?\\b"],
];

const NUMBERS = new RegExp(`\\d(?:${NUMERIC.map(([, pattern]) => `(${pattern})`).join("|")})`, "g");
const HEX_IDS =
  /\b(?=[0-9a-f]{16})(?=[a-f]*\d)(?=\d*[a-f])(?<!(?:sha\d*|md5|commit|digest|hash|tree)[-:= ]{1,2})(?:[0-9a-f]{16,40}|[0-9a-f]{64})\b/g;
const TEMPORARY = /\/tmp\/(?<![\w.~/]\/tmp\/)(?=[^/\s]*(?:\d|[a-z][A-Z]))[\w.+@~%-]*\w/g;

/** The text with its noise replaced by placeholders. */
export function maskNoise(text: string): string {
  if (!/\d/.test(text)) return text.replace(TEMPORARY, "/tmp/<tmp>");
  return text
    .replace(HEX_IDS, "<id>")
    .replace(NUMBERS, (found, ...groups) => {
      for (let index = 0; index < NUMERIC.length; index += 1) {
        if (groups[index] !== undefined) return NUMERIC[index]?.[0] ?? "";
      }
      return found;
    })
    .replace(TEMPORARY, "/tmp/<tmp>");
}
