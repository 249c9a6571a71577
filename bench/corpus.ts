// What the benchmarks feed: steps (a call and its result) as an agent makes them, the same on every run.

export interface Step {
  tool: string;
  /** JSON text. */
  args: string;
  output: string;
  isError: boolean;
}

/** A small generator with a seed: benchmarks must not differ from run to run. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const WORDS =
  "alpha value config index token parse render session module stream buffer cache client server handler event result error state option".split(
    " ",
  );

type Colour = (code: number, text: string) => string;

/** What tools print, a line each: matches of a search, a test runner, a log, source text. */
const LINES: ((word: () => string, number: (below: number) => number, colour: Colour) => string)[] = [
  (word, number, colour) =>
    `${colour(35, `src/${word()}/${word()}.ts`)}:${colour(32, String(number(900)))}:  const ${word()} = ${colour(31, word())}(${word()}, ${word()});`,
  (word, number, colour) => `  ${colour(32, "ok")} ${word()} keeps the ${word()} of a ${word()} (${number(300)} ms)`,
  (word, number, colour) =>
    `[${number(24).toString().padStart(2, "0")}:${10 + number(50)}:${10 + number(50)}] ${colour(33, "warning")}: unused ${word()} in ${word()}::${word()}`,
  (word) => `    if (${word()}.${word()} !== undefined) return ${word()}(${word()});`,
  (word) => `  /** The ${word()} of the ${word()}, or nothing when the ${word()} has none. */`,
  (word, number, colour) =>
    `${colour(31, "error")}: src/${word()}.ts:${number(900)}:${number(90)} ${word()} is not a ${word()}`,
];

/** Text as one flat string: a rope would be flattened inside whatever reads it first. */
function flat(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** Lines of `size` characters altogether. */
function lines(next: () => number, size: number, colour: Colour): string {
  const word = () => WORDS[Math.floor(next() * WORDS.length)] ?? "";
  const number = (below: number) => Math.floor(next() * below);
  let text = "";
  while (text.length < size) text += `${LINES[number(LINES.length)]?.(word, number, colour)}\n`;
  // Not within a sequence.
  return text.slice(0, size).replace(/\u001b\[?[0-9;]*$/, "");
}

const plain: Colour = (_, text) => text;
const coloured: Colour = (code, text) => `\u001b[${code}m${text}\u001b[0m`;

export const OUTPUTS = {
  "20 B": (next: () => number) => flat(lines(next, 20, plain)),
  "1 KB with ANSI": (next: () => number) => flat(lines(next, 1024, coloured)),
  "64 KB with ANSI and one non-Latin-1 character": (next: () => number) => {
    const text = lines(next, 64_000, coloured);
    return flat(`${text.slice(0, 30_000)}→${text.slice(30_000)}`);
  },
} as const;

export type Size = keyof typeof OUTPUTS;

/**
 * A healthy agent with a little of everything: mostly new questions, now and then the same one again, now and then an
 * edit. Long enough that nothing repeats within what a detector remembers.
 */
export function workload(size: Size, steps: number, seed = 1): Step[] {
  const next = random(seed);
  const outputs = Array.from({ length: size.startsWith("64") ? 48 : 512 }, () => OUTPUTS[size](next));
  const result: Step[] = [];
  for (let index = 0; index < steps; index += 1) {
    const output = outputs[index % outputs.length] ?? "";
    const roll = next();
    const previous = result.at(-1);
    if (roll < 0.1 && previous !== undefined) {
      result.push({ ...previous });
    } else if (roll < 0.2) {
      const args = { path: `src/file${index % 50}.ts`, edits: [{ oldText: `old ${index}`, newText: `new ${index}` }] };
      result.push({ tool: "edit", args: JSON.stringify(args), output, isError: false });
    } else if (roll < 0.5) {
      const args = { path: `src/file${index}.ts`, offset: index, limit: 200 };
      result.push({ tool: "read", args: JSON.stringify(args), output, isError: false });
    } else {
      const args = { command: `rg -n  "token${index}"  src/module${index % 97}`, timeout: 60 };
      result.push({ tool: "bash", args: JSON.stringify(args), output, isError: roll > 0.9 });
    }
  }
  return result;
}
