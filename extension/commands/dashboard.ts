// `/watchdog` in the terminal: the targets of the tree as they change, and the details of one. Draws and takes keys;
// what is on the pages comes from the subcommands' files.

import type { ExtensionCommandContext, KeybindingsManager, Theme } from "@earendil-works/pi-coding-agent";
import {
  type Component,
  matchesKey,
  type OverlayHandle,
  type TUI,
  truncateToWidth,
  visibleWidth,
} from "@earendil-works/pi-tui";
import type { TargetSummary, WatchdogStore } from "../../index.js";
import { holding, type ToldIntervention } from "../alerts/interventions.ts";
import { briefStateOf } from "../alerts/words.ts";
import { now } from "../clock.ts";
import { ago, amount, hasEnded, money, plural, shortIds, stateOf, totalTokens } from "../format.ts";
import { branch, squeeze } from "../render/branch.ts";
import { FOOTER_ROWS, fitHints, frame, type Row, textRows, Viewport } from "../render/frame.ts";
import { layOut, paint, type Tone } from "../render/page.ts";
import type { Runtime, WatchedSession } from "../runtime.ts";
import { oneLine } from "../sanitize.ts";
import { updateChip } from "../status.ts";
import { limitsOf, titleOf, toneOf } from "../target-words.ts";
import { asTree, type TreeRow } from "../tools/tree.ts";
import { inspectPage } from "./inspect.ts";

const REFRESH_MS = 1000;
const ENDED_SHOWN = 20;
/** Events in the details: enough to scroll back in, and little enough to lay out again as they come. */
const EVENTS_SHOWN = 200;

/** `inspected`: a target whose details are opened at once; closing them then closes the view. */
export async function openDashboard(
  runtime: Runtime,
  session: WatchedSession,
  ctx: ExtensionCommandContext,
  inspected?: string,
): Promise<void> {
  let handle: OverlayHandle | undefined;
  await ctx.ui.custom<undefined>(
    (tui, theme, keybindings, done) =>
      new Dashboard(
        {
          runtime,
          session,
          tui,
          theme,
          keybindings,
          close: () => done(undefined),
          covered: () => handle?.isFocused() === false,
        },
        inspected,
      ),
    {
      // Over the screen: in the place of the editor, the widgets of other packages would push it off the screen.
      overlay: true,
      overlayOptions: { anchor: "bottom-center", width: "100%", margin: { bottom: FOOTER_ROWS } },
      onHandle: (shown) => {
        handle = shown;
      },
    },
  );
}

interface Parts {
  runtime: Runtime;
  session: WatchedSession;
  tui: TUI;
  theme: Theme;
  keybindings: KeybindingsManager;
  close(): void;
  /** A question of Pi or of another extension has the keyboard. */
  covered(): boolean;
}

class Dashboard implements Component {
  /** Page keys scroll the dashboard, not the transcript. */
  readonly capturesViewportInput = true;
  /** The view was opened for one target; there is no list to go back to. */
  readonly #single: boolean;
  readonly #parts: Parts;
  readonly #store: WatchdogStore;
  readonly #timer: NodeJS.Timeout;
  #selected: string | undefined;
  /** Target whose details are shown; undefined: the list. */
  #inspected: string | undefined;
  #viewport = new Viewport();

  constructor(parts: Parts, inspected?: string) {
    this.#parts = parts;
    this.#inspected = inspected;
    this.#single = inspected !== undefined;
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
    const { theme, tui, covered } = this.#parts;
    // The question must be seen by the person whose keys answer it.
    if (covered()) return [];
    const details = this.#inspected !== undefined;
    const body = this.#inspected === undefined ? this.#list(width) : this.#details(width, this.#inspected);
    const position = details ? this.#viewport.position : this.#place();
    return frame(
      {
        title: this.#title(width),
        body,
        hints: paint(theme, this.#hints(width), "dim"),
        ...(position === undefined ? {} : { position }),
        border: (text) => paint(theme, text, "dim"),
      },
      width,
      tui.terminal.rows,
    );
  }

  handleInput(data: string): void {
    const { keybindings, tui, close } = this.#parts;
    const pressed = (key: Parameters<KeybindingsManager["matches"]>[1]): boolean => keybindings.matches(data, key);
    if (pressed("tui.select.cancel")) {
      if (this.#inspected === undefined || this.#single) {
        close();
        return;
      }
      this.#inspected = undefined;
    } else if (pressed("tui.select.up")) this.#move(-1);
    else if (pressed("tui.select.down")) this.#move(1);
    else if (pressed("tui.select.pageUp")) this.#page(-1);
    else if (pressed("tui.select.pageDown")) this.#page(1);
    else if (matchesKey(data, "home")) this.#jump(-1);
    else if (matchesKey(data, "end")) this.#jump(1);
    else if (pressed("tui.select.confirm") && this.#inspected === undefined) {
      this.#inspected = this.#selected;
      this.#viewport = new Viewport();
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
    const old = new Set(targets.filter(hasEnded).slice(ENDED_SHOWN));
    return asTree(targets, (target) => !old.has(target));
  }

  #move(by: number): void {
    if (this.#inspected !== undefined) this.#viewport.move(by);
    else this.#select(by);
  }

  #page(by: 1 | -1): void {
    if (this.#inspected !== undefined) this.#viewport.page(by);
    else this.#select(by * this.#room());
  }

  #jump(to: 1 | -1): void {
    if (this.#inspected === undefined) this.#select(to * Number.MAX_SAFE_INTEGER);
    else if (to < 0) this.#viewport.home();
    else this.#viewport.end();
  }

  #select(by: number): void {
    const rows = this.#rows();
    const at = rows.findIndex(({ target }) => target.id === this.#selected);
    this.#selected = rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.target.id;
  }

  #room(): number {
    return textRows(this.#parts.tui.terminal.rows);
  }

  /** Which row of the list is selected, where not all are on the screen. */
  #place(): string | undefined {
    const rows = this.#rows();
    if (rows.length <= this.#room()) return undefined;
    return `${rows.findIndex(({ target }) => target.id === this.#selected) + 1} of ${rows.length}`;
  }

  #title(width: number): string {
    const { theme, session } = this.#parts;
    const all = this.#store.targets(session.rootId, true);
    const live = all.filter((target) => !hasEnded(target));
    const used = this.#store.treeUsage(session.rootId);
    const stuck = live.filter((target) => target.likelyStuck).length;
    const paused = this.#store.paused(session.rootId);
    const inspected = all.find((target) => target.id === this.#inspected);
    const words = [
      paint(theme, "Watchdog", "title"),
      // The name at the top of the details may be scrolled out of sight.
      paint(theme, inspected === undefined ? `${live.length} live` : titleOf(inspected), "text"),
      ...(stuck > 0 ? [paint(theme, `${stuck} stuck`, "warning")] : []),
      ...(used.usd > 0 ? [paint(theme, money(used.usd), "text")] : []),
      ...(paused ? [paint(theme, "alerts paused", "warning")] : []),
      ...(session.backends.length === 0 ? [paint(theme, "no sub-agent package was found", "dim")] : []),
      ...session.backends.map(({ name }) => paint(theme, oneLine(name, 60), "dim")),
    ];
    return truncateToWidth(words.join(paint(theme, " · ", "dim")), width, "…");
  }

  #hints(width: number): string {
    const { keybindings, session } = this.#parts;
    const key = (id: Parameters<KeybindingsManager["getKeys"]>[0]): string => keybindings.getKeys(id)[0] ?? "";
    const toggle = this.#store.paused(session.rootId) ? "p resume alerts" : "p pause alerts";
    const leave = key("tui.select.cancel");
    const hints =
      this.#inspected === undefined
        ? [`${leave} close`, `${key("tui.select.confirm")} inspect`, toggle]
        : [`${leave} ${this.#single ? "close" : "back"}`, "up/down scroll", toggle, "home/end"];
    return fitHints(hints, width);
  }

  #list(width: number): string[] {
    const { theme } = this.#parts;
    const rows = this.#rows();
    if (rows.length === 0) return [paint(theme, "No targets yet", "muted")];
    if (!rows.some(({ target }) => target.id === this.#selected)) this.#selected = rows[0]?.target.id;
    const selected = rows.findIndex(({ target }) => target.id === this.#selected);
    const room = this.#room();
    const first = Math.max(0, Math.min(selected - Math.floor(room / 2), rows.length - room));
    const at = now();
    const told = (target: TargetSummary) => holding(this.#parts.runtime.main(), target);
    const table = columnsFor(rows, told, width, at);
    return rows
      .slice(first, first + room)
      .map((row, i) => this.#row(row, told(row.target), first + i === selected, table, width));
  }

  #row(row: TreeRow, told: readonly ToldIntervention[], selected: boolean, table: Table, width: number): string {
    const { theme } = this.#parts;
    const cursor = selected ? paint(theme, "> ", "accent") : "  ";
    const cells = table.columns.map((column) => {
      const text = column.text(row);
      return column.right ? text.padStart(column.width) : text + " ".repeat(column.width - visibleWidth(text));
    });
    const tone: Tone = toneOf(row.target, told);
    const { level, lead } = branch(row.follows, false);
    const glyphs = table.nameWidth < NARROW_NAME ? squeeze(lead) : lead;
    const title = (level === undefined ? "" : `${level}: `) + titleOf(row.target);
    const name = truncateToWidth(title, Math.max(1, table.nameWidth - glyphs.length), "…", true);
    const line = `${cursor}${paint(theme, glyphs, "dim")}${paint(theme, [name, ...cells].join("  "), tone)}`;
    return truncateToWidth(selected ? theme.bold(line) : line, width);
  }

  #details(width: number, id: string): string[] {
    const { runtime, theme, session } = this.#parts;
    const page = inspectPage(runtime, session, id, now(), EVENTS_SHOWN);
    const rows = page.flatMap((line, i) =>
      layOut([line], theme, width).map((text): Row => ({ key: line.key ?? `${i}`, text })),
    );
    return this.#viewport.show(rows, this.#room()).map(({ text }) => text);
  }
}

interface Column {
  width: number;
  right?: boolean;
  text(row: TreeRow): string;
}

interface Table {
  nameWidth: number;
  columns: Column[];
}

const MIN_NAME = 24;
const MAX_NAME = 52;
/** Below it, the glyphs of the tree must leave room for the name. */
const NARROW_NAME = 36;
const GAP = 2;

/** The columns that fit, the more important ones first to stay; the name takes what is left. */
function columnsFor(
  rows: readonly TreeRow[],
  told: (target: TargetSummary) => readonly ToldIntervention[],
  width: number,
  at: number,
): Table {
  const ids = shortIds(rows.map(({ target }) => target));
  const state = (target: TargetSummary): string => {
    const latest = told(target).at(-1);
    return latest === undefined || target.likelyStuck ? stateOf(target) : briefStateOf(latest);
  };
  const wanted: (Omit<Column, "width"> & { rank: number })[] = [
    { rank: 0, text: ({ target }) => state(target) },
    { rank: 2, right: true, text: ({ target }) => plural(target.toolCallCount, "call") },
    {
      rank: 4,
      right: true,
      text: ({ target }) => (target.patchCount > 0 ? plural(target.patchCount, "edit") : ""),
    },
    {
      rank: 1,
      right: true,
      text: ({ target }) => (target.repeatedCommandCount > 0 ? plural(target.repeatedCommandCount, "repeat") : ""),
    },
    { rank: 6, right: true, text: ({ target }) => `${amount(totalTokens(target.usage))} tokens` },
    { rank: 5, right: true, text: ({ target }) => (target.usage.usd > 0 ? money(target.usage.usd) : "") },
    { rank: 7, right: true, text: ({ below, total }) => (below > 0 && total.usd > 0 ? `all ${money(total.usd)}` : "") },
    {
      rank: 3,
      right: true,
      text: ({ target }) => ago(hasEnded(target) ? (target.endedAt ?? target.lastActiveAt) : target.lastActiveAt, at),
    },
    { rank: 8, text: ({ target }) => oneLine(ids.get(target.id) ?? target.id, 24) },
    { rank: 9, text: ({ target }) => limitsOf(target, at).join(", ") },
  ];
  const columns = wanted
    .map((column) => ({ ...column, width: Math.max(...rows.map((row) => visibleWidth(column.text(row)))) }))
    .filter((column) => column.width > 0);
  const nameOf = ({ target, follows }: TreeRow): number => {
    const { lead, level } = branch(follows, false);
    return visibleWidth(lead + (level === undefined ? "" : `${level}: `) + titleOf(target));
  };
  const longest = Math.max(...rows.map(nameOf));
  const cursor = 2;
  const left = (): number => width - cursor - columns.reduce((sum, column) => sum + GAP + column.width, 0);
  while (columns.length > 0 && left() < Math.min(longest, MIN_NAME)) {
    const least = columns.reduce((a, b) => (b.rank > a.rank ? b : a));
    columns.splice(columns.indexOf(least), 1);
  }
  return { nameWidth: Math.max(1, Math.min(longest, MAX_NAME, left())), columns };
}
