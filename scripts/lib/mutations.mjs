// Small changes to TypeScript that a test should notice, found by tokens: no compiler is needed, and what stands in
// comments, strings, patterns and type declarations is left alone. Pure.

/**
 * @typedef {{ start: number, end: number, to: string, kind: string, line: number, from: string }} Mutation
 */

/** Before these a slash begins a pattern and divides nothing. */
const BEFORE_PATTERN = /(?:^|[=(,:;!&|?{}[+\-*%<>~]|\b(?:return|typeof|case|in|of|void|delete|await))\s*$/;

/** The source with everything but code replaced by spaces of the same length; line ends stay. */
export function codeOnly(/** @type {string} */ source) {
  const out = source.split("");
  const blank = (/** @type {number} */ from, /** @type {number} */ to) => {
    for (let at = from; at < to; at += 1) if (out[at] !== "\n") out[at] = " ";
  };
  /** Depths of braces at which a template goes on. @type {number[]} */
  const templates = [];
  let depth = 0;
  let at = 0;
  const template = () => {
    const from = at;
    for (; at < source.length; at += 1) {
      if (source[at] === "\\") at += 1;
      else if (source[at] === "`") {
        blank(from, at);
        at += 1;
        return;
      } else if (source.startsWith("${", at)) {
        blank(from, at + 2);
        at += 2;
        templates.push(depth);
        return;
      }
    }
  };
  while (at < source.length) {
    const char = source[at];
    if (source.startsWith("//", at) || source.startsWith("/*", at)) {
      const line = source.startsWith("//", at);
      const close = source.indexOf(line ? "\n" : "*/", at + 2);
      const end = close < 0 ? source.length : close + (line ? 0 : 2);
      blank(at, end);
      at = end;
    } else if (char === '"' || char === "'") {
      const from = at;
      for (at += 1; at < source.length && source[at] !== char; at += 1) if (source[at] === "\\") at += 1;
      at += 1;
      blank(from + 1, at - 1);
    } else if (char === "`") {
      at += 1;
      template();
    } else if (char === "}" && templates.at(-1) === depth) {
      templates.pop();
      out[at] = " ";
      at += 1;
      template();
    } else if (char === "/" && BEFORE_PATTERN.test(out.slice(Math.max(0, at - 40), at).join(""))) {
      const from = at;
      let inClass = false;
      for (at += 1; at < source.length && source[at] !== "\n"; at += 1) {
        if (source[at] === "\\") at += 1;
        else if (source[at] === "[") inClass = true;
        else if (source[at] === "]") inClass = false;
        else if (source[at] === "/" && !inClass) break;
      }
      at += 1;
      blank(from, at);
    } else {
      if (char === "{") depth += 1;
      if (char === "}") depth -= 1;
      at += 1;
    }
  }
  return out.join("");
}

/** Where types are declared and imports stand: nothing of it runs. */
function withoutTypes(/** @type {string} */ code) {
  const out = code.split("");
  const blank = (/** @type {number} */ from, /** @type {number} */ to) => {
    for (let at = from; at < to; at += 1) if (out[at] !== "\n") out[at] = " ";
  };
  for (const found of code.matchAll(/^(?:export )?(?:declare )?interface [^{]*\{/gm))
    blank(found.index, closing(code, found.index + found[0].length - 1));
  for (const found of code.matchAll(/^(?:export )?type \w[^;]*;/gm)) blank(found.index, found.index + found[0].length);
  for (const found of code.matchAll(/^(?:import|export) (?:type )?[{*][^;]*;/gm))
    blank(found.index, found.index + found[0].length);
  for (const found of code.matchAll(/^import [^;]*;/gm)) blank(found.index, found.index + found[0].length);
  return out.join("");
}

/** Behind the bracket that closes the one at `open`. */
function closing(/** @type {string} */ code, /** @type {number} */ open) {
  const pairs = { "(": ")", "{": "}", "[": "]" };
  const left = /** @type {"("} */ (code[open]);
  let depth = 0;
  for (let at = open; at < code.length; at += 1) {
    if (code[at] === left) depth += 1;
    else if (code[at] === pairs[left]) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return code.length;
}

/** Operators as the formatter writes them: with a space on each side, which types and arrows have not. */
const SWAPS = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "+": "-",
  "-": "+",
  "*": "/",
  "+=": "-=",
  "-=": "+=",
};

/** All single changes to a source. @param {string} source @returns {Mutation[]} */
export function mutationsOf(source) {
  const code = withoutTypes(codeOnly(source));
  /** @type {Mutation[]} */
  const found = [];
  const add = (
    /** @type {number} */ start,
    /** @type {number} */ end,
    /** @type {string} */ to,
    /** @type {string} */ kind,
  ) => {
    const line = source.slice(0, start).split("\n").length;
    found.push({ start, end, to, kind, line, from: source.slice(start, end) });
  };
  for (const { 0: text, 1: operator = "", index } of code.matchAll(
    /(?<=[\w)\]"'` ]) (===|!==|<=|>=|&&|\|\||\?\?|\+=|-=|<|>|\+|-|\*) (?=\S)/g,
  )) {
    const to = SWAPS[/** @type {keyof typeof SWAPS} */ (operator)];
    add(index + 1, index + text.length - 1, to, "operator");
  }
  for (const { 0: text, index } of code.matchAll(/\bif \(/g)) {
    const open = index + text.length - 1;
    const close = closing(code, open);
    add(open, close, `(!${source.slice(open, close)})`, "condition");
  }
  for (const { 0: word, index } of code.matchAll(/\b(?:true|false)\b/g)) {
    // An annotation: a value stands behind a colon only in an object or a choice.
    if (
      /(?:\)|\bis|=>|[|<])\s*:?\s*$/.test(code.slice(0, index)) &&
      /^\s*(?:[{|>;=]|$)/.test(code.slice(index + word.length))
    )
      continue;
    add(index, index + word.length, word === "true" ? "false" : "true", "boolean");
  }
  for (const { 0: digits, index } of code.matchAll(/(?<![\w.#$])\d[\d_]*(?:\.\d+)?(?:e\d+)?(?![\w.])/g))
    add(index, index + digits.length, Number(digits.replaceAll("_", "")) === 0 ? "1" : "0", "number");
  statements(code, add);
  return found.sort((one, other) => one.start - other.start);
}

/** Statements of one line; a line that goes on from the one before is none. @param {string} code @param {(start: number, end: number, to: string, kind: string) => void} add */
function statements(code, add) {
  let start = 0;
  let before = ";";
  for (const line of code.split("\n")) {
    const text = line.trim();
    const from = start + line.indexOf(text);
    const to = from + text.length;
    if (text !== "" && /[;{}]$/.test(before) && text.endsWith(";") && balanced(text)) {
      const keyword = /^(?:super|return|if|for|while|switch|const|let|throw|break|case|export|readonly|static)\b/.test(
        text,
      );
      if (!keyword && /^[\w.#?\s]+\(/.test(text)) add(from, to, ";", "call removed");
      else if (/^(?:this\.)?[\w.#]+ [+-]?= /.test(text) && text.includes(".")) add(from, to, ";", "assignment removed");
    }
    const back = text.indexOf("return ");
    if (back >= 0 && text.endsWith(";") && balanced(text.slice(back)) && /(?:^|\W)$/.test(text.slice(0, back)))
      add(from + back, to, "return;", "return value removed");
    if (text !== "") before = text;
    start += line.length + 1;
  }
}

function balanced(/** @type {string} */ text) {
  let depth = 0;
  for (const char of text) {
    if ("([{".includes(char)) depth += 1;
    else if (")]}".includes(char)) depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** @param {string} source @param {Mutation} mutation */
export const mutated = (source, { start, end, to }) => source.slice(0, start) + to + source.slice(end);

/** Numbers between 0 and 1, the same ones for a seed (mulberry32). @param {number} seed */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** In an order that the seed decides. @template T @param {readonly T[]} list @param {number} seed @returns {T[]} */
export function shuffled(list, seed) {
  const next = random(seed);
  const order = [...list];
  for (let at = order.length - 1; at > 0; at -= 1) {
    const other = Math.floor(next() * (at + 1));
    [order[at], order[other]] = [/** @type {T} */ (order[other]), /** @type {T} */ (order[at])];
  }
  return order;
}
