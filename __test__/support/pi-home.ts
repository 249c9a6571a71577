// The surroundings of a Pi process under test: an agent directory, a working directory and an environment of its own.
// Nothing of the user's own Pi, keys or settings gets in. Starts no process.

import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { atExit, type Scope } from "./cleanup.ts";
import { APIS, type Api, type ModelServer } from "./model-server.ts";

export const REPOSITORY = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** Model id of the scripted providers; the provider is named after the shape. */
export const MODEL = "scripted-1";

export const provider = (api: Api) => `local-${api}`;

export interface HomeOptions {
  /** How the watchdog gets in. `package` (default): installed, so that in-process children load it too. */
  watchdog?: "package" | "extension" | "none";
  /** Further packages (directories) and extension files. */
  packages?: string[];
  extensions?: string[];
  /** The global watchdog configuration; a string is written as it is. */
  config?: Record<string, unknown> | string;
  /** The project's watchdog configuration. */
  projectConfig?: Record<string, unknown> | string;
  /** Further Pi settings. */
  settings?: Record<string, unknown>;
  /** Files in the working directory. */
  files?: Record<string, string>;
  /** Further variables; `undefined` removes one. */
  env?: Record<string, string | undefined>;
}

export class PiHome {
  readonly root: string;
  readonly agentDir: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly #options: HomeOptions;

  constructor(server: ModelServer, scope: Scope, options: HomeOptions = {}) {
    this.#options = options;
    this.root = realpathSync(mkdtempSync(join(tmpdir(), "watchdog-test-")));
    const remove = () => rmSync(this.root, { recursive: true, force: true, maxRetries: 5 });
    const removed = atExit(remove);
    scope.after(() => {
      remove();
      removed();
    });
    this.agentDir = join(this.root, "agent");
    this.cwd = join(this.root, "work");
    const temporary = join(this.root, "tmp");
    // What Pi translated of the extension once need not be translated again for every test: that takes seconds.
    const translated = join(tmpdir(), "jiti");
    for (const directory of [this.agentDir, this.cwd, temporary, translated]) mkdirSync(directory, { recursive: true });
    symlinkSync(translated, join(temporary, "jiti"), "dir");
    this.env = {
      PATH: [dirname(process.execPath), process.env.PATH].join(delimiter),
      HOME: this.root,
      TMPDIR: temporary,
      // Node's usual place: compiling Pi anew would be half of every start.
      NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"),
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      PI_CODING_AGENT_DIR: this.agentDir,
      PI_OFFLINE: "1",
      PI_TELEMETRY: "0",
      ...options.env,
    };
    this.writeAgentFile("models.json", models(server));
    this.writeAgentFile("settings.json", this.#settings());
    if (options.config !== undefined) this.writeConfig(options.config);
    if (options.projectConfig !== undefined) this.writeProjectConfig(options.projectConfig);
    for (const [path, text] of Object.entries(options.files ?? {})) this.writeFile(path, text);
  }

  /** Arguments that every start needs besides the mode. */
  args(api: Api): string[] {
    const extensions = [...(this.#options.extensions ?? [])];
    if (this.#options.watchdog === "extension") extensions.push(join(REPOSITORY, "extension/index.ts"));
    return ["--model", `${provider(api)}/${MODEL}`, ...extensions.flatMap((path) => ["-e", path])];
  }

  writeFile(path: string, text: string): void {
    write(join(this.cwd, path), text);
  }

  writeAgentFile(path: string, content: Record<string, unknown> | string): void {
    write(join(this.agentDir, path), typeof content === "string" ? content : JSON.stringify(content, null, 2));
  }

  writeConfig(content: Record<string, unknown> | string): void {
    this.writeAgentFile("watchdog-supervisor/config.json", content);
  }

  writeProjectConfig(content: Record<string, unknown> | string): void {
    const text = typeof content === "string" ? content : JSON.stringify(content, null, 2);
    this.writeFile(".pi/watchdog-supervisor.json", text);
  }

  #settings(): Record<string, unknown> {
    const packages = [...(this.#options.packages ?? [])];
    if ((this.#options.watchdog ?? "package") === "package") packages.unshift(REPOSITORY);
    return {
      defaultProvider: provider("openai-completions"),
      defaultModel: MODEL,
      packages,
      quietStartup: true,
      enableInstallTelemetry: false,
      cacheWarming: "off",
      retry: { baseDelayMs: 1 },
      ...this.#options.settings,
    };
  }
}

/** Directory of Pi's package. `PI_UNDER_TEST`: that of another version. */
export function piPackage(): string {
  // Absolute: Pi is started in another directory than this process.
  return resolve(
    process.env.PI_UNDER_TEST ??
      join(dirname(fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent"))), ".."),
  );
}

/** Pi's command line, as npm would link it. */
export function piCli(): string {
  const directory = piPackage();
  const manifest = JSON.parse(readFileSync(join(directory, "package.json"), "utf8")) as { bin: { pi: string } };
  return join(directory, manifest.bin.pi);
}

function models(server: ModelServer): Record<string, unknown> {
  const entry = (api: Api) => [
    provider(api),
    {
      baseUrl: server.baseUrl(api),
      api,
      apiKey: "none",
      models: [
        {
          id: MODEL,
          contextWindow: 200_000,
          maxTokens: 8192,
          cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
        },
      ],
    },
  ];
  return { providers: Object.fromEntries(APIS.map(entry)) };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
