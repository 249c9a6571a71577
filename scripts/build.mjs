#!/usr/bin/env node
// Builds the addon into native/ when it is missing or stale. Never writes over a file that a process may have loaded:
// the new image is written aside and renamed into place.

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

/**
 * @param {{ force?: boolean, targetDir?: string, quiet?: boolean }} [options]
 * @returns {Promise<"fresh" | "built">}
 */
export async function build(options = {}) {
  const sources = sourceHash();
  const stamp = readStamp();
  const rustc = compiler();
  const unchanged = existsSync(nativeFile) && stamp.sources === sources && stamp.file === basename(nativeFile);
  // Without Rust on this machine, an image of the same sources is as good as it gets.
  if (unchanged && !options.force && (rustc === undefined || stamp.compiler === rustc)) return "fresh";
  if (rustc === undefined) {
    throw new BuildError(
      "Rust is missing: install it from https://rustup.rs, then run `npm run build` in this package.",
    );
  }
  const image = await compile(options);
  mkdirSync(nativeDir, { recursive: true });
  const aside = join(nativeDir, `.${basename(nativeFile)}.${process.pid}`);
  try {
    copyFileSync(image, aside);
    renameSync(aside, nativeFile);
  } finally {
    rmSync(aside, { force: true });
  }
  const text = JSON.stringify({ sources, compiler: rustc, file: basename(nativeFile) }, null, 2);
  writeFileSync(`${stampFile}.${process.pid}`, `${text}\n`);
  renameSync(`${stampFile}.${process.pid}`, stampFile);
  return "built";
}

/**
 * Runs cargo; its own progress goes to stderr.
 * @param {{ targetDir?: string, quiet?: boolean }} options
 * @returns {Promise<string>} path of the shared library
 */
function compile({ targetDir, quiet }) {
  const args = ["build", "--release", "--lib", "--message-format=json-render-diagnostics"];
  if (existsSync(join(root, "Cargo.lock"))) args.push("--locked");
  if (quiet) args.push("--quiet");
  const env = targetDir === undefined ? process.env : { ...process.env, CARGO_TARGET_DIR: targetDir };
  return new Promise((resolve, reject) => {
    const cargo = spawn("cargo", args, { cwd: root, env, stdio: ["ignore", "pipe", "inherit"] });
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
      else reject(new BuildError(`cargo build failed (exit code ${code}); its messages are above.`));
    });
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const outcome = await build({ force: process.argv.includes("--force") });
    console.log(`addon: ${outcome === "built" ? "built" : "up to date"} (native/${basename(nativeFile)})`);
  } catch (error) {
    if (!(error instanceof BuildError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
