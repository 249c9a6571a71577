#!/usr/bin/env node
// Builds the addon into native/ when it is missing or stale. Never writes over a file that a process may have loaded:
// the new image is written aside and renamed into place.
//
//   --debug   quick to build, slower to run: for working on it. A release build that is up to date does as well
//   --force   also when it is up to date

import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { nativeDir, nativeFile, readStamp, root, sourceHash, stampFile } from "./lib/native.mjs";

/** An expected failure: the message says what to do, no stack is needed. */
export class BuildError extends Error {}

/** @returns {string | undefined} `rustc -vV`, or undefined without Rust */
function compiler() {
  const { status, stdout } = spawnSync("rustc", ["-vV"], { encoding: "utf8", cwd: root });
  return status === 0 ? stdout.trim() : undefined;
}

/** The end of cargo's messages, in which it says what is missing. */
const SAID_CHARS = 100_000;

/** The C compiler that links everything, and builds SQLite. */
const NEEDS_CC =
  "A C compiler is missing, which links the addon: install one (Debian, Ubuntu: `apt install build-essential`; Fedora: `dnf install gcc`; Alpine: `apk add build-base`; macOS: `xcode-select --install`; Windows: the Build Tools for Visual Studio), then run the command again.";

/** What to do about what cargo said. @param {string} said @param {number | null} code */
export function whyCargoFailed(said, code) {
  if (/linker `[^`]*` not found|is `[^`]*` not installed\?|failed to find tool/i.test(said)) return NEEDS_CC;
  if (/could not resolve host|failed to download|network failure/i.test(said)) {
    return "cargo could not fetch what the addon is built from (its messages are above). A network is needed once.";
  }
  return `cargo build failed (exit code ${code}); its messages are above.`;
}

/**
 * @param {{ force?: boolean, targetDir?: string, quiet?: boolean, debug?: boolean }} [options]
 * @returns {Promise<"fresh" | "built">}
 */
export async function build(options = {}) {
  const sources = sourceHash();
  const stamp = readStamp();
  const rustc = compiler();
  const profile = options.debug ? "quick" : "release";
  const unchanged =
    existsSync(nativeFile) &&
    stamp.sources === sources &&
    stamp.file === basename(nativeFile) &&
    (stamp.profile === "release" || stamp.profile === profile);
  // Without Rust on this machine, an image of the same sources is as good as it gets.
  if (unchanged && !options.force && (rustc === undefined || stamp.compiler === rustc)) return "fresh";
  if (rustc === undefined) {
    throw new BuildError(
      "Rust is missing: install it from https://rustup.rs, then run `npm run build` in this package.",
    );
  }
  const image = await compile(profile, options);
  mkdirSync(nativeDir, { recursive: true });
  const aside = join(nativeDir, `.${basename(nativeFile)}.${process.pid}`);
  try {
    copyFileSync(image, aside);
    renameSync(aside, nativeFile);
  } finally {
    rmSync(aside, { force: true });
  }
  const text = JSON.stringify({ sources, compiler: rustc, profile, file: basename(nativeFile) }, null, 2);
  writeFileSync(`${stampFile}.${process.pid}`, `${text}\n`);
  renameSync(`${stampFile}.${process.pid}`, stampFile);
  return "built";
}

/**
 * Runs cargo; its own progress goes to stderr.
 * @param {"quick" | "release"} profile
 * @param {{ targetDir?: string, quiet?: boolean }} options
 * @returns {Promise<string>} path of the shared library
 */
function compile(profile, { targetDir, quiet }) {
  const args = ["build", "--profile", profile, "--lib", "--message-format=json-render-diagnostics"];
  if (existsSync(join(root, "Cargo.lock"))) args.push("--locked");
  if (quiet) args.push("--quiet");
  const env = targetDir === undefined ? process.env : { ...process.env, CARGO_TARGET_DIR: targetDir };
  return new Promise((resolve, reject) => {
    const cargo = spawn("cargo", args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    cargo.stderr.setEncoding("utf8").on("data", (text) => {
      process.stderr.write(text);
      said = (said + text).slice(-SAID_CHARS);
    });
    /** @type {string | undefined} */
    let image;
    createInterface({ input: cargo.stdout }).on("line", (line) => {
      if (!line.startsWith("{")) return;
      const message = JSON.parse(line);
      if (message.reason !== "compiler-artifact" || !message.target.kind.includes("cdylib")) return;
      image = message.filenames.find((/** @type {string} */ name) => /\.(so|dylib|dll)$/.test(name)) ?? image;
    });
    cargo.on("error", () => reject(new BuildError("cargo could not be started: install Rust from https://rustup.rs.")));
    cargo.on("close", (code) => {
      if (code === 0 && image !== undefined) resolve(image);
      else reject(new BuildError(whyCargoFailed(said, code)));
    });
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const outcome = await build({ force: process.argv.includes("--force"), debug: process.argv.includes("--debug") });
    console.log(`addon: ${outcome === "built" ? "built" : "up to date"} (native/${basename(nativeFile)})`);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
