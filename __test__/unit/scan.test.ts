// `pi-watchdog scan` as a user meets it, and scanFolder as a caller does. The scan itself is tested in the core.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { parseCommandLine } from "../../bin/lib/args.mjs";
import { barText, progressBar } from "../../bin/lib/progress.mjs";
import { scanFolder } from "../../index.js";

const COMMAND = fileURLToPath(new URL("../../bin/pi-watchdog", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "pi-watchdog-scan-"));
after(() => rmSync(directory, { recursive: true, force: true }));

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [COMMAND, "scan", ...args], { env: { ...process.env, ...env } });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { stdout, stderr, code: code as number };
}

function write(path: string, content: string | Buffer): string {
  const whole = join(directory, path);
  mkdirSync(dirname(whole), { recursive: true });
  writeFileSync(whole, content);
  return whole;
}

interface Call {
  tool?: string;
  args?: unknown;
  output: string;
  isError?: boolean;
}

/** A session of one day in March 2026. */
function session(day: number, calls: readonly Call[], id = `s${day}`): string {
  const at = (seconds: number) => new Date(Date.UTC(2026, 2, day, 9, 0, seconds)).toISOString();
  const lines: unknown[] = [{ type: "session", version: 3, id, timestamp: at(0), cwd: "/p" }];
  let parentId: string | null = null;
  const entry = (message: Record<string, unknown>) => {
    const entryId = `e${lines.length}`;
    lines.push({ type: "message", id: entryId, parentId, timestamp: at(lines.length), message });
    parentId = entryId;
  };
  entry({ role: "user", content: "begin" });
  for (const [turn, { tool = "bash", args, output, isError = false }] of calls.entries()) {
    const content = [{ type: "toolCall", id: `c${turn}`, name: tool, arguments: args ?? { command: "rg TOKEN src" } }];
    entry({
      role: "assistant",
      content,
      usage: { input: 90, output: 10, cost: { total: 0.25 } },
      stopReason: "toolUse",
    });
    entry({
      role: "toolResult",
      toolCallId: `c${turn}`,
      toolName: tool,
      content: [{ type: "text", text: output }],
      isError,
    });
  }
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

const loop = (times: number): Call[] => Array.from({ length: times }, () => ({ output: "no match", isError: true }));
const outage = (times: number): Call[] =>
  Array.from({ length: times }, (_, index) => ({
    tool: "fetch",
    args: { url: `https://example.org/${index}` },
    output: "429 Too Many Requests",
    isError: true,
  }));

test("a folder is summed up: incidents by rule, interventions apart, the costliest sessions", async () => {
  write("sum/one/a.jsonl", session(1, loop(3)));
  write("sum/two/b.jsonl", session(2, loop(8)));
  write("sum/two/c.jsonl", session(3, [{ output: "found" }]));
  write("sum/three/d.jsonl", session(4, outage(4)));
  const { stdout, stderr, code } = await run([join(directory, "sum")]);
  assert.equal(code, 0);
  assert.equal(stderr, "");
  assert.match(stdout, /4 sessions · \d+ events · 1,600 tokens · \$4\.00/);
  assert.match(stdout, /stuck +incidents +sessions +rounds +tokens +cost +time\n/);
  assert.match(stdout, /repeated_command +2 +2 +\d+ +[\d,]+ +\$\d\.\d\d +\d/);
  assert.match(stdout, /called for a hand +times +sessions\n(?: +excessive_cost .*\n)? +provider_failure +\d+ +1\n/);
  const [first, second] = [stdout.indexOf("b.jsonl"), stdout.indexOf("a.jsonl")];
  assert.ok(first > 0 && second > first, "the one that cost more comes first");
  assert.doesNotMatch(stdout, /[cd]\.jsonl/);
});

test("--json is one document that holds the same", async () => {
  write("json/a.jsonl", session(1, loop(3)));
  const { stdout, code } = await run(["--json", "--top", "5", join(directory, "json")]);
  assert.equal(code, 0);
  const { version, folder, incidents, costliest, usage, sessions, stuckSessions } = JSON.parse(stdout);
  assert.match(version, /^\d+\./);
  assert.equal(folder, join(directory, "json"));
  assert.deepEqual([sessions, stuckSessions], [1, 1]);
  assert.deepEqual(usage, { tokens: 300, usd: 0.75 });
  const cost = { rounds: 2, tokens: 200, usd: 0.5, wallMs: incidents[0].cost.wallMs };
  assert.deepEqual(incidents, [{ rule: "repeated_command", count: 1, sessions: 1, cost }]);
  assert.deepEqual(costliest, [
    {
      file: join(directory, "json", "a.jsonl"),
      sessionId: "s1",
      incidents: 1,
      rules: ["repeated_command"],
      cost,
      usage,
    },
  ]);
});

test("without a folder Pi's own sessions are scanned, wherever its agent folder is", async () => {
  write("agent/sessions/--p--/a.jsonl", session(1, loop(3)));
  const { stdout, code } = await run(["--json"], { PI_CODING_AGENT_DIR: join(directory, "agent") });
  assert.equal(code, 0);
  assert.equal(JSON.parse(stdout).sessions, 1);
  const none = await run([], { PI_CODING_AGENT_DIR: join(directory, "nowhere") });
  assert.equal(none.code, 1);
  assert.match(none.stderr, /nowhere.*no such folder.*Pi keeps its sessions there/);
});

test("what cannot be read costs a warning each, and exit code 1; the rest goes on", async () => {
  const folder = join(directory, "broken");
  write("broken/good.jsonl", session(1, loop(3)));
  write("broken/binary.jsonl", Buffer.from([0x7f, 0x45, 0xff, 0, 10]));
  write("broken/torn.jsonl", `${session(2, loop(3))}{"type":"mess`);
  write("broken/readme.md", "not asked for");
  const { stdout, stderr, code } = await run([folder]);
  assert.equal(code, 1);
  assert.match(stdout, /2 sessions .* 1 unreadable/);
  assert.match(stderr, /binary\.jsonl: this is neither a Pi session file nor a trace/);
  assert.match(stderr, /torn\.jsonl: a line with a warning, the first is line 9: the last line is cut off/);
  assert.doesNotMatch(stderr, /readme/);
});

test("a folder without permission is named", {
  skip: process.getuid?.() === 0 && "root may read everything",
}, async () => {
  const folder = join(directory, "closed");
  write("closed/in/a.jsonl", session(1, loop(3)));
  chmodSync(join(folder, "in"), 0);
  const { stderr, code } = await run([folder]);
  chmodSync(join(folder, "in"), 0o755);
  assert.equal(code, 1);
  assert.match(stderr, /in: you may not read it/);
});

test("no sessions and no incidents are said, and are no failure", async () => {
  mkdirSync(join(directory, "empty"));
  const empty = await run(["--fail-on-stuck", join(directory, "empty")]);
  assert.equal(empty.code, 0);
  assert.match(empty.stdout, /There is no session to look at/);
  write("calm/a.jsonl", session(1, loop(2)));
  const calm = await run(["--fail-on-stuck", join(directory, "calm")]);
  assert.equal(calm.code, 0);
  assert.match(calm.stdout, /No agent was stuck/);
  write("stuck/a.jsonl", session(1, loop(3)));
  assert.equal((await run(["--fail-on-stuck", join(directory, "stuck")])).code, 3);
});

test("--since leaves out what was before", async () => {
  const folder = join(directory, "since");
  write("since/old.jsonl", session(1, loop(3)));
  write("since/new.jsonl", session(9, loop(3)));
  const { stdout } = await run(["--since", "2026-03-05", folder]);
  assert.match(stdout, /since 2026-03-05 00:00:00\n +1 session .* 1 older or empty/);
  assert.match(stdout, /new\.jsonl/);
  assert.doesNotMatch(stdout, /old\.jsonl/);
  const since = Date.UTC(2026, 2, 20);
  assert.equal((await scanFolder(folder, { since })).sessions, 0);
  assert.equal((await scanFolder(folder, { since: new Date(0) })).sessions, 2);
  await assert.rejects(scanFolder(folder, { since: Number.NaN }), TypeError);
});

test("times back from now and dates are understood, other words refused", () => {
  const now = Date.UTC(2026, 2, 10, 12);
  const since = (when: string) => {
    const request = parseCommandLine(["scan", `--since=${when}`], { now, env: {} });
    return request.command === "scan" ? request.since : undefined;
  };
  assert.equal(since("90m"), now - 90 * 60_000);
  assert.equal(since("24h"), now - 86_400_000);
  assert.equal(since("7d"), now - 7 * 86_400_000);
  assert.equal(since("4w"), now - 28 * 86_400_000);
  assert.equal(since("2026-03-01"), new Date(2026, 2, 1).getTime());
  assert.equal(since("2026-03-01T18:00"), new Date(2026, 2, 1, 18).getTime());
  assert.equal(since("2026-03-01T18:00:00Z"), Date.UTC(2026, 2, 1, 18));
  for (const wrong of ["yesterday", "7", "d", "-7d", "2026-13-01", "2026-03-01T25:00", "03/01/2026", ""]) {
    assert.throws(() => since(wrong), /--since takes a date/, wrong);
  }
});

test("a session that grows while it is read is read as it was found", async () => {
  const path = write("grow/a.jsonl", session(1, loop(3)));
  const scanning = scanFolder(dirname(path));
  for (let turn = 0; turn < 200; turn += 1) appendFileSync(path, '{"type":"label","label":"x"}\n');
  const report = await scanning;
  assert.equal(report.stuckSessions, 1);
  assert.ok(report.warningCount <= 1, "a cut line at most");
});

test("progress ends at all files and bytes, and text of files cannot reach the terminal", async () => {
  const evil = "evil \u001b[2J\u202e.jsonl";
  const content = session(1, loop(3));
  write(`evil/${evil}`, content);
  const seen: { files: number; bytes: number; totalBytes: number }[] = [];
  await scanFolder(join(directory, "evil"), { onProgress: (progress) => seen.push(progress) });
  assert.deepEqual(seen.at(-1), { files: 1, bytes: content.length, totalBytes: content.length });
  const { stdout } = await run([join(directory, "evil")]);
  assert.match(stdout, /evil/);
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test("a progress bar is drawn on a terminal only, for long work only, and is gone at the end", () => {
  let now = 0;
  let written = "";
  const stream = (isTTY: boolean) =>
    ({ isTTY, columns: 60, write: (chunk: string) => (written += chunk) }) as unknown as NodeJS.WriteStream;
  assert.equal(progressBar(stream(false)), undefined);
  const bar = progressBar(stream(true), () => now);
  const progress = { files: 3, bytes: 5e6, totalBytes: 10e6 };
  bar?.draw(progress);
  bar?.clear();
  assert.equal(written, "");
  now = 1000;
  bar?.draw(progress);
  bar?.draw(progress);
  assert.equal(written, `\r${barText(progress, 60)}\u001b[K`);
  assert.match(written, /█{15}░{15} 50 % · 3 files/);
  bar?.clear();
  assert.ok(written.endsWith("\r\u001b[K"));
  assert.equal(barText({ files: 0, bytes: 0, totalBytes: 0 }, 20).length, 19);
});

test("a wrong command line is answered with what is right, and exit code 2", async () => {
  const wrong: [string[], RegExp][] = [
    [["a", "b"], /one folder/],
    [["--cases"], /--cases means nothing to scan/],
    [["--top", "many"], /whole number/],
    [["--since", "soon"], /--since takes a date/],
  ];
  for (const [args, expected] of wrong) {
    const { stdout, stderr, code } = await run(args);
    assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    assert.match(stderr, expected);
  }
  const file = write("file.jsonl", session(1, loop(3)));
  const single = await run([file]);
  assert.equal(single.code, 1);
  assert.match(single.stderr, /not a folder; single files are read by replay/);
});
