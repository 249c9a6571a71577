// The sub-agent packages in `/watchdog status`: one line for each that is in use or cannot be, one for all that are
// absent, and that only where nothing is in use. Pure.

import type { Line, Page } from "../render/page.ts";
import { oneLine } from "../sanitize.ts";
import type { PackageReport, SubagentBackend } from "../subagents/backend.ts";

export function packageLines(backends: readonly SubagentBackend[], reports: readonly PackageReport[]): Page {
  const unreported = backends.filter(({ name }) => !reports.some((report) => report.package === name));
  const lines = [
    ...unreported.map((backend) => inUse(backend.name, undefined, backend)),
    ...reports.flatMap((report) => {
      const backend = backends.find(({ name }) => name === report.package);
      if (report.state === "in use") return [inUse(report.package, report.detail, backend)];
      return report.state === "unusable" ? [unusable(report)] : [];
    }),
  ];
  if (backends.length > 0 || reports.some(({ state }) => state === "in use")) return lines;
  const absent = reports.filter(({ state }) => state === "absent").map((report) => nameOf(report.package));
  const tried = absent.length > 0 ? ` (looked for ${absent.join(", ")})` : "";
  return [...lines, { text: `Sub-agents: no sub-agent package was found${tried}`, tone: "muted" }];
}

const nameOf = (name: string): string => oneLine(name, 80);

function inUse(name: string, detail: string | undefined, backend: SubagentBackend | undefined): Line {
  const can = Object.entries(backend?.capabilities ?? {}).flatMap(([what, able]) => (able ? [what] : []));
  const what = can.length > 0 ? can.join(", ") : "can only be watched";
  return { text: `Sub-agents: ${nameOf(name)} (${what})${detail === undefined ? "" : `; ${oneLine(detail, 300)}`}` };
}

function unusable({ package: name, detail }: PackageReport): Line {
  const why = detail === undefined ? "" : `: ${oneLine(detail, 300)}`;
  return { text: `Sub-agents: ${nameOf(name)} cannot be used${why}`, tone: "warning" };
}
