// Follows the demo from outside: the requests that the model server got and the events that Pi wrote. Shows each as it
// happens, and ticks the steps that they prove.

import type { Lab, ModelRequest, PiRecord, PiRpc, Reply } from "../__test__/support/pi.ts";
import { FRUITLESS, isChild, isRescued, RESCUE } from "./actors.ts";
import type { Checklist } from "./checklist.ts";
import type { Screen } from "./screen.ts";

export class Observer {
  /** Agent id by which the main agent knows its child. */
  agentId: string | undefined;

  readonly #screen: Screen;
  readonly #checklist: Checklist;
  #repeats = 0;
  #rescues = 0;
  #mainCalls = 0;
  #alerts = 0;

  constructor(screen: Screen, checklist: Checklist) {
    this.#screen = screen;
    this.#checklist = checklist;
  }

  follow(lab: Lab, pi: PiRpc): void {
    lab.server.onRequest((request) => (isChild(request) ? this.#child(request) : this.#main(request)));
    lab.server.onReply((request, reply) => {
      if (isChild(request)) this.#childSays(reply);
    });
    pi.onRecord((record) => this.#record(record));
  }

  #child(request: ModelRequest): void {
    const screen = this.#screen;
    if (request.turn === 0) screen.event("child", `starts: ${request.prompt}`);
    for (const result of request.toolResults) screen.event("child", `→ ${result.text || "(nothing)"}`);
    const last = request.messages.findLast(({ role }) => role === "assistant");
    if (last?.toolCalls[0]?.args.command === FRUITLESS) this.#repeats += 1;
    if (this.#repeats === 3) this.#checklist.tick("looped", `${FRUITLESS}, three times`);
    if (!isRescued(request)) return;
    this.#rescues += 1;
    screen.event("watchdog", "the rescue message is in the child's model request:");
    screen.block(request.newUserTexts.find((text) => text.includes(RESCUE)) ?? "", "watchdog");
    if (this.#rescues === 1 && this.#repeats >= 3) {
      this.#checklist.tick("rescued", `request ${request.turn + 1} of the child`);
    }
  }

  #childSays({ text, toolCalls }: Reply): void {
    if (text !== undefined) this.#screen.event("child", `“${text}”`);
    for (const { name, args } of toolCalls ?? []) {
      this.#screen.event("child", name === "bash" ? `$ ${args?.command}` : `${name} ${args?.path}`);
    }
  }

  /** The child's last word shows that it went another way and ended. */
  childEnded(requests: readonly ModelRequest[]): void {
    const rescuedAt = requests.findIndex(isRescued);
    const after = requests
      .slice(rescuedAt + 1)
      .map((request) => request.messages.findLast(({ role }) => role === "assistant")?.toolCalls[0]?.args);
    const other = after.filter((args) => args !== undefined && args.command !== FRUITLESS);
    if (rescuedAt > 0 && other.length >= 2 && this.#rescues === 1) {
      this.#checklist.tick("recovered", `${other.length} other calls after the rescue`);
    }
  }

  #main(request: ModelRequest): void {
    this.#mainCalls += 1;
    const alert = request.newUserTexts.find((text) => text.includes("[Watchdog Alert]"));
    if (alert === undefined) return;
    this.#alerts += 1;
    this.#screen.event("watchdog", "the alert is in the main agent's model request");
  }

  /** `calls`: what the main agent makes without a watchdog. */
  mainEnded(calls: number): void {
    if (this.#mainCalls === calls && this.#alerts === 0)
      this.#checklist.tick("undisturbed", `${calls} model calls in all`);
  }

  #record(record: PiRecord): void {
    if (record.type === "tool_execution_end" && record.toolName === "Agent" && record.isError === false) {
      this.agentId = record.result.details.agentId;
      this.#screen.event("main", `started sub-agent ${this.agentId} in the background`);
      this.#checklist.tick("spawned", this.agentId);
    }
    if (record.type === "extension_ui_request" && record.method === "notify") this.#notified(String(record.message));
    if (record.type !== "message_end") return;
    const { message } = record;
    if (message.role === "assistant") {
      for (const block of message.content) if (block.type === "text") this.#screen.event("main", `“${block.text}”`);
    } else if (message.role === "custom") this.#custom(message);
  }

  #custom(message: PiRecord["message"]): void {
    const text = typeof message.content === "string" ? message.content : message.content[0].text;
    if (message.customType === "subagent-notification") {
      const { description, status, resultPreview } = message.details;
      this.#screen.event("main", `hears that “${description}” has ended (${status}): ${resultPreview}`);
    }
    if (message.customType === "watchdog-alert") this.#screen.block(text, "watchdog");
  }

  #notified(text: string): void {
    if (!text.startsWith("Watchdog:")) return;
    this.#screen.event("watchdog", "shows the user:");
    this.#screen.block(text, "watchdog");
    if (/may be stuck/.test(text)) this.#checklist.tick("alerted", text.slice("Watchdog: ".length).split(";")[0] ?? "");
  }
}
