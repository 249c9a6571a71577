// The demo as a user runs it, without a terminal: its exit code and its checklist must tell what was seen.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { DEADLINE_MS, REPOSITORY } from "../support/pi.ts";

interface Ended {
  code: number;
  stdout: string;
}

function demo(...args: string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const command = [join(REPOSITORY, "demo", "run.ts"), "--fast", ...args];
    execFile(process.execPath, command, { timeout: DEADLINE_MS }, (error, stdout) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout });
    });
  });
}

test("the demo sees every step and says so", async () => {
  const { code, stdout } = await demo();
  assert.equal(code, 0, stdout);
  assert.doesNotMatch(stdout, /\[ \]/);
  assert.equal(stdout.match(/\[x\]/g)?.length, 10);
  assert.doesNotMatch(stdout, /\u001b/, "no colours in a pipe");
});

test("where the child is told nothing, the demo fails and names the steps that were not seen", async () => {
  const { code, stdout } = await demo("--alert-mode", "main_only");
  assert.equal(code, 1, stdout);
  assert.match(stdout, /\[x\] the user was told of the child at once/);
  assert.match(stdout, /\[ \] the rescue message was in the child's next model request/);
});
