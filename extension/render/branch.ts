// How a row of a tree is led in: glyphs in a terminal, plain indentation elsewhere. Pure; knows nothing of targets.

/** Levels drawn; deeper rows say their level instead, so that no tree runs out of the screen. */
const LEVELS = 8;

export interface Branch {
  /** Columns of indentation where there are no glyphs. */
  indent: number;
  /** Glyphs before the first row of the text, and before the rows that it wraps into. */
  lead: string;
  hang: string;
  /** The level, where it is too deep to be drawn and must be said. */
  level: number | undefined;
}

/** The same glyphs in about half the columns, for narrow screens; all rows of a tree must be squeezed, or none. */
export function squeeze(glyphs: string): string {
  return glyphs.slice(0, -2).replace(/(.)./g, "$1") + glyphs.slice(-2);
}

/** `follows`: by level, from the outermost in, whether a sibling follows there (`tools/tree.ts`). */
export function branch(follows: readonly boolean[], hasChildren: boolean): Branch {
  const depth = follows.length;
  const drawn = Math.min(depth, LEVELS);
  // The outermost levels are what the eye follows; the row's own bend is always drawn.
  const above = follows.slice(0, Math.max(0, drawn - 1)).map((more) => (more ? "│ " : "  "));
  const own = follows[depth - 1];
  const bend = own === undefined ? "" : own ? "├ " : "└ ";
  const after = own ? "│ " : own === undefined ? "" : "  ";
  return {
    indent: 2 * drawn,
    lead: above.join("") + bend,
    hang: above.join("") + after + (hasChildren && depth < LEVELS ? "│ " : "  "),
    level: depth > LEVELS ? depth : undefined,
  };
}
