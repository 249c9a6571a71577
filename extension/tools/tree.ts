// Targets in the order of their tree: children under their parents, with what each branch used. Pure; used by the tools
// and the commands.

import type { TargetSummary, TargetUsage } from "../../index.js";

export interface TreeRow {
  target: TargetSummary;
  depth: number;
  /** By level, from the outermost to the row's own: whether a sibling follows there. */
  follows: readonly boolean[];
  /** Of the target and everything below it, shown or not. */
  total: TargetUsage;
  /** Targets below it, shown or not. */
  below: number;
}

interface Node {
  target: TargetSummary;
  children: Node[];
  total: TargetUsage;
  below: number;
}

/**
 * Depth first, siblings in the order given. `all` is the whole tree, because totals include what is not shown; children
 * of a target that is not shown stand under the nearest one that is. Parents that are not in the list, and circles of
 * parents, which come from packages, cost no target its row.
 */
export function asTree(
  all: readonly TargetSummary[],
  shown: (target: TargetSummary) => boolean = () => true,
): TreeRow[] {
  return flatten(visible(grow(all), shown));
}

function add(a: TargetUsage, b: TargetUsage): TargetUsage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    usd: a.usd + b.usd,
  };
}

/** The tops of the tree, each with its children and totals. */
function grow(targets: readonly TargetSummary[]): Node[] {
  const nodes = new Map<string, Node>();
  for (const target of targets) nodes.set(target.id, { target, children: [], total: target.usage, below: 0 });
  const parents = new Map<Node, Node>();
  const tops: Node[] = [];
  for (const node of nodes.values()) {
    const parent = parentOf(node.target, nodes);
    if (parent === undefined || closesCircle(node, parent, parents)) tops.push(node);
    else {
      parent.children.push(node);
      parents.set(node, parent);
    }
  }
  for (const top of tops) sum(top);
  return tops;
}

/** A child without a known parent still belongs under its main session. */
function parentOf({ id, parentId, rootId }: TargetSummary, nodes: ReadonlyMap<string, Node>): Node | undefined {
  for (const name of [parentId, rootId]) {
    const parent = name === undefined || name === id ? undefined : nodes.get(name);
    if (parent !== undefined) return parent;
  }
  return undefined;
}

function closesCircle(node: Node, parent: Node, parents: ReadonlyMap<Node, Node>): boolean {
  for (let above: Node | undefined = parent; above !== undefined; above = parents.get(above)) {
    if (above === node) return true;
  }
  return false;
}

/** Without recursion, as all walks here: how deep agents nest is not ours to bound. */
function sum(top: Node): void {
  const order = [top];
  for (let i = 0; i < order.length; i++) order.push(...(order[i]?.children ?? []));
  for (const node of order.reverse()) {
    for (const child of node.children) {
      node.total = add(node.total, child.total);
      node.below += 1 + child.below;
    }
  }
}

/** The tree of what is shown: what is not gives its place to its children. */
function visible(tops: readonly Node[], shown: (target: TargetSummary) => boolean): Node[] {
  const found: Node[] = [];
  const open = [...tops].reverse().map((node) => ({ node, into: found }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, into } = next;
    const copy: Node = { ...node, children: [] };
    const isShown = shown(node.target);
    if (isShown) into.push(copy);
    for (const child of [...node.children].reverse()) open.push({ node: child, into: isShown ? copy.children : into });
  }
  return found;
}

function flatten(tops: readonly Node[]): TreeRow[] {
  const rows: TreeRow[] = [];
  const open: { node: Node; follows: boolean[] }[] = [...tops].reverse().map((node) => ({ node, follows: [] }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { target, children, total, below } = next.node;
    const { follows } = next;
    rows.push({ target, depth: follows.length, follows, total, below });
    const last = children.length - 1;
    for (let i = last; i >= 0; i--) {
      const node = children[i];
      if (node !== undefined) open.push({ node, follows: [...follows, i < last] });
    }
  }
  return rows;
}
