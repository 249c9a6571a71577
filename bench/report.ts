// The rows that benchmarks give and the table they are printed as.

export interface Row {
  /** What was measured. */
  what: string;
  /** The figures behind the result, for people. */
  detail: string;
  /** The result and its unit, e.g. `5.3×`. */
  result: string;
  /** The goal, e.g. `≥ 3×`; absent: a figure without one. */
  goal?: string;
  met?: boolean;
}

export function ratioRow(
  what: string,
  detail: string,
  ratio: number,
  bound: { atLeast?: number; atMost?: number },
): Row {
  const { atLeast, atMost } = bound;
  return {
    what,
    detail,
    result: `${ratio.toFixed(ratio < 10 ? 2 : 0)}×`,
    goal: atLeast !== undefined ? `≥ ${atLeast}×` : `≤ ${atMost}×`,
    met: atLeast !== undefined ? ratio >= atLeast : ratio <= (atMost ?? 0),
  };
}

export function formatNs(ns: number): string {
  if (ns < 1000) return `${ns.toFixed(0)} ns`;
  if (ns < 1e6) return `${(ns / 1000).toFixed(ns < 1e4 ? 2 : 1)} µs`;
  return `${(ns / 1e6).toFixed(2)} ms`;
}

/** A Markdown table, as in docs/performance.md. */
export function table(rows: readonly Row[]): string {
  const cells = [
    ["measured", "figures", "result", "goal", ""],
    ...rows.map(({ what, detail, result, goal, met }) => [
      what,
      detail,
      result,
      goal ?? "",
      met === undefined ? "" : met ? "met" : "MISSED",
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`);
  lines.splice(1, 0, `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`);
  return lines.join("\n");
}
