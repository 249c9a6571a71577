// Targets in the order of their tree: children under their parents. Pure; used by the tools and the commands.

import type { TargetSummary } from "../../index.js";

export interface TreeRow {
  target: TargetSummary;
  depth: number;
}

/** Depth first, siblings in the order given. A target whose parent is not in the list stands at the top. */
export function asTree(targets: readonly TargetSummary[]): TreeRow[] {
  const known = new Set(targets.map((target) => target.id));
  const children = new Map<string, TargetSummary[]>();
  const tops: TargetSummary[] = [];
  for (const target of targets) {
    // Children without a known parent still belong under their main session.
    const parent = [target.parentId, target.rootId].find((id) => id !== undefined && id !== target.id && known.has(id));
    if (parent === undefined) tops.push(target);
    else children.set(parent, [...(children.get(parent) ?? []), target]);
  }
  const rows: TreeRow[] = [];
  const seen = new Set<string>();
  const walk = (target: TargetSummary, depth: number): void => {
    // Parent links come from packages: a circle among them must not hang the screen.
    if (seen.has(target.id)) return;
    seen.add(target.id);
    rows.push({ target, depth });
    for (const child of children.get(target.id) ?? []) walk(child, depth + 1);
  };
  for (const top of tops) walk(top, 0);
  for (const target of targets) walk(target, 0);
  return rows;
}
