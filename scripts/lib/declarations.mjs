// Reads index.d.ts: names of exported values, members of a class or interface with their parameters, @example texts.
// Relies on the file's own plain style (one declaration at a time, no overloads) and says so when it is broken.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./native.mjs";

/** @typedef {{ name: string, parameters: string[] }} Member */

export const declarationsFile = join(root, "index.d.ts");
const source = readFileSync(declarationsFile, "utf8");
const withoutComments = source.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\/\/.*$/gm, "");

/** Exports that exist at run time. */
export function declaredValues() {
  const pattern = /^export (?:declare )?(?:async )?(?:const|let|function|class) (\w+)/gm;
  return [...withoutComments.matchAll(pattern)].map((match) => match[1]).sort();
}

/** @returns {Member[]} exported functions */
export function declaredFunctions() {
  return members(withoutComments.replace(/^export (?:declare )?function /gm, "\u0001"), /\u0001(\w+)\(/g);
}

/** Methods and properties of a class or interface. @param {string} name */
export function declaredMembers(name) {
  const body = bodyOf(name);
  const flat = atDepthZero(body);
  const methods = members(body, /^ {2}(\w+)\(/gm).filter(({ name }) => name !== "constructor");
  const properties = [...flat.matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map((match) => match[1]);
  return { methods, properties };
}

/** @param {string} name */
function bodyOf(name) {
  const head = new RegExp(`^export (?:declare )?(?:class|interface) ${name}\\b[^{]*\\{`, "m").exec(withoutComments);
  if (head === null) throw new Error(`index.d.ts does not declare ${name}`);
  const start = head.index + head[0].length;
  return withoutComments.slice(start, closing(withoutComments, start));
}

/** Index of the bracket that closes what was opened before `start`. @param {string} text @param {number} start */
function closing(text, start) {
  let depth = 1;
  for (let index = start; index < text.length; index += 1) {
    if ("({[".includes(text[index])) depth += 1;
    else if (")}]".includes(text[index])) depth -= 1;
    if (depth === 0) return index;
  }
  throw new Error("index.d.ts: a bracket is not closed");
}

/** Parameter lists and nested types emptied. @param {string} text */
function atDepthZero(text) {
  let depth = 0;
  return [...text]
    .filter((character) => {
      const keep = depth === 0 || character === "\n";
      if ("({[".includes(character)) depth += 1;
      if (")}]".includes(character)) depth -= 1;
      return keep;
    })
    .join("");
}

/**
 * @param {string} text
 * @param {RegExp} pattern ends with the parenthesis that opens the parameters
 * @returns {Member[]}
 */
function members(text, pattern) {
  return [...text.matchAll(pattern)].map((match) => {
    const start = match.index + match[0].length;
    return { name: match[1], parameters: parameterNames(text.slice(start, closing(text, start))) };
  });
}

/** @param {string} list @returns {string[]} */
export function parameterNames(list) {
  const flat = list.replace(/[({[<][^(){}[\]<>]*[)}\]>]/g, "");
  return flat
    .split(",")
    .map((parameter) => parameter.trim().split(/[?:\s]/)[0])
    .filter(Boolean);
}

/** @returns {{ name: string, text: string }[]} */
export function examples() {
  return [...source.matchAll(/\/\*\*[\s\S]*?\*\//g)].flatMap((comment) => {
    const text = comment[0].replace(/\s*\*\/$/, "").replace(/^\s*\* ?/gm, "");
    const line = source.slice(0, comment.index).split("\n").length;
    return text
      .split(/@example\s/)
      .slice(1)
      .map((example) => ({ name: `index.d.ts, comment at line ${line}`, text: example.split(/\n@/)[0] }));
  });
}
