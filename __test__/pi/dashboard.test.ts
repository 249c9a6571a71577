// The dashboard in a real terminal, with the widgets of another extension around the editor.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Lab, type PiTui, tmuxMissing } from "../support/pi.ts";
import { bash } from "../support/scripts.ts";

const TALL = fileURLToPath(new URL("../support/tall-widgets.ts", import.meta.url));
const ROUNDS = 16;

/** A session that has called the shell some times, waits for `go`, and calls it three times more. */
async function busy(t: Parameters<typeof Lab.open>[0], width: number, height: number) {
  const gate = Promise.withResolvers<void>();
  const lab = await Lab.open(t, {
    extensions: [TALL],
    script: async ({ turn }) => {
      if (turn === ROUNDS) await gate.promise;
      return turn < ROUNDS + 3 ? bash(`echo round-${turn}`) : { text: "all rounds done" };
    },
  });
  const tui = await lab.tui({ width, height });
  await tui.waitFor(/scripted-1/);
  return { lab, tui, go: () => gate.resolve() };
}

async function command(tui: PiTui, text: string): Promise<void> {
  await tui.type(`${text} `);
  await tui.press("Escape", "Enter");
}

/** Frame, hints and the footer of Pi are on the screen, and nothing of them twice. */
function whole(screen: string, height: number, least = 3): void {
  const rows = screen.split("\n");
  const borders = rows.flatMap((row, i) => (/^──( \d|─{20})/.test(row) ? [i] : []));
  const title = rows.findIndex((row) => row.startsWith("Watchdog ·"));
  const hints = rows.findIndex((row) => /^escape (back|close)/.test(row));
  assert.ok(title >= 0 && hints > title + least, screen);
  assert.ok(borders.includes(title - 1) && borders.includes(hints + 1), screen);
  assert.ok(rows.length <= height && rows.slice(hints + 2).some((row) => /%\/200k/.test(row)), screen);
  assert.equal(rows.filter((row) => /^escape (back|close)/.test(row)).length, 1, screen);
}

for (const [width, height] of [
  [80, 24],
  [100, 46],
  [40, 20],
] as const) {
  test(`details at ${height}x${width} beside widgets of 12 and 2 lines: whole, at the newest event, and every key`, {
    skip: tmuxMissing,
  }, async (t) => {
    const { lab, tui, go } = await busy(t, width, height);
    await command(tui, "/tall 12 2");
    await tui.waitFor(/above 11/);
    await tui.type("look");
    await tui.press("Enter");
    await lab.server.request(({ turn }) => turn === ROUNDS, "the last of the first rounds");
    await command(tui, "/watchdog");
    whole(await tui.waitFor(/escape close[\s\S]*%\/200k/), height, 1);
    await tui.press("Enter");
    whole(await tui.waitFor(/── \d+-(\d+) of \1 ─[\s\S]*%\/200k/), height);
    await tui.press("Home");
    whole(await tui.waitFor(/── 1-\d+ of /), height);
    await tui.press("End");
    const last = /── \d+-(\d+) of \1 ─/;
    await tui.waitFor(last);
    await tui.press("PageUp");
    const before = await tui.waitFor(/^(?![\s\S]*── \d+-(\d+) of \1 ─)[\s\S]*── \d+-\d+ of /);
    const read = (screen: string) => screen.split("\n").filter((row) => /^ {0,4}\d\d:\d\d:\d\d /.test(row));
    const total = (screen: string) => Number(/ of (\d+) ─/.exec(screen)?.[1]);
    assert.ok(read(before).length > 3, before);
    go();
    const grown = await tui.waitFor(new RegExp(`of (?!${total(before)} )\\d+ ─`));
    assert.deepEqual(read(grown), read(before), "new events do not move what is read");
    await tui.press("End");
    whole(await tui.waitFor(new RegExp(`${last.source}`)), height);
    await tui.waitFor(/llm_output all ro/);
    await tui.resize(width + 20, height + 4);
    whole(await tui.waitFor(last), height + 4);
    await tui.press("Escape");
    await tui.waitFor(/escape close/);
    await tui.press("Escape");
    await tui.waitFor(/^(?![\s\S]*escape close)/);
    await tui.type("still here");
    await tui.waitFor(/still here/);
  });
}

test("/watchdog inspect opens the details in the terminal, and closing them gives the editor back", {
  skip: tmuxMissing,
}, async (t) => {
  const { tui } = await busy(t, 80, 24);
  await tui.type("look");
  await tui.press("Enter");
  await tui.waitFor(/round-15/);
  await command(tui, "/watchdog inspect nobody");
  const [, id] = /Known: (\S+) \(main\)/.exec(await tui.waitFor(/Known: \S+ \(main\)/)) ?? [];
  await command(tui, `/watchdog inspect ${id}`);
  whole(await tui.waitFor(/escape close · up\/down scroll[\s\S]*── \d+-(\d+) of \1 ─/), 24);
  await tui.press("Escape");
  await tui.waitFor(/^(?![\s\S]*escape close)/);
});

test("a question of another extension is seen while the dashboard is open, and the dashboard comes back", {
  skip: tmuxMissing,
}, async (t) => {
  const { tui } = await busy(t, 80, 24);
  await command(tui, "/ask-later");
  await command(tui, "/watchdog");
  await tui.waitFor(/escape close/);
  const asked = await tui.waitFor(/Really\?/);
  assert.doesNotMatch(asked, /escape close/);
  await tui.press("Escape");
  await tui.waitFor(/escape close/);
  await tui.press("Escape");
  await tui.waitFor(/^(?![\s\S]*escape close)/);
});
