// Where the addon lies and what it was built from. Node built-ins only: it runs before anything is installed, on any
// Node from 18 on.

import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { nativeFileNames } from "../../loader.js";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const nativeDir = join(root, "native");
/** The name that a build on this machine gets. */
export const nativeFile = join(nativeDir, nativeFileNames()[0]);
const stampFile = join(nativeDir, "build.json");

/** SHA-256 over everything of ours that the compiler reads. @returns {string} */
export function sourceHash() {
  const hash = createHash("sha256");
  for (const path of sources()) {
    hash.update(`${relative(root, path)}\0`);
    hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

function sources() {
  const files = ["Cargo.toml", "Cargo.lock", "build.rs", "watchdog-supervisor.schema.json"].map((name) =>
    join(root, name),
  );
  const folders = [join(root, "src")];
  for (const folder of folders) {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) folders.push(path);
      else files.push(path);
    }
  }
  return files.filter((path) => existsSync(path)).sort();
}

/** @returns {{ sources?: string, compiler?: string, profile?: string, file?: string }} */
export function readStamp() {
  try {
    return JSON.parse(readFileSync(stampFile, "utf8"));
  } catch {
    return {};
  }
}

export { stampFile };
