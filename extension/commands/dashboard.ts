// `/watchdog` in the terminal: the targets of the tree as they change, and the details of one. Draws and takes keys;
// what is on the pages comes from the subcommands' files.

import type { ExtensionCommandContext, KeybindingsManager, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, type TUI, truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import type { TargetSummary, WatchdogStore } from "../../index.js";
import { now } from "../clock.ts";
import { ago, amount, hasEnded, money, plural, shortIds, stateOf, totalTokens } from "../format.ts";
import { layOut, paint, type Tone } from "../render/page.ts";
import type { Runtime, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { updateChip } from "../status.ts";
import { asTree, type TreeRow } from "../tools/tree.ts";
import { inspectPage } from "./inspect.ts";
import { titleOf, toneOf } from "./status.ts";

const REFRESH_MS = 1000;
/** Rows of the screen that stay for the transcript, the footer and the dashboard's own frame. */
const OTHER_ROWS = 10;
const MIN_ROWS = 5;
const ENDED_SHOWN = 20;

export async function openDashboard(
  runtime: Runtime,
  session: WatchedSession,
  ctx: ExtensionCommandContext,
): Promise<void> {
  await ctx.ui.custom<undefined>(
    (tui, theme, keybindings, done) =>
      new Dashboard({ runtime, session, tui, theme, keybindings, close: () => done(undefined) }),
  );
}

interface Parts {
  runtime: Runtime;
  session: WatchedSession;
  tui: TUI;
  theme: Theme;
  keybindings: KeybindingsManager;
  close(): void;
}

class Dashboard implements Component {
  /** Page keys scroll the dashboard, not the transcript. */
  readonly capturesViewportInput = true;
  readonly #parts: Parts;
  readonly #store: WatchdogStore;
  readonly #timer: NodeJS.Timeout;
  #selected: string | undefined;
  /** Target whose details are shown; undefined: the list. */
  #inspected: string | undefined;
  #scroll = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#store = parts.runtime.native.store;
    // A throw in a timer ends Pi, so nothing but the request is done here.
    this.#timer = setInterval(() => {
      try {
        parts.tui.requestRender();
      } catch {
        clearInterval(this.#timer);
      }
    }, REFRESH_MS);
    this.#timer.unref();
  }

  dispose(): void {
    clearInterval(this.#timer);
  }

  invalidate(): void {}

  render(width: number): readonly string[] {
    const body = this.#inspected === undefined ? this.#list(width) : this.#details(width, this.#inspected);
    const border = paint(this.#parts.theme, "─".repeat(Math.max(1, width)), "dim");
    return [border, this.#title(width), ...body, this.#hints(width), border];
  }

  handleInput(data: string): void {
    const { keybindings, tui, close } = this.#parts;
    const pressed = (key: Parameters<KeybindingsManager["matches"]>[1]): boolean => keybindings.matches(data, key);
    if (pressed("tui.select.cancel")) {
      if (this.#inspected === undefined) {
        close();
        return;
      }
      this.#inspected = undefined;
    } else if (pressed("tui.select.up")) this.#move(-1);
    else if (pressed("tui.select.down")) this.#move(1);
    else if (pressed("tui.select.pageUp")) this.#move(-this.#room());
    else if (pressed("tui.select.pageDown")) this.#move(this.#room());
    else if (pressed("tui.select.confirm") && this.#inspected === undefined) {
      this.#inspected = this.#selected;
      this.#scroll = 0;
    } else if (data === "p") this.#togglePause();
    else return;
    tui.requestRender();
  }

  #togglePause(): void {
    const { runtime, session } = this.#parts;
    this.#store.pause(session.rootId, !this.#store.paused(session.rootId));
    updateChip(runtime);
  }

  #rows(): TreeRow[] {
    const targets = this.#store.targets(this.#parts.session.rootId, true);
    const ended = targets.filter(hasEnded).slice(ENDED_SHOWN);
    return asTree(targets.filter((target) => !ended.includes(target)));
  }

  #move(by: number): void {
    if (this.#inspected !== undefined) {
      this.#scroll = Math.max(0, this.#scroll + by);
      return;
    }
    const rows = this.#rows();
    const at = rows.findIndex(({ target }) => target.id === this.#selected);
    this.#selected = rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.target.id;
  }

  #room(): number {
    return Math.max(MIN_ROWS, this.#parts.tui.terminal.rows - OTHER_ROWS);
  }

  #title(width: number): string {
    const { theme, session } = this.#parts;
    const live = this.#store.targets(session.rootId, false).filter((target) => !hasEnded(target));
    const stuck = live.filter((target) => target.likelyStuck).length;
    const paused = this.#store.paused(session.rootId);
    const words = [
      paint(theme, "Watchdog", "title"),
      paint(theme, `${live.length} live`, "text"),
      ...(stuck > 0 ? [paint(theme, `${stuck} stuck`, "warning")] : []),
      ...(paused ? [paint(theme, "alerts paused", "warning")] : []),
      ...(session.backends.length === 0 ? [paint(theme, "no sub-agent package was found", "dim")] : []),
      ...session.backends.map(({ name }) => paint(theme, oneLine(name, 60), "dim")),
    ];
    return truncateToWidth(words.join(paint(theme, " · ", "dim")), width, "…");
  }

  #hints(width: number): string {
    const { theme, keybindings, session } = this.#parts;
    const key = (id: Parameters<KeybindingsManager["getKeys"]>[0]): string => keybindings.getKeys(id)[0] ?? "";
    const toggle = this.#store.paused(session.rootId) ? "p resume alerts" : "p pause alerts";
    const hints =
      this.#inspected === undefined
        ? [`${key("tui.select.confirm")} inspect`, toggle, `${key("tui.select.cancel")} close`]
        : ["up/down scroll", toggle, `${key("tui.select.cancel")} back`];
    return truncateToWidth(paint(theme, hints.join(" · "), "dim"), width, "…");
  }

  #list(width: number): string[] {
    const { theme } = this.#parts;
    const rows = this.#rows();
    if (rows.length === 0) return [paint(theme, "No targets yet", "muted")];
    if (!rows.some(({ target }) => target.id === this.#selected)) this.#selected = rows[0]?.target.id;
    const selected = rows.findIndex(({ target }) => target.id === this.#selected);
    const room = this.#room();
    const first = Math.max(0, Math.min(selected - Math.floor(room / 2), rows.length - room));
    const table = columnsFor(rows, width, now());
    const lines = rows.slice(first, first + room).map((row, i) => this.#row(row, first + i === selected, table, width));
    if (rows.length > room) lines.push(paint(theme, truncateToWidth(`  ${selected + 1}/${rows.length}`, width), "dim"));
    return lines;
  }

  #row({ target, depth }: TreeRow, selected: boolean, table: Table, width: number): string {
    const { theme } = this.#parts;
    const cursor = selected ? paint(theme, "> ", "accent") : "  ";
    const title = "  ".repeat(depth) + titleOf(target);
    const cells = table.columns.map((column) => {
      const text = column.text(target);
      return column.right ? text.padStart(column.width) : text.padEnd(column.width);
    });
    const tone: Tone = toneOf(target);
    const name = truncateToWidth(title, table.nameWidth, "…", true);
    const line = `${cursor}${paint(theme, [name, ...cells].join("  "), tone)}`;
    return truncateToWidth(selected ? theme.bold(line) : line, width);
  }

  #details(width: number, id: string): string[] {
    const { theme, session } = this.#parts;
    const all = layOut(inspectPage(this.#store, session, id, now()), theme, width);
    const room = this.#room();
    this.#scroll = Math.min(this.#scroll, Math.max(0, all.length - room));
    const shown = all.slice(this.#scroll, this.#scroll + room);
    const below = all.length - this.#scroll - shown.length;
    if (below > 0) shown.push(paint(theme, truncateToWidth(`… ${below} more`, width), "dim"));
    return shown;
  }
}

interface Column {
  width: number;
  right?: boolean;
  text(target: TargetSummary): string;
}

interface Table {
  nameWidth: number;
  columns: Column[];
}

const MIN_NAME = 28;
const MAX_NAME = 48;
const GAP = 2;

/** The columns that fit, the more important ones first to stay; the name takes what is left. */
function columnsFor(rows: readonly TreeRow[], width: number, at: number): Table {
  const ids = shortIds(rows.map(({ target }) => target));
  const wanted: (Omit<Column, "width"> & { rank: number })[] = [
    { rank: 0, text: (target) => stateOf(target) },
    { rank: 2, right: true, text: (target) => plural(target.toolCallCount, "call") },
    { rank: 4, right: true, text: (target) => (target.patchCount > 0 ? plural(target.patchCount, "edit") : "") },
    {
      rank: 1,
      right: true,
      text: (target) => (target.repeatedCommandCount > 0 ? plural(target.repeatedCommandCount, "repeat") : ""),
    },
    { rank: 6, right: true, text: (target) => `${amount(totalTokens(target.usage))} tokens` },
    { rank: 5, right: true, text: (target) => (target.usage.usd > 0 ? money(target.usage.usd) : "") },
    {
      rank: 3,
      right: true,
      text: (target) => ago(hasEnded(target) ? (target.endedAt ?? target.lastActiveAt) : target.lastActiveAt, at),
    },
    { rank: 7, text: (target) => oneLine(ids.get(target.id) ?? target.id, 24) },
  ];
  const columns = wanted
    .map((column) => ({ ...column, width: Math.max(...rows.map(({ target }) => visibleWidth(column.text(target)))) }))
    .filter((column) => column.width > 0);
  const longest = Math.max(...rows.map(({ target, depth }) => 2 * depth + visibleWidth(titleOf(target))));
  const cursor = 2;
  const left = (): number => width - cursor - columns.reduce((sum, column) => sum + GAP + column.width, 0);
  while (columns.length > 0 && left() < Math.min(longest, MIN_NAME)) {
    const least = columns.reduce((a, b) => (b.rank > a.rank ? b : a));
    columns.splice(columns.indexOf(least), 1);
  }
  return { nameWidth: Math.max(1, Math.min(longest, MAX_NAME, left())), columns };
}
