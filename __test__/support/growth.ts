// Holds the cost of functions on text to the length of the text, as `src/text/growth.rs` does in the core.

import assert from "node:assert/strict";

/** What texts are made of: each is a beginning, a separator or a run that some expression treats in a way of its own. */
export const UNITS: readonly string[] = [
  ...["a", "0", " ", "  ", "\t", "\n", "\r", "\r\n", " \n", "\v", "\f", "\u0085", "\u2028", "-", "- ", "_", ",", "."],
  ...[
    ". ",
    ":",
    ";",
    "=",
    "/",
    "\\",
    "\\\\",
    '"',
    '\\"',
    "'",
    "`",
    "(",
    " (",
    ")",
    "()",
    " (a)",
    "[",
    "[]",
    "{",
    '{"a":',
  ],
  ...[
    "<",
    "> ",
    "|",
    "&& ",
    "$(",
    "#",
    "**",
    "word ",
    "a.b ",
    "1.5s ",
    "404 ",
    "0x7f ",
    "6080604052",
    "aGVsbG8",
    "-a ",
  ],
  ...["A=1 ", "sudo ", "https://a.example/b?c=d ", "/tmp/x8Hd/", "../", "2024-01-02T10:02:33Z ", "pid 4711 "],
  ...["0b5e9c1a-7f3d-4e2b-9a6c-1d2e3f405162 ", "Jun 1 ", "12:00:33"],
  ...[
    "\u001b",
    "\u001b[",
    "\u001b[1;",
    "\u001b[31mred\u001b[0m",
    "\u001b]",
    "\u001b]8;;x",
    "\u001b]0;t\u0007",
    "\u001bP",
  ],
  ...[
    "\u001b_",
    "\u001b(",
    "\u001b#",
    "\u001b[[",
    "\u001b[?",
    "\u009b",
    "\u009b;",
    "\u009d",
    "\u0090",
    "\u009c",
    "\u0007",
  ],
  ...[
    "\u0000",
    "\u007f",
    "é",
    "東京",
    "。",
    "🦀",
    "👩‍👩‍👧",
    "e\u0301",
    "\u0301",
    "\ufe0f",
    "\u200b",
    "\u202e",
    "\u{e0041}",
  ],
  ...["\u00a0", "\u3000", "\ud800", "\udc00", "\ufffd", "\ufeff"],
];

/** Each text is tried at these sizes. */
const SIZES = [64 * 1024, 256 * 1024];
/** A cost is compared with that of a text so many times shorter: four times when it is linear, sixteen when quadratic. */
const STEP = 4;
const TOO_MUCH = 10;
/** What costs less is not compared, µs: quadratic ones cost more, and the clock counts in steps of some milliseconds. */
const CHEAP = 25_000;
const CLOCK_STEP = 4000;
const RUNS = 7;

/** Processor time of this thread, µs: what else the machine does must not count. */
function cost(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

function* shapes(): Generator<[name: string, of: (size: number) => string]> {
  const repeated = (unit: string, size: number): string => unit.repeat(Math.ceil(size / unit.length));
  for (const [index, unit] of UNITS.entries()) {
    const other = UNITS[(index * 11 + 5) % UNITS.length] ?? "";
    yield [JSON.stringify(unit), (size) => repeated(unit, size)];
    if (index % 6 === 0) yield [JSON.stringify(unit + other), (size) => repeated(unit + other, size)];
    else if (index % 6 === 1)
      yield [
        `${JSON.stringify(unit)} then ${JSON.stringify(other)}`,
        (size) => repeated(unit, size / 2) + repeated(other, size / 2),
      ];
  }
}

/** Fails when the cost of `work` grows faster than the text that it is given. */
export function isLinear(name: string, work: (text: string) => unknown): void {
  // The first runs are compiled.
  for (let run = 0; run < 3; run++) work("word ".repeat(4000));
  for (const [shape, of] of shapes()) {
    // A flat string: what is built by repeating is put together at its first use.
    const text = (size: number): string => Buffer.from(of(size), "utf16le").toString("utf16le");
    for (const size of SIZES) {
      const larger = text(size);
      let dear = cost(() => work(larger));
      if (dear <= CHEAP) continue;
      const smaller = text(size / STEP);
      let cheap = CLOCK_STEP;
      for (let run = 0; run < RUNS; run++) {
        cheap = Math.max(
          cheap,
          cost(() => work(smaller)),
        );
        if (dear <= TOO_MUCH * cheap || (run > 1 && dear > 1_000_000)) break;
        dear = Math.min(
          dear,
          cost(() => work(larger)),
        );
      }
      assert.ok(
        dear <= TOO_MUCH * cheap,
        `${name} on ${shape}: ${cheap} µs for ${size / STEP} characters, ${dear} µs for ${size}`,
      );
    }
  }
}
