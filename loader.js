// Finds the native addon and makes sure that a process has one of it: the store is a static of the image, so two images
// would be two stores. Knows nothing of what the addon offers, except its version.
//
// Who comes first wins: the first binding of a thread is published on `globalThis`, where later copies of this package
// find it, and an image that another thread of the process has mapped is loaded again by its own path.

import { closeSync, existsSync, fstatSync, openSync, readFileSync, readSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const PACKAGE = "pi-watchdog-supervisor";
const PUBLISHED = Symbol.for("pi-watchdog-supervisor:native/v1");
const IMAGE = /^pi-watchdog-supervisor\.[a-z0-9]+-[a-z0-9]+(-musl)?\.node$/;

/**
 * @typedef {{ version(): string } & Record<string, any>} NativeBinding
 * @typedef {{ version: string, path: string, binding: NativeBinding }} Published
 */

/** Version of this copy of the package. @type {string} */
export const packageVersion = JSON.parse(readFileSync(new URL("./package.json", import.meta.url), "utf8")).version;

/**
 * File names of the addon on this machine, the likelier one first.
 * @returns {string[]}
 */
export function nativeFileNames() {
  return platforms().map((platform) => `${PACKAGE}.${platform}.node`);
}

function platforms() {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform !== "linux") return [platform];
  return mappedFiles().some((path) => basename(path).startsWith("ld-musl-"))
    ? [`${platform}-musl`]
    : [platform, `${platform}-musl`];
}

/**
 * The addon, one per process. Throws an `Error` that says what to do when there is none or when an incompatible version
 * of it is loaded.
 * @returns {NativeBinding}
 */
export function loadBinding() {
  return current().binding;
}

/**
 * What is loaded, and a sentence for the user when that is another version than this copy of the package.
 * @returns {{ version: string, path: string, warning?: string }}
 */
export function bindingInfo() {
  const { version, path } = current();
  if (version === packageVersion) return { version, path };
  const warning = `${PACKAGE} ${packageVersion} runs on the addon ${version} that this process loaded before. Restart Pi to use the new one.`;
  return { version, path, warning };
}

/** @type {Published | undefined} */
let loaded;

function current() {
  loaded ??= load();
  return loaded;
}

/** @returns {Published} */
function load() {
  const shared = /** @type {Record<symbol, unknown>} */ (/** @type {unknown} */ (globalThis));
  const published = shared[PUBLISHED];
  if (isPublished(published) && compatible(published.version)) return published;
  const own = loadImage();
  // A copy of another major version keeps its own store and leaves the published one to its users.
  if (published === undefined) shared[PUBLISHED] = own;
  return own;
}

/** @returns {Published} */
function loadImage() {
  for (const path of imagesOfThisProcess()) {
    try {
      const image = open(path);
      if (compatible(image.version)) return image;
    } catch {
      // Mapped by something else, or going away: what lies beside this file decides.
    }
  }
  const path = findImage();
  let image;
  try {
    image = open(path);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`The addon of ${PACKAGE} cannot be loaded (${reason}). ${remedy()}`);
  }
  if (!compatible(image.version)) {
    // The system hands back the image that is already loaded from this path, whatever lies there now.
    throw new Error(
      `The addon at ${path} is of version ${image.version}, and this is ${PACKAGE} ${packageVersion}. If it was updated while Pi ran, restart Pi. ${remedy()}`,
    );
  }
  return image;
}

/**
 * @param {string} path
 * @returns {Published}
 */
function open(path) {
  if (isCutOff(path)) throw new Error(`${path}: the file is cut off`);
  const module = { exports: /** @type {NativeBinding} */ ({}) };
  // Not `require`: an image that was replaced on disk can still be opened by its name.
  process.dlopen(module, path);
  const binding = module.exports;
  return { version: binding.version(), path, binding };
}

/**
 * Whether an ELF file ends before its section table, which is the last thing in it. Loading the rest of such a file
 * (a copy that was interrupted, a full disk) ends the process by a signal that nobody can catch.
 * @param {string} path
 */
function isCutOff(path) {
  if (process.platform !== "linux" || !existsSync(path)) return false;
  const header = Buffer.alloc(64);
  const file = openSync(path, "r");
  try {
    const read = readSync(file, header, 0, header.length, 0);
    if (read < header.length || header.readUInt32BE(0) !== 0x7f454c46 || header[4] !== 2 || header[5] !== 1)
      return false;
    const end = header.readBigUInt64LE(40) + BigInt(header.readUInt16LE(58) * header.readUInt16LE(60));
    return BigInt(fstatSync(file).size) < end;
  } finally {
    closeSync(file);
  }
}

/** @returns {string} */
function findImage() {
  const beside = nativeFileNames().map((name) => fileURLToPath(new URL(`./native/${name}`, import.meta.url)));
  const found = beside.find((path) => existsSync(path)) ?? platformPackage();
  if (found !== undefined) return found;
  throw new Error(`The addon of ${PACKAGE} is missing for ${platforms()[0]}. ${remedy()}`);
}

/** @returns {string | undefined} */
function platformPackage() {
  const require = createRequire(import.meta.url);
  for (const platform of platforms()) {
    try {
      return require.resolve(`${PACKAGE}-${platform}`);
    } catch {
      // Not installed.
    }
  }
  return undefined;
}

/**
 * A clone that somebody works in has the lock file and is nobody's dependency. Pi keeps packages from git in its own
 * folder: they have the lock file too, and what else `setup` installs is of no use there.
 */
function remedy() {
  const folder = fileURLToPath(new URL(".", import.meta.url));
  const installed = /[\\/](node_modules|\.pi[\\/](.*[\\/])?git)[\\/]/.test(folder) || isPackageOfPi(folder);
  const clone = !installed && existsSync(new URL("./package-lock.json", import.meta.url));
  const script = clone ? "setup" : "build";
  return `Run \`npm run ${script}\` in ${folder} to build it (needs Rust, https://rustup.rs).`;
}

/** @param {string} folder */
function isPackageOfPi(folder) {
  const agentDir = process.env.PI_CODING_AGENT_DIR;
  return agentDir !== undefined && agentDir !== "" && folder.startsWith(join(agentDir, "git"));
}

/** @returns {string[]} */
function imagesOfThisProcess() {
  return mappedFiles().filter((path) => IMAGE.test(basename(path)));
}

/**
 * Files that are mapped as shared objects into this process. Empty where that cannot be told cheaply.
 * @returns {string[]}
 */
function mappedFiles() {
  if (process.platform === "linux") {
    try {
      return parseMaps(readFileSync("/proc/self/maps", "utf8"));
    } catch {
      return [];
    }
  }
  // The report costs milliseconds. Only a worker thread can be in a process that has the image but not the binding.
  if (isMainThread || process.report === undefined) return [];
  const report = /** @type {NodeJS.ProcessReport & { excludeNetwork: boolean }} */ (process.report);
  report.excludeNetwork = true;
  const { sharedObjects } = /** @type {{ sharedObjects?: string[] }} */ (report.getReport());
  return sharedObjects ?? [];
}

/**
 * @param {string} text
 * @returns {string[]}
 */
function parseMaps(text) {
  const paths = new Set();
  for (const line of text.split("\n")) {
    const slash = line.indexOf("/");
    if (slash >= 0) paths.add(line.slice(slash).replace(/ \(deleted\)$/, ""));
  }
  return [...paths];
}

/**
 * @param {unknown} value
 * @returns {value is Published}
 */
function isPublished(value) {
  const { version, binding } = /** @type {Partial<Published>} */ (value ?? {});
  return typeof version === "string" && typeof binding === "object" && binding !== null;
}

/**
 * Same major version; below 1.0 the minor one counts as major, as in semver ranges.
 * @param {string} version
 */
function compatible(version) {
  const [major, minor] = version.split(".");
  const [ownMajor, ownMinor] = packageVersion.split(".");
  return major === ownMajor && (major !== "0" || minor === ownMinor);
}
