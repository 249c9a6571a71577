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

const WORDS = "error warning src lib module test expected found value type file line in at of the is not passed".split(
  " ",
);

/** Text as one flat string: a rope would be flattened inside whatever reads it first. */
function flat(text: string): string {
  return Buffer.from(text, "utf8").toString("utf8");
}

/** Lines of `bytes` bytes altogether, as a tool prints them. */
function lines(next: () => number, bytes: number, style: (word: string) => string): string {
  let text = "";
  while (text.length < bytes) {
    const word = WORDS[Math.floor(next() * WORDS.length)] ?? "";
    const roll = next();
    if (roll < 0.08)
      text += `${style(`src/${word}${Math.floor(next() * 40)}.ts`)}:${Math.floor(next() * 900)}:${Math.floor(next() * 80)} `;
    else if (roll < 0.1) text += `(${Math.floor(next() * 2000)}ms) `;
    else if (roll < 0.22) text += "\n";
    else text += `${word} `;
  }
  return text.slice(0, bytes);
}

export const OUTPUTS = {
  "20 B": (next: () => number) => flat(lines(next, 20, (word) => word)),
  "1 KB with ANSI": (next: () => number) => {
    const text = lines(next, 1024, (word) => `\u001b[31;1m${word}\u001b[0m`);
    // Not within a sequence.
    return flat(text.replace(/\u001b\[?[0-9;]*$/, ""));
  },
  "64 KB with ANSI and one non-Latin-1 character": (next: () => number) => {
    const text = lines(next, 64_000, (word) => `\u001b[36m${word}\u001b[0m`).replace(/\u001b\[?[0-9;]*$/, "");
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
