// The working tree of git that a folder belongs to, found without git: what a command such as `git stash` would reach.

import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Folders looked at upwards, at most. */
const MAX_DEPTH = 40;

/** The nearest folder that has a `.git` (a file in linked worktrees), or undefined. */
export async function worktreeOf(cwd: string): Promise<string | undefined> {
  let folder = cwd;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    try {
      await stat(join(folder, ".git"));
      return folder;
    } catch {
      const parent = dirname(folder);
      if (parent === folder) return undefined;
      folder = parent;
    }
  }
  return undefined;
}
