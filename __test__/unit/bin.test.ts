// The command as a user meets it: a process with arguments, two streams and an exit code.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { replayCases, replayFile, scanFolder } from "../../index.js";

const COMMAND = fileURLToPath(new URL("../../bin/pi-watchdog", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "pi-watchdog-bin-"));
after(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, content: string | Buffer): string {
  const path = join(directory, name);
  writeFileSync(path, content);
  return path;
}

async function run(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [COMMAND, ...args], { env: { ...process.env, ...env } });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { stdout, stderr, code: code as number };
}

/** A session in which `rg` gives the same answer `times` times. */
function session(times: number, command = "rg TOKEN src", output = "no match"): string {
  const lines: unknown[] = [
    { type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" },
  ];
  let parentId: string | null = null;
  const entry = (message: Record<string, unknown>) => {
    const id = `e${lines.length}`;
    const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, lines.length)).toISOString();
    lines.push({ type: "message", id, parentId, timestamp, message });
    parentId = id;
  };
  entry({ role: "user", content: "find it" });
  for (let turn = 1; turn <= times; turn += 1) {
    const content = [{ type: "toolCall", id: `c${turn}`, name: "bash", arguments: { command } }];
    const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 110, cost: { total: 0.01 } };
    entry({ role: "assistant", content, usage, stopReason: "toolUse" });
    const result = [{ type: "text", text: output }];
    entry({ role: "toolResult", toolCallId: `c${turn}`, toolName: "bash", content: result, isError: true });
  }
  return `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
}

test("a loop is told with its place, its reasons and its cost", async () => {
  const { stdout, stderr, code } = await run(["replay", file("loop.jsonl", session(3))]);
  assert.equal(code, 0);
  assert.equal(stderr, "");
  assert.match(stdout, /Pi session s1 · 8 lines · 10 events · 330 tokens · \$0\.03/);
  assert.match(stdout, /stuck {2}repeated_command {2}line 8 · entry e7 · \d{4}-\d\d-\d\d \d\d:\d\d:07/);
  assert.match(stdout, / {4}rg TOKEN src\n {4}- .*repeated 3 times/);
  assert.match(stdout, /cost 2 rounds, 220 tokens, \$0\.0200, \d/);
  assert.match(stdout, /1 finding in 1 incident\./);
});

test("nothing found is said and is no failure", async () => {
  const { stdout, code } = await run(["replay", "--fail-on-stuck", file("calm.jsonl", session(2))]);
  assert.equal(code, 0);
  assert.match(stdout, /Nothing found\./);
});

test("--fail-on-stuck has an exit code of its own, in every output format", async () => {
  const path = file("fail.jsonl", session(3));
  assert.equal((await run(["replay", "--fail-on-stuck", path])).code, 3);
  assert.equal((await run(["replay", "--fail-on-stuck", "--json", path])).code, 3);
});

test("--json is one document, with an error in place of a file that cannot be read", async () => {
  const path = file("json.jsonl", session(3));
  const missing = join(directory, "missing.jsonl");
  const { stdout, code } = await run(["replay", "--json", missing, path]);
  assert.equal(code, 1);
  const { files } = JSON.parse(stdout);
  assert.deepEqual(Object.keys(files[0]), ["file", "error"]);
  assert.equal(files[1].kind, "session");
  assert.equal(files[1].findings[0].line, 8);
  assert.equal(files[1].findings[0].entryId, "e7");
  assert.equal(files[1].findings[0].analysis.likelyStuck, true);
});

test("--cases gives one line a case, in order, and knows no label", async () => {
  const events = [1, 2, 3].flatMap((turn) => [
    { at: turn, type: "tool_call", turn, callId: `c${turn}`, tool: "bash", args: { command: "ls" } },
    { at: turn, type: "tool_result", turn, callId: `c${turn}`, tool: "bash", output: "gone", isError: true },
  ]);
  const cases = [
    { id: "calm", label: "stuck", events: [] },
    { id: "loop", label: "not_stuck", events },
  ];
  const content = `${cases.map((one) => JSON.stringify(one)).join("\n")}\nbroken\n`;
  const { stdout, stderr, code } = await run(["replay", "--cases", file("cases.jsonl", content)]);
  assert.equal(code, 0);
  const [calm, loop, ...more] = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual(more, []);
  assert.deepEqual(calm, { id: "calm", detections: [] });
  assert.equal(loop.id, "loop");
  assert.deepEqual(Object.keys(loop.detections[0]), ["eventIndex", "rule", "severity", "evidenceKey"]);
  assert.equal(loop.detections[0].eventIndex, 5);
  assert.match(stderr, /line 3: not usable/);
});

test("what cannot be read is named with a way out, and the other files go on", async () => {
  mkdirSync(join(directory, "folder"), { recursive: true });
  const paths = [
    join(directory, "folder"),
    join(directory, "nowhere"),
    file("empty", ""),
    file("binary", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 0xff, 10, 0, 0])),
    file("some-cases.jsonl", '{"id":"x","events":[]}\n'),
    file("after.jsonl", session(1)),
  ];
  const { stdout, stderr, code } = await run(["replay", ...paths]);
  assert.equal(code, 1);
  assert.match(stderr, /folder: .*directory; name the \.jsonl files in it/);
  assert.match(stderr, /nowhere: .*no such file/);
  assert.match(stderr, /empty: .*nothing to replay/);
  assert.match(stderr, /binary: .*neither a Pi session file nor a trace/);
  assert.match(stderr, /some-cases\.jsonl: .*--cases/);
  assert.match(stdout, /after\.jsonl/);
});

test("a broken line is a warning with its number", async () => {
  const broken = session(3).replace(/^(.*\n.*\n)/, "$1{broken\n");
  const { stdout, code } = await run(["replay", file("broken.jsonl", broken)]);
  assert.equal(code, 0);
  assert.match(stdout, /line 3: not usable/);
  assert.match(stdout, /stuck {2}repeated_command {2}line 9/);
});

test("text from a file cannot reach the terminal", async () => {
  const command = "rg \u001b[2J\u001b]0;title\u0007 \u202etxt.exe\u202c\r\nX";
  const { stdout } = await run(["replay", file("evil.jsonl", session(3, command))]);
  assert.match(stdout, /stuck/);
  assert.doesNotMatch(stdout, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test("settings are taken from a file, and what is wrong in them is said", async () => {
  const path = file("settings.jsonl", session(3));
  const patient = file("patient.json", '{"repeatThreshold": 5, "cooldownSec": "soon"}');
  const { stdout, stderr, code } = await run(["replay", "--config", patient, path]);
  assert.equal(code, 0);
  assert.match(stdout, /Nothing found\./);
  assert.match(stderr, /cooldownSec/);
  const missing = await run(["replay", "--config", join(directory, "none.json"), path]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /settings cannot be read/);
});

test("a wrong command line is answered with what is right, and exit code 2", async () => {
  const wrong: [string[], RegExp][] = [
    [[], /say what to do/],
    [["replya", "x"], /the commands are: replay, scan/],
    [["replay"], /name the files/],
    [["replay", "-"], /standard input/],
    [["replay", "--jsno", "x"], /'--jsno'/],
    [["replay", "--json", "--cases", "x"], /choose one/],
    [["replay", "--since", "7d", "x"], /--since means nothing to replay/],
  ];
  for (const [args, expected] of wrong) {
    const { stdout, stderr, code } = await run(args);
    assert.equal(code, 2, args.join(" "));
    assert.equal(stdout, "");
    assert.match(stderr, expected);
    assert.match(stderr, /--help/);
  }
});

test("help and version", async () => {
  const help = await run(["--help"]);
  assert.equal(help.code, 0);
  for (const word of ["--json", "--cases", "--config", "--fail-on-stuck", "Exit codes"])
    assert.ok(help.stdout.includes(word));
  assert.match((await run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
});

test("a reader that has had enough ends the command quietly", async () => {
  // More than a pipe holds, so that the command is still writing when its reader goes.
  const loops = Array.from({ length: 200 }, (_, index) =>
    file(`many-${index}.jsonl`, session(6, `rg ${"x".repeat(190)}`)),
  );
  const child = spawn(process.execPath, [COMMAND, "replay", ...loops]);
  const stderr = text(child.stderr);
  const closed = once(child, "close");
  child.stdout.once("data", () => child.stdout.destroy());
  const [code] = await closed;
  assert.equal(code, 0);
  assert.equal(await stderr, "");
});

test("history lists what was told, filtered, for people and programs, and names a file that is not there", async () => {
  const agentDir = join(directory, "agent");
  const script = `
    import { store, history, defaultConfig } from ${JSON.stringify(new URL("../../index.js", import.meta.url).href)};
    await history.open(process.argv[1], { maxDays: 90, maxMb: 64 });
    const handle = store.open("s1", Date.now(), { name: "fix\\u001b[2J it", project: "/p" }, defaultConfig());
    for (let turn = 1; turn <= 3; turn++) {
      store.observeToolCall(handle, Date.now(), turn, "c", "bash", '{"command":"rg TOKEN"}');
      store.observeToolResult(handle, Date.now(), turn, "c", "bash", "none", false, "", "");
    }
    store.takeNotice(handle, Date.now());`;
  const path = join(agentDir, "watchdog-supervisor", "state.db");
  const missing = await run(["history", "--agent-dir", agentDir]);
  assert.equal(missing.code, 1);
  assert.match(missing.stderr, /state\.db cannot be read: there is no such file; Pi begins one/);
  const writer = spawn(process.execPath, ["--input-type=module", "-e", script, path], { stdio: "inherit" });
  assert.deepEqual(await once(writer, "close"), [0, null]);
  const people = await run(["history"], { PI_CODING_AGENT_DIR: agentDir });
  assert.equal(people.code, 0, people.stderr);
  assert.match(people.stdout, /warning {2}repeated_command\n {2}fix it · session s1 · \/p · told once · not over\n/);
  assert.match(people.stdout, / {2}last command rg TOKEN\n\n1 incident\./);
  const json = await run([
    "history",
    "--agent-dir",
    agentDir,
    "--json",
    "--open",
    "--since",
    "1h",
    "--severity",
    "info",
  ]);
  const { incidents, incidentCount, sessions } = JSON.parse(json.stdout);
  assert.deepEqual([incidentCount, incidents[0].rule, sessions[0].toolCalls], [1, "repeated_command", 3]);
  assert.match((await run(["history", "--agent-dir", agentDir, "--rule", "cycle"])).stdout, /^No incident\.$/m);
  assert.match((await run(["history", "--agent-dir", agentDir, "--sessions"])).stdout, /3 tool calls · 1 incident/);
});

test("history says what is wrong with its options", async () => {
  for (const [args, says] of [
    [["history", "--severity", "bad"], /--severity takes info, warning, critical/],
    [["history", "file.jsonl"], /takes no file/],
    [["history", "--limit", "many"], /--limit takes a whole number/],
    [["replay", "--open", "x"], /--open means nothing to replay/],
    [["history", "--top", "3"], /--top means nothing to history/],
  ] as const) {
    const { stderr, code } = await run(args);
    assert.equal(code, 2);
    assert.match(stderr, says);
  }
});

const unix = { skip: process.platform === "win32" && "there are no such files" };

test("what is not a regular file is refused at once, by the command and the library", unix, async () => {
  const pipe = join(directory, "pipe.jsonl");
  execFileSync("mkfifo", [pipe]);
  const link = join(directory, "link-to-pipe.jsonl");
  symlinkSync(pipe, link);
  const paths = [pipe, link, "/dev/zero"];
  for (const args of [["replay"], ["replay", "--cases"], ["replay", "--json"]]) {
    const { stderr, code } = await run([...args, ...paths]);
    assert.equal(code, 1);
    assert.equal(stderr.match(/not a regular file but a pipe, a socket or a device/g)?.length, paths.length);
  }
  const config = await run(["replay", "--config", pipe, file("with-pipe.jsonl", session(1))]);
  assert.equal(config.code, 1);
  assert.match(config.stderr, /not a regular file/);
  for (const path of paths) {
    await assert.rejects(replayFile(path), /not a regular file/);
    await assert.rejects(replayCases(path), /not a regular file/);
    await assert.rejects(scanFolder(path), /not a folder/);
  }
});

/** A file that takes a while; a list of it as long as one likes takes as long as one likes. */
function large(): string {
  const lines = session(2).trimEnd().split("\n");
  const label = JSON.stringify({ type: "label", id: "l", parentId: "e5", label: "x".repeat(1000) });
  return file("large.jsonl", `${lines.join("\n")}\n${`${label.replace("e5", "l")}\n`.repeat(20_000)}`);
}

test("Ctrl-C ends the command in the middle of its work, and nothing half done is written", unix, async () => {
  const many = Array.from({ length: 2000 }).fill(large()) as string[];
  const first = file("first.jsonl", session(3));
  for (const [signal, expected] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    const child = spawn(process.execPath, [COMMAND, "replay", first, ...many]);
    const closed = once(child, "close");
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (chunk) => {
      if (stdout === "") child.kill(signal);
      stdout += chunk;
    });
    const stderr = text(child.stderr);
    const [code, ended] = await closed;
    // Between two files nothing runs that could be half done: there the signal itself ends the process.
    if (ended !== signal) assert.deepEqual([code, await stderr], [expected, `pi-watchdog: ended by ${signal}\n`]);
    assert.match(stdout, /1 finding in 1 incident/);
    const reports = stdout.match(/^\S+\.jsonl$/gm)?.length ?? 0;
    assert.ok(reports >= 1 && reports < many.length, `${reports} reports`);
    assert.ok(stdout.endsWith("incident.\n") || stdout.endsWith("Nothing found.\n"), "the last report is whole");
  }
});

test("a signal ends a replay, cases and a scan, and is answered with its reason", async () => {
  const path = large();
  const reason = new Error("enough");
  for (const start of [replayFile, replayCases, scanFolder]) {
    const before = AbortSignal.abort(reason);
    await assert.rejects(start(path, { signal: before }), reason);
    const controller = new AbortController();
    const running = start(start === scanFolder ? directory : path, { signal: controller.signal });
    controller.abort(reason);
    await assert.rejects(running, reason);
    await assert.rejects(start(path, { signal: "no" as never }), TypeError);
  }
  const unused = new AbortController();
  assert.equal((await replayFile(path, { signal: unused.signal })).kind, "session");
});

test("a scan that is ended says so and no more is read", async () => {
  const folder = join(directory, "ended");
  mkdirSync(folder);
  for (let index = 0; index < 500; index += 1) writeFileSync(join(folder, `${index}.jsonl`), session(6));
  const controller = new AbortController();
  const seen: number[] = [];
  const onProgress = ({ files }: { files: number }) => {
    seen.push(files);
    controller.abort();
  };
  await assert.rejects(scanFolder(folder, { onProgress, signal: controller.signal }), { name: "AbortError" });
  assert.equal(seen.length, 1, "no progress is reported after the end");
});

test("a program that exits does not wait for its replays", async () => {
  const count = 400;
  // Prints what one replay takes, and then exits while many are under way.
  const script = `
    import { replayFile } from ${JSON.stringify(new URL("../../index.js", import.meta.url).href)};
    const [, path] = process.argv;
    const before = performance.now();
    await replayFile(path);
    process.stdout.write(String(performance.now() - before));
    for (let index = 0; index < ${count}; index += 1) replayFile(path);
    setImmediate(() => {
      process.stdout.write(" ");
      process.exit(7);
    });`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script, large()]);
  const closed = once(child, "close");
  let stdout = "";
  let exitedAt = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    if (chunk.endsWith(" ")) exitedAt = performance.now();
  });
  assert.deepEqual(await closed, [7, null]);
  // A replay that goes on has all cores, so all of them would take so long.
  const all = Number(stdout) * count;
  const waited = performance.now() - exitedAt;
  assert.ok(exitedAt > 0 && waited < all / 10, `${waited} ms, ${all} ms for all`);
});

test("garbage of every kind is answered with what is wrong, and nothing else is said", async () => {
  const entry = (id: string, parentId: string | null, content: string) =>
    JSON.stringify({ type: "message", id, parentId, message: { role: "user", content } });
  const header = JSON.stringify({ type: "session", version: 3, id: "s" });
  const garbage = [
    file("random.jsonl", Buffer.from(Array.from({ length: 100_000 }, (_, index) => (index * 7919) % 251))),
    file("blank.jsonl", "\n\n\n"),
    file("scalars.jsonl", '"x"\n[1]\nnull\n'),
    file("utf16.jsonl", Buffer.from(`\ufeff${header}\n`, "utf16le")),
    file("one-long-line.jsonl", "[".repeat(5_000_000)),
    file("all-glued.jsonl", `${header}${entry("a", null, "x")}\n`),
  ];
  const { stdout, stderr, code } = await run(["replay", ...garbage]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.equal(stderr.match(/neither a Pi session file nor a trace/g)?.length, garbage.length);
  const odd = [
    header,
    entry("a", null, "y".repeat(5_000_000)),
    `${entry("b", "a", "z")}${entry("c", "b", "z")}`,
    "[".repeat(200_000),
    "\0".repeat(1000),
    entry("d", "a", "z"),
  ];
  const some = await run(["replay", file("odd.jsonl", `${odd.join("\n")}\n`)]);
  assert.deepEqual([some.code, some.stderr], [0, ""]);
  assert.match(some.stdout, /6 lines · 2 events/);
  assert.deepEqual(some.stdout.match(/^ {2}line \d+: not usable/gm), ["  line 3: not usable", "  line 4: not usable"]);
});
