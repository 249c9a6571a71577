// What is drawn fits the terminal, whatever the width and the texts: Pi ends when a line is too wide.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ExtensionCommandContext, MessageRenderOptions, Theme } from "@earendil-works/pi-coding-agent";
import { type Component, KeybindingsManager, TUI_KEYBINDINGS, visibleWidth } from "@earendil-works/pi-tui";
import { openDashboard } from "../../extension/commands/dashboard.ts";
import { configKeys, parseValue, show } from "../../extension/commands/keys.ts";
import { statusPage } from "../../extension/commands/status.ts";
import { debugConsole } from "../../extension/console.ts";
import { shortIds } from "../../extension/format.ts";
import { alertView, rescueView } from "../../extension/render/alert.ts";
import { PageView, toText } from "../../extension/render/page.ts";
import type { Runtime, WatchedSession } from "../../extension/runtime.ts";
import * as native from "../../index.js";

/** From where a character of two columns fits between the margins. */
const WIDTHS = [4, 5, 9, 20, 30, 59, 60, 61, 100, 200];

const style = (text: string): string => `\u001b[31m${text}\u001b[39m`;
const theme = {
  fg: (_: string, text: string) => style(text),
  bg: (_: string, text: string) => style(text),
  bold: style,
};
const THEME = theme as unknown as Theme;

function fits(component: Component, what: string): void {
  for (const width of WIDTHS) {
    for (const line of component.render(width)) {
      assert.ok(visibleWidth(line) <= width, `${what} at ${width}: ${JSON.stringify(line)}`);
      assert.doesNotMatch(line, /\n/);
    }
  }
}

const { store } = native;
const config = native.defaultConfig();
const NAMES = ["日本語の調査を行うサブエージェント", "a\u001b[2Jb\u202ec", "👩‍👩‍👧 family", "x".repeat(300), "short"];

/** Agents that started one another, `levels` deep. */
function nest(root: string, parent: string, levels: number): void {
  for (let i = 0, above = parent; i < levels; i++) {
    const info = { name: `${NAMES[i % NAMES.length]} ${i}`, rootId: root, parentId: above, backend: "b\u001b[31m" };
    above = `${parent}-${i}`;
    store.open(above, 1000, { ...info, status: "running", link: "exact", visibility: "no_open_tools" }, config);
  }
}

/** A main session with children of difficult names, one of them stuck. */
function tree(id: string, levels = 0): WatchedSession {
  const handle = store.open(id, 1000, { name: "main", kind: "task", status: "running" }, config);
  for (const [i, name] of NAMES.entries()) {
    const child = store.open(
      `${id}-child-${i}`,
      1000,
      { name, kind: "task", status: "running", rootId: id, parentId: id, agentType: name, link: "none" },
      config,
    );
    if (i === 2) nest(id, `${id}-child-${i}`, levels);
    store.alias(child, `agent-${i}-${id}`);
    const rounds = i === 0 ? 4 : 1;
    for (let turn = 0; turn < rounds; turn++) {
      const call = `c${turn}`;
      store.observeAssistant(child, 2000 + turn, turn, "", "", "toolUse");
      store.observeToolCall(
        child,
        2000 + turn,
        turn,
        call,
        "bash",
        JSON.stringify({ command: `cat ${"日本".repeat(60)}\u001b[31m` }),
      );
      store.observeToolResult(child, 2001 + turn, turn, call, "bash", "same\u001b[2J\n".repeat(5), false, "", "");
    }
  }
  const session = { id, rootId: id, isMain: true, handle, config, warnings: [], backends: [], packages: () => [] };
  return session as unknown as WatchedSession;
}

const runtimeOf = (session: WatchedSession): Runtime =>
  ({ native, session, pi: {}, main: () => undefined }) as unknown as Runtime;

test("status: every width", () => {
  const session = tree("status", 14);
  const page = statusPage({ store, session, main: undefined, version: native.version, now: 9000 });
  fits(new PageView(page, THEME, 1), "status");
  assert.match(toText(page), /Targets: 20 live, 1 stuck/);
  assert.match(toText(page), /\n {18}level 15: /);
  assert.doesNotMatch(toText(page), /[│├└\u001b\u202e]/, "glyphs are for terminals");
  assert.match(new PageView(page, THEME, 1).render(100).join("\n"), /│ {5}└ /);
});

test("dashboard: every width, list and details, and every key", async () => {
  const session = tree("dashboard");
  let dashboard: (Component & { dispose?(): void }) | undefined;
  let closed = 0;
  const tui = { terminal: { rows: 24, columns: 80 }, requestRender() {} };
  const keybindings = new KeybindingsManager(TUI_KEYBINDINGS);
  const custom = (factory: (...args: unknown[]) => Component) => {
    dashboard = factory(tui, THEME, keybindings, () => closed++);
    return Promise.resolve();
  };
  await openDashboard(runtimeOf(session), session, { ui: { custom } } as unknown as ExtensionCommandContext);
  assert.ok(dashboard?.handleInput !== undefined);
  fits(dashboard, "list");
  const [up, down, pageUp, pageDown, enter, back] = ["\u001b[A", "\u001b[B", "\u001b[5~", "\u001b[6~", "\r", "\u001b"];
  for (const key of [down, down, pageDown, up, pageUp, down, enter, down, pageDown, up]) dashboard.handleInput(key!);
  fits(dashboard, "details");
  for (let i = 0; i < 9; i++) dashboard.handleInput(pageUp!);
  assert.match(dashboard.render(100).join("\n"), /Likely stuck/);
  dashboard.handleInput(back!);
  assert.equal(closed, 0, "back to the list");
  dashboard.handleInput(back!);
  assert.equal(closed, 1);
  dashboard.dispose?.();
});

const OPTIONS = {
  outputPad: 1,
  keyHint: (_: string, text: string) => style(`ctrl+o ${text}`),
  keyText: () => "ctrl+o",
};

test("alert and rescue: every width, collapsed and expanded, also without details", () => {
  const text = `[Watchdog Alert]\n\nTarget: ${"日本".repeat(40)} (x)\nStatus: likely stuck\nConfidence: high\n\nEvidence:\n- ${"long ".repeat(60)}\n\nLast command:\n${"x".repeat(200)}\n\nSuggested rescue:\nStop.\n\nNote:\n> 👩‍👩‍👧 note`;
  const notice = { severity: "critical", analysis: { reasons: ["日本".repeat(50), 4711] } };
  for (const expanded of [false, true]) {
    const options = { ...OPTIONS, expanded } as unknown as MessageRenderOptions;
    for (const details of [undefined, null, { notice }, { notice: 7 }]) {
      fits(alertView(text, details, options, THEME), "alert");
      fits(alertView("something else", details, options, THEME), "other text");
      fits(rescueView("Stop.\n".repeat(3), details, options, THEME), "rescue");
    }
  }
});

test("debug console: every width, bounded height, nothing while debug is off", () => {
  const session = tree("debug");
  const widgets: (((...args: unknown[]) => Component) | undefined)[] = [];
  const ctx = { hasUI: true, mode: "tui", ui: { setWidget: (_: string, view: never) => widgets.push(view) } };
  Object.assign(session, { ctx, config: { ...config, debug: false } });
  const console = debugConsole(runtimeOf(session));
  console.record("sent", "not shown");
  assert.equal(widgets.length, 0);
  session.config = { ...config, debug: true };
  console.record("sent", `${"日本語 ".repeat(500)}\u001b[2J`);
  console.record("received", "line\n".repeat(500));
  const view = widgets.at(-1)?.({ terminal: { rows: 30 } }, THEME);
  assert.ok(view !== undefined);
  fits(view, "debug console");
  for (const width of WIDTHS) assert.ok(view.render(width).length <= 20, `rows at ${width}`);
  assert.match(
    view.render(100).join("\n"),
    /watchdog sent \d\d:\d\d:\d\d[\s\S]*more lines[\s\S]*watchdog received \d\d:\d\d:\d\d[\s\S]*more lines/,
  );
  console.clear();
  assert.equal(widgets.at(-1), undefined);
});

test("short ids are unambiguous, and the agent id goes first", () => {
  const targets = ["019a7c3e-1111-7000", "019a7c3e-1112-7000", "019a7c3f-0000"].map((id) => ({ id, aliases: [id] }));
  const ids = [...shortIds([...targets, { id: "with-agent", aliases: ["a1b2"] }]).values()];
  assert.deepEqual(
    ids,
    ["019a7c3e-1111", "019a7c3e-1112", "019a7c3f", "a1b2"].sort((a, b) => ids.indexOf(a) - ids.indexOf(b)),
  );
  for (const { id } of targets) {
    const short = shortIds(targets).get(id) ?? "";
    assert.deepEqual(
      targets.filter((target) => target.id.startsWith(short)).map((target) => target.id),
      [id],
    );
  }
});

test("every configuration key can be typed: its default is understood as it is shown", () => {
  for (const key of configKeys(native)) {
    const parsed = parseValue(key, key.default === "" ? `""` : show(key.default));
    assert.deepEqual(parsed, { ok: true, value: key.default }, key.name);
    assert.notEqual(key.description, "", `${key.name} is described`);
    assert.equal(parseValue(key, " ").ok, false);
  }
});
