// The library: the published API over the native binding. Converts and checks arguments; decides nothing.

import { hostname } from "node:os";
import { loadBinding, packageVersion } from "./loader.js";
import { argumentsText, bounded, WHOLE } from "./shared/whole.js";

const native = loadBinding();

export const version = packageVersion;

/** The largest number that the addon takes. */
const MOST_BYTES = 2 ** 32 - 1;

/** A process that ends waits so long at most for its last batch; ms. */
const LAST_BATCH = 2000;

/** @param {unknown} value @param {string} name @returns {string} */
function text(value, name) {
  if (typeof value === "string") return value;
  throw new TypeError(`${name} must be a string, not ${value === null ? "null" : typeof value}`);
}

/**
 * Runs `call`; what the addon says of a wrong argument becomes a `TypeError`. Not for the hot path.
 * @template T @param {() => T} call @returns {T}
 */
function typed(call) {
  try {
    return call();
  } catch (error) {
    const { code, message } = /** @type {Error & { code?: unknown }} */ (error);
    if (code !== "InvalidArg" && !(typeof code === "string" && code.endsWith("Expected"))) throw error;
    throw Object.assign(new TypeError(message, { cause: error }), { code });
  }
}

/** @param {unknown} config */
function configText(config) {
  if (config === undefined || config === null) return "{}";
  if (typeof config === "object" && !Array.isArray(config)) return JSON.stringify(config);
  throw new TypeError("config must be an object with configuration keys, for example { repeatThreshold: 3 }");
}

// Configuration ------------------------------------------------------------------------------------------------------

export function resolveConfig(layers) {
  if (!Array.isArray(layers)) throw new TypeError("layers must be an array of { source, name, text }");
  return JSON.parse(typed(() => native.resolveConfig(JSON.stringify(layers))));
}

export function defaultConfig() {
  return JSON.parse(native.defaultConfig());
}

export function configSchema() {
  return JSON.parse(native.configSchema());
}

// Text ---------------------------------------------------------------------------------------------------------------

export function normalizeCommand(raw) {
  return native.normalizeCommand(text(raw, "raw"));
}

export function normalizeMessage(raw) {
  return native.normalizeMessage(text(raw, "raw"));
}

export function hashOutput(raw, options = {}) {
  const { maxBytes = 65536, previewLines = 20 } = options ?? {};
  const given = text(raw, "raw");
  /** @param {string} part */
  const hashed = (part) => typed(() => native.hashOutput(part, Math.min(maxBytes, MOST_BYTES), previewLines));
  // Escape sequences and overwritten lines go before the cut, and neither goes beyond a line end: when the lines up to
  // one hold enough, the rest of a long output need not be read.
  const end = given.indexOf("\n", 4 * Math.max(0, maxBytes) + 4096);
  if (end >= 0) {
    const { bytes, hash, preview } = hashed(given.slice(0, end));
    if (bytes > maxBytes - 4) return { hash, preview };
  }
  const { hash, preview } = hashed(given);
  return { hash, preview };
}

// Detection ----------------------------------------------------------------------------------------------------------

/**
 * Long texts of an event, bounded in the way of Pi's live events: what differs stays different.
 * @param {object} event @param {string} key @param {unknown} value
 */
function boundedField(event, key, value) {
  if (event[key] !== value) return value;
  if (typeof value === "string") return bounded(value);
  return key === "args" ? JSON.parse(argumentsText(value)) : value;
}

const unusedDetectors = new FinalizationRegistry((handle) => native.detectorFree(handle));
/** Most events cause nothing. */
const NOTHING = Object.freeze([]);

export class Detector {
  #handle;

  constructor(config) {
    this.#handle = native.detectorCreate(configText(config));
    unusedDetectors.register(this, this.#handle);
  }

  observe(event) {
    if (event === null || typeof event !== "object")
      throw new TypeError("event must be a trace event, see docs/trace.md");
    let json = JSON.stringify(event);
    if (json.length > WHOLE) json = JSON.stringify(event, (key, value) => boundedField(event, key, value));
    const findings = typed(() => native.detectorObserve(this.#handle, json));
    return findings.length === 0 ? NOTHING : findings;
  }

  tick(at) {
    const findings = typed(() => native.detectorTick(this.#handle, at));
    return findings.length === 0 ? NOTHING : findings;
  }

  analysis(agent) {
    return typed(() => native.detectorAnalysis(this.#handle, agent ?? ""));
  }

  reset() {
    native.detectorReset(this.#handle);
  }
}

export function analyze(events, config) {
  const detector = new Detector(config);
  const findings = [];
  let eventIndex = 0;
  for (const event of events) {
    for (const finding of detector.observe(event)) findings.push({ ...finding, eventIndex });
    eventIndex += 1;
  }
  return { findings, analysis: detector.analysis() };
}

export function detectStuck(events, config, now, sinceAt) {
  if (!Array.isArray(events)) throw new TypeError("events must be an array of compact events");
  return typed(() => native.detectStuck(events, configText(config), now ?? undefined, sinceAt ?? undefined));
}

export function shouldAlert(lastAlert, analysis, now, cooldownSec) {
  const { at, evidenceKey } = lastAlert ?? { at: Number.NaN, evidenceKey: "" };
  return typed(() => native.shouldAlert(evidenceKey, at, analysis.likelyStuck, analysis.evidenceKey, now, cooldownSec));
}

// Recorded sessions --------------------------------------------------------------------------------------------------

/** What runs now; a process that ends does not wait for it. */
const cancellers = new Set();
let cancelsAtExit = false;

/**
 * Starts work on another thread that `signal` ends, and the end of the process too: Node waits for its threads.
 * @template T @param {AbortSignal | undefined} signal @param {(canceller: object) => Promise<T>} start @returns {Promise<T>}
 */
async function cancellable(signal, start) {
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw new TypeError("signal must be an AbortSignal");
  signal?.throwIfAborted();
  const canceller = native.createCanceller();
  const cancel = () => native.cancel(canceller);
  if (!cancelsAtExit) {
    process.once("exit", () => {
      for (const running of cancellers) native.cancel(running);
    });
  }
  cancelsAtExit = true;
  cancellers.add(canceller);
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const result = await start(canceller);
    signal?.throwIfAborted();
    return result;
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancellers.delete(canceller);
  }
}

export async function replayFile(path, options = {}) {
  const { config, signal } = options ?? {};
  const settings = configText(config);
  const report = await cancellable(signal, (canceller) => native.replayFile(text(path, "path"), settings, canceller));
  const { tokens, usd, findings, ...rest } = report;
  return {
    file: path,
    ...rest,
    findings: findings.map(({ finding, ...place }) => ({ ...finding, ...place })),
    usage: { tokens, usd },
  };
}

export async function replayCases(path, options = {}) {
  const { config, signal } = options ?? {};
  const settings = configText(config);
  return cancellable(signal, (canceller) => native.replayCases(text(path, "path"), settings, canceller));
}

export async function scanFolder(path, options = {}) {
  const { config, since, costliest = 10, onProgress, signal } = options ?? {};
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Number(since);
  if (Number.isNaN(from)) throw new TypeError("since must be a Date or milliseconds since the epoch");
  let done = false;
  const listener =
    onProgress && (([files, bytes, totalBytes]) => done || signal?.aborted || onProgress({ files, bytes, totalBytes }));
  const settings = configText(config);
  const report = await cancellable(signal, (canceller) =>
    native.scanFolder(text(path, "path"), settings, from, costliest, canceller, listener),
  ).finally(() => {
    // The last calls may be on their way still, or have found no room.
    done = true;
  });
  onProgress?.({ files: report.files, bytes: report.bytes, totalBytes: report.bytes });
  const { tokens, usd, costliest: sessions, ...rest } = report;
  return {
    folder: path,
    ...rest,
    usage: { tokens, usd },
    costliest: sessions.map(({ tokens, usd, ...session }) => ({ ...session, usage: { tokens, usd } })),
  };
}

// The store ----------------------------------------------------------------------------------------------------------

export const Signal = Object.freeze({ VERDICT: 1, NOTICE: 2, TREE: 4, BUSY: 8 });

export const store = Object.freeze({
  version: native.version(),
  open: (sessionId, at, info, config) => native.openTarget(sessionId, at, info, configText(config)),
  update: native.updateTarget,
  alias: native.aliasTarget,
  configure: (handle, config) => native.configureTarget(handle, configText(config)),
  end: native.endTarget,
  discard: native.discardTarget,

  observeUser: native.observeUser,
  observeAssistant: native.observeAssistant,
  observeChunk: native.observeChunk,
  observeUsage: native.observeUsage,
  observeToolCall: native.observeToolCall,
  observeToolResult: (handle, at, turn, callId, tool, output, isError, files, blockedBy) =>
    native.observeToolResult(handle, at, turn, callId, tool, bounded(output), isError, files, blockedBy),
  observeFileChange: native.observeFileChange,
  observeLifecycle: native.observeLifecycle,
  note: native.noteEvent,
  tick: native.tick,
  attachRemote: native.attachRemote,
  detachRemote: native.detachRemote,
  remoteContact: native.remoteContact,
  importEvents: native.importEvents,
  importState: native.importState,
  tickTree: native.tickTree,
  suspended: native.suspended,

  takeNotice: native.takeNotice,
  takeTreeNotice: native.takeTreeNotice,
  refusal: native.refusal,
  analysis: native.analysis,
  requestAlert: native.requestAlert,
  events: (handle, limit = 50, sinceEventId = "") => native.targetEvents(handle, limit, sinceEventId),
  target: native.target,
  treeUsage: native.treeUsage,
  targets: (rootId = "", includeCompleted = false) => native.targets(rootId, includeCompleted),
  lastCommand: native.lastCommand,
  resolve: (query, rootId = "") => native.resolveTarget(query, rootId),
  pause: native.pause,
  paused: native.paused,
  stats: native.stats,
  contentHash: native.contentHash,
});

// Processes ----------------------------------------------------------------------------------------------------------

export const processes = Object.freeze({
  peer: native.socketPeer,
  ancestry: native.processAncestry,
  start: native.processStart,
  end: native.processEnd,
});

// The history ---------------------------------------------------------------------------------------------------------

let closesAtExit = false;

export const history = Object.freeze({
  open: (path, { maxDays, maxMb }) => {
    const opened = typed(() => native.historyOpen(text(path, "path"), maxDays, maxMb, hostname()));
    // Node runs no hook of an addon when a program calls process.exit.
    if (!closesAtExit) process.once("exit", () => native.historyClose(LAST_BATCH));
    closesAtExit = true;
    return opened;
  },
  state: native.historyState,
  closeTree: native.historyCloseTree,
  flush: native.historyFlush,
  close: native.historyClose,
});

export async function readHistory(path, filter = {}) {
  const { since, limit, ...rest } = filter ?? {};
  const from = since === undefined ? undefined : Number(since);
  if (Number.isNaN(from)) throw new TypeError("since must be a Date or milliseconds since the epoch");
  if (limit !== undefined && !(Number.isInteger(limit) && limit >= 0 && limit <= 4_294_967_295))
    throw new TypeError("limit must be a whole number");
  const json = JSON.stringify({ ...rest, since: from, limit });
  return JSON.parse(await typed(() => native.historyRead(text(path, "path"), json, hostname())));
}

export async function findOrphans(path, claim = false) {
  return JSON.parse(await typed(() => native.historyOrphans(text(path, "path"), claim, hostname())));
}

export async function closeOrphans(path, sessionId = "") {
  return JSON.parse(await typed(() => native.historyCloseOrphans(text(path, "path"), sessionId, hostname())));
}
