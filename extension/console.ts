// The debug console (`debug: true`): the latest that the provider was sent and the latest that it answered, each with
// its time, below the editor. Takes texts as they are and makes them safe.

import type { ExtensionContext, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, truncateToWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui";
import { now } from "./clock.ts";
import { clock, plural } from "./format.ts";
import { paint } from "./render/page.ts";
import type { Runtime } from "./runtime.ts";
import { plain } from "./sanitize.ts";

const KEY = "watchdog-debug";
/** Characters kept of a message: beyond any screen, and little enough to wrap at every frame. */
const MAX_CHARS = 20_000;
/** The console takes at most this part of the screen's rows; the rest of a long message is counted. */
const SCREEN_SHARE = 0.6;
const MIN_ROWS = 4;
const PLAIN_LINES = 40;
/** Rows that stay for the editor, the footer, and a little of the transcript. */
const OTHER_ROWS = 12;

export type Direction = "sent" | "received";

export interface DebugConsole {
  /** Keeps the text as the latest of its direction, and shows it if `debug` is on. */
  record(direction: Direction, text: string): void;
  /** Shows what there is if `debug` is on, hides the console if not. */
  show(): void;
  clear(): void;
}

interface Message {
  at: number;
  text: string;
}

type Latest = Partial<Record<Direction, Message>>;

export function debugConsole(runtime: Runtime): DebugConsole {
  const latest: Latest = {};
  let visible = false;

  function show(): void {
    const { session } = runtime;
    if (session === null || !session.ctx.hasUI) return;
    if (session.config.debug) {
      visible = true;
      put(session.ctx, latest);
    } else hide();
  }

  function hide(): void {
    if (!visible) return;
    visible = false;
    runtime.session?.ctx.ui.setWidget(KEY, undefined);
  }

  return {
    record(direction, text) {
      latest[direction] = { at: now(), text: plain(text.slice(0, MAX_CHARS)).trimEnd() };
      show();
    },
    show,
    clear() {
      delete latest.sent;
      delete latest.received;
      hide();
    },
  };
}

function put(ctx: ExtensionContext, latest: Latest): void {
  if (ctx.mode !== "tui") {
    ctx.ui.setWidget(KEY, plainRows(latest), { placement: "belowEditor" });
    return;
  }
  const view = (tui: { terminal: { rows: number } }, theme: Theme): Component => ({
    render: (width) => rows(latest, theme, width, tui.terminal.rows),
    invalidate() {},
  });
  ctx.ui.setWidget(KEY, view, { placement: "belowEditor" });
}

/** Where the client draws: a bounded number of lines, since nothing is known of its screen. */
function plainRows(latest: Latest): string[] {
  return entries(latest).flatMap(([direction, { at, text }]) => {
    const lines = text.split("\n");
    const more = lines.length - PLAIN_LINES;
    return [
      `watchdog ${direction} ${clock(at)}`,
      ...lines.slice(0, PLAIN_LINES).map((line) => `  ${line}`),
      ...(more > 0 ? [`  … ${plural(more, "more line")}`] : []),
    ];
  });
}

function rows(latest: Latest, theme: Theme, width: number, screenRows: number): string[] {
  const shown = entries(latest);
  if (shown.length === 0)
    return [paint(theme, truncateToWidth("watchdog debug: nothing sent or received yet", width), "dim")];
  const budget =
    Math.max(MIN_ROWS, Math.min(Math.floor(screenRows * SCREEN_SHARE), screenRows - OTHER_ROWS)) - shown.length;
  const wrapped = shown.map(([, { text }]) => wrapTextWithAnsi(text, Math.max(1, width - 2)));
  const allowed = share(
    wrapped.map((lines) => lines.length),
    budget,
  );
  return shown.flatMap(([direction, { at }], i) => {
    const lines = wrapped[i] ?? [];
    const room = allowed[i] ?? 1;
    const cut = lines.length > room ? lines.slice(0, Math.max(1, room - 1)) : lines;
    const missing = lines.length - cut.length;
    const head = `watchdog ${direction} ${clock(at)}`;
    return [
      paint(theme, truncateToWidth(head, width), direction === "sent" ? "accent" : "muted"),
      ...cut.map((line) => truncateToWidth(`  ${theme.fg("text", line)}`, width)),
      ...(missing > 0 ? [paint(theme, truncateToWidth(`  … ${plural(missing, "more line")}`, width), "dim")] : []),
    ];
  });
}

/** Rows for each message: half of the budget, and what the other one leaves. */
function share(wanted: readonly number[], budget: number): number[] {
  const half = Math.floor(budget / wanted.length);
  const spare = wanted.reduce((sum, want) => sum + Math.max(0, half - want), 0);
  return wanted.map((want) => Math.min(want, half + spare));
}

function entries(latest: Latest): [Direction, Message][] {
  return (["sent", "received"] as const).flatMap((direction) => {
    const message = latest[direction];
    return message === undefined ? [] : [[direction, message] as [Direction, Message]];
  });
}
