// `/watchdog:settings`: every configuration key with its value, to be changed for this run. A list in the terminal,
// questions in rpc, the text of `/watchdog config` elsewhere.

import { type ExtensionCommandContext, getSettingsListTheme, type Theme } from "@earendil-works/pi-coding-agent";
import {
  type Component,
  type Focusable,
  Input,
  type SettingItem,
  SettingsList,
  truncateToWidth,
  wrapTextWithAnsi,
} from "@earendil-works/pi-tui";
import type { WatchdogConfig } from "../index.js";
import { answer, complain } from "./commands/answer.ts";
import { changePage, configPage } from "./commands/config.ts";
import { configKeys, expected, type KeyInfo, parseValue, show } from "./commands/keys.ts";
import { paint, toText } from "./render/page.ts";
import type { Runtime, WatchedSession } from "./runtime.ts";
import { oneLine } from "./sanitize.ts";
import { updateChip } from "./status.ts";

const ROWS = 15;

export async function openSettings(runtime: Runtime, ctx: ExtensionCommandContext): Promise<void> {
  const { session } = runtime;
  if (session === null) {
    complain(runtime, ctx, "The watchdog does not watch this session: it is disabled, or the session has ended.");
    return;
  }
  if (ctx.mode === "tui") await openList(runtime, session, ctx);
  else if (ctx.hasUI) await ask(runtime, session, ctx);
  else answer(runtime, ctx, configPage(runtime.native, session));
  updateChip(runtime);
}

const shownValue = (session: WatchedSession, key: KeyInfo): string =>
  oneLine(show(session.config[key.name as keyof WatchdogConfig]), 200);

/** Two questions: which key, which value. Cancelled at either: nothing changes. */
async function ask(runtime: Runtime, session: WatchedSession, ctx: ExtensionCommandContext): Promise<void> {
  const keys = configKeys(runtime.native);
  const rows = keys.map((key) => `${key.name} = ${shownValue(session, key)}`);
  const picked = await ctx.ui.select("Watchdog settings: which one?", rows);
  const key = keys[picked === undefined ? -1 : rows.indexOf(picked)];
  if (key === undefined) return;
  const title = `${key.name} (now ${shownValue(session, key)})`;
  const typed =
    key.choices.length > 0
      ? await ctx.ui.select(title, [...key.choices])
      : await ctx.ui.input(title, shownValue(session, key));
  if (typed === undefined) return;
  const parsed = parseValue(key, typed);
  if (parsed.ok) answer(runtime, ctx, changePage(session, key.name, parsed.value));
  else complain(runtime, ctx, parsed.message);
}

async function openList(runtime: Runtime, session: WatchedSession, ctx: ExtensionCommandContext): Promise<void> {
  const keys = configKeys(runtime.native);
  await ctx.ui.custom<undefined>((tui, theme, _keybindings, done) => {
    let told = "";
    const items = keys.map((key): SettingItem => {
      const item: SettingItem = {
        id: key.name,
        label: key.name,
        description: key.description,
        currentValue: shownValue(session, key),
      };
      if (key.choices.length > 0) item.values = [...key.choices];
      else
        item.submenu = (_current, close) =>
          new ValueInput(key, show(session.config[key.name as keyof WatchdogConfig]), theme, close);
      return item;
    });
    const list = new SettingsList(
      items,
      Math.min(items.length, ROWS),
      getSettingsListTheme(),
      (name, typed) => {
        const key = keys.find((one) => one.name === name);
        if (key === undefined) return;
        const parsed = parseValue(key, typed);
        told = parsed.ok ? toText(changePage(session, name, parsed.value)) : parsed.message;
        // What came of it can differ from what was chosen: out of range, or refused.
        list.updateValue(name, shownValue(session, key));
      },
      () => done(undefined),
    );
    return {
      capturesViewportInput: list.capturesViewportInput,
      render(width: number): readonly string[] {
        const border = paint(theme, "─".repeat(Math.max(1, width)), "dim");
        const head = truncateToWidth(paint(theme, "Watchdog settings for this run", "title"), width);
        const foot = told === "" ? [] : wrapTextWithAnsi(paint(theme, told, "muted"), Math.max(1, width));
        return [border, head, "", ...list.render(width), ...foot, border];
      },
      handleInput(data: string): void {
        list.handleInput(data);
        tui.requestRender();
      },
      invalidate(): void {
        list.invalidate();
      },
    };
  });
}

/** The line in which a number or a text is typed. */
class ValueInput implements Component, Focusable {
  readonly #key: KeyInfo;
  readonly #theme: Theme;
  readonly #input = new Input();
  #problem = "";

  constructor(key: KeyInfo, value: string, theme: Theme, close: (value?: string) => void) {
    this.#key = key;
    this.#theme = theme;
    this.#input.focused = true;
    // Pasted, so that the cursor stands behind the value.
    this.#input.handleInput(`\x1b[200~${oneLine(value, 4000)}\x1b[201~`);
    this.#input.onEscape = () => close();
    this.#input.onSubmit = (typed) => {
      const parsed = parseValue(key, typed);
      if (parsed.ok) close(typed);
      else this.#problem = parsed.message;
    };
  }

  get focused(): boolean {
    return this.#input.focused;
  }

  set focused(focused: boolean) {
    this.#input.focused = focused;
  }

  handleInput(data: string): void {
    this.#input.handleInput(data);
  }

  invalidate(): void {
    this.#input.invalidate();
  }

  render(width: number): readonly string[] {
    const note = this.#problem === "" ? `${expected(this.#key)}; enter saves, escape goes back` : this.#problem;
    return [
      truncateToWidth(paint(this.#theme, this.#key.name, "accent"), width),
      ...this.#input.render(width),
      ...wrapTextWithAnsi(paint(this.#theme, note, this.#problem === "" ? "dim" : "error"), Math.max(1, width)),
    ];
  }
}
