// A scripted model behind the four provider shapes that Pi speaks, on 127.0.0.1. It records every request in a neutral
// form, so that a test asserts on what the model was really sent. Knows nothing of Pi or of the watchdog.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Scope } from "./cleanup.ts";
import type { Api, CompleteReply, Conversation, ModelRequest, Reply, Script, Wire } from "./model-types.ts";
import { deadline } from "./wait.ts";
import { anthropic } from "./wire/anthropic.ts";
import { google } from "./wire/google.ts";
import { openaiChat } from "./wire/openai-chat.ts";
import { openaiResponses } from "./wire/openai-responses.ts";
import { ENDING } from "./wire/sse.ts";

export type * from "./model-types.ts";
export { APIS } from "./model-types.ts";

const WIRES: readonly Wire[] = [openaiChat, openaiResponses, anthropic, google];

export class ModelServer {
  /** Every request, in order of arrival. */
  readonly requests: ModelRequest[] = [];
  /** Throws of the script and paths that no shape has. `close` fails when there are any. */
  readonly failures: Error[] = [];
  /** May be replaced at any time. */
  script: Script;

  readonly #server: Server;
  readonly #conversations = new Map<string, Conversation>();
  readonly #watchers = new Set<() => void>();
  readonly #listeners = new Set<(request: ModelRequest) => void>();
  readonly #replyListeners = new Set<(request: ModelRequest, reply: Reply) => void>();
  #replies = 0;
  #calls = 0;

  private constructor(script: Script) {
    this.script = script;
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: Error) => {
        this.failures.push(error);
        // Not 5xx, which Pi would send again: a broken script should end the run.
        if (!response.headersSent) respond(response, 400, { error: { message: error.message } });
        else response.destroy();
      });
    });
  }

  /** Starts a server; with a scope it is closed when the scope ends. */
  static async start(script: Script, scope?: Scope): Promise<ModelServer> {
    const server = new ModelServer(script);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    scope?.after(() => server.close());
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** What a provider of this shape needs as `baseUrl` in `models.json`. */
  baseUrl(api: Api): string {
    const wire = WIRES.find((candidate) => candidate.api === api);
    if (wire === undefined) throw new Error(`no wire for ${api}`);
    return this.url + wire.base;
  }

  /** Requests of the conversations whose first user message contains the text. */
  requestsOf(prompt: string): ModelRequest[] {
    return this.requests.filter((request) => request.prompt.includes(prompt));
  }

  /** Called for every coming request, before the script answers it. */
  onRequest(listener: (request: ModelRequest) => void): void {
    this.#listeners.add(listener);
  }

  /** Called with every coming reply, before it is sent. */
  onReply(listener: (request: ModelRequest, reply: Reply) => void): void {
    this.#replyListeners.add(listener);
  }

  /** The first request, past or coming, that fits. */
  request(fits: (request: ModelRequest) => boolean, what: string, timeoutMs?: number): Promise<ModelRequest> {
    return deadline(
      new Promise((resolve) => {
        let seen = 0;
        const look = () => {
          for (; seen < this.requests.length; seen++) {
            const request = this.requests[seen];
            if (request !== undefined && fits(request)) {
              this.#watchers.delete(look);
              resolve(request);
              return;
            }
          }
        };
        this.#watchers.add(look);
        look();
      }),
      () => `a model request: ${what}; got ${this.requests.length} others`,
      timeoutMs,
    );
  }

  /** Closes the server and every open stream. Rejects when the script failed, so that a test cannot miss it. */
  async close(): Promise<void> {
    if (this.#server.listening) {
      const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
      this.#server.closeAllConnections();
      await closed;
    }
    const failure = this.failures.shift();
    if (failure !== undefined) throw new Error(`the model script failed: ${failure.message}`, { cause: failure });
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(incoming.url ?? "/", this.url);
    const wire = WIRES.find(({ base, accepts }) => pathname.startsWith(base) && accepts(pathname.slice(base.length)));
    if (wire === undefined) throw new Error(`no shape answers ${incoming.method} ${pathname}`);
    const body: unknown = JSON.parse(await readAll(incoming));
    const request = this.#record(wire, body, pathname.slice(wire.base.length));
    const conversation = this.#conversation(request);
    const reply = await this.script(request, conversation);
    conversation.calls += 1;
    for (const listener of this.#replyListeners) listener(request, reply);
    if (response.destroyed) return;
    if (reply.error !== undefined) {
      const { status, message } = reply.error;
      respond(response, status, wire.failure(status, message));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    let { pace } = reply;
    for (const frame of wire.frames(this.#complete(request, reply))) {
      if (frame === ENDING) {
        if (reply.hang === true) break;
        pace = undefined;
      }
      if (pace !== undefined) await delay(pace);
      if (response.destroyed) return;
      if (!response.write(frame)) await drained(response);
    }
    if (reply.hang !== true) response.end();
  }

  #record(wire: Wire, body: unknown, path: string): ModelRequest {
    const parsed = wire.parse(body, path);
    const { messages } = parsed;
    const fresh = messages.slice(messages.findLastIndex((message) => message.role === "assistant") + 1);
    const request: ModelRequest = {
      ...parsed,
      api: wire.api,
      index: this.requests.length,
      prompt: messages.find((message) => message.role === "user")?.text ?? "",
      turn: messages.filter((message) => message.role === "assistant").length,
      toolResults: fresh.filter((message) => message.role === "tool"),
      newUserTexts: fresh.filter((message) => message.role === "user").map((message) => message.text),
      body,
    };
    this.requests.push(request);
    for (const listener of this.#listeners) listener(request);
    for (const look of [...this.#watchers]) look();
    return request;
  }

  #conversation({ api, prompt }: ModelRequest): Conversation {
    const key = `${api}\n${prompt}`;
    let conversation = this.#conversations.get(key);
    if (conversation === undefined) {
      conversation = { calls: 0, data: {} };
      this.#conversations.set(key, conversation);
    }
    return conversation;
  }

  #complete(request: ModelRequest, reply: Reply): CompleteReply {
    const toolCalls = (reply.toolCalls ?? []).map((call) => ({
      name: call.name,
      args: call.args ?? {},
      id: call.id ?? `call_${++this.#calls}`,
    }));
    return {
      id: `reply_${++this.#replies}`,
      model: request.model,
      thinking: reply.thinking ?? "",
      text: reply.text ?? "",
      toolCalls,
      usage: { input: 100, output: 10, cacheRead: 0, cacheWrite: 0, ...reply.usage },
      stopReason: reply.stopReason ?? (toolCalls.length > 0 ? "toolUse" : "stop"),
    };
  }
}

function respond(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

async function readAll(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });
}
