// The neutral form of a model request and a scripted reply: what tests read and write, whatever the provider shape.
// Types only; each shape's translation is in wire/.

/** The provider shapes, named as in Pi's `models.json`. */
export type Api = "openai-completions" | "openai-responses" | "anthropic-messages" | "google-generative-ai";

export const APIS: readonly Api[] = [
  "openai-completions",
  "openai-responses",
  "anthropic-messages",
  "google-generative-ai",
];

export interface ToolCall {
  /** As the shape sent it; Google sends none, there it is `""`. */
  id: string;
  name: string;
  args: Record<string, unknown>;
}

export interface Message {
  /** `tool`: one result; a message that carries several is split. */
  role: "user" | "assistant" | "tool";
  /** Text of the message or of the result. */
  text: string;
  /** Calls of an assistant message. */
  toolCalls: ToolCall[];
  /** Call that a result answers; Google names the tool instead. */
  callId?: string;
}

/** What a shape's parser reads out of a request body. */
export interface ParsedRequest {
  model: string;
  system: string;
  messages: Message[];
  /** Names of the offered tools. */
  tools: string[];
}

export interface ModelRequest extends ParsedRequest {
  api: Api;
  /** Position among all requests of the server. */
  index: number;
  /** Text of the first user message: tells the conversations of several sessions apart. */
  prompt: string;
  /** Assistant messages already in the request: 0 in the first request of a conversation, also when it is sent again. */
  turn: number;
  /** Results that came after the latest assistant message. */
  toolResults: Message[];
  /** User messages that came after the latest assistant message, such as a steered one. */
  newUserTexts: string[];
  /** The body as it was sent. */
  body: unknown;
}

export interface ReplyToolCall {
  name: string;
  args?: Record<string, unknown>;
  /** Default: one that no other call of the server has. */
  id?: string;
}

export interface Usage {
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** An answer of the scripted model. Without `stopReason` it is `toolUse` when there are calls, else `stop`. */
export interface Reply {
  thinking?: string;
  text?: string;
  toolCalls?: ReplyToolCall[];
  usage?: Usage;
  stopReason?: "stop" | "length" | "toolUse";
  /** An HTTP failure instead of an answer. */
  error?: { status: number; message: string };
  /** ms before each piece of the content: a slow stream. */
  pace?: number;
  /** Keeps the stream open after the content, until the client goes away. */
  hang?: boolean;
}

/** A reply with every choice made: what a shape's writer gets. */
export interface CompleteReply {
  /** Unique per reply. */
  id: string;
  model: string;
  thinking: string;
  text: string;
  toolCalls: Required<ReplyToolCall>[];
  usage: Required<Usage>;
  stopReason: "stop" | "length" | "toolUse";
}

/** What a script may keep between the requests of one conversation. */
export interface Conversation {
  /** Requests of this conversation before this one, repeated ones included. */
  calls: number;
  /** Free for the script. */
  data: Record<string, unknown>;
}

export type Script = (request: ModelRequest, conversation: Conversation) => Reply | Promise<Reply>;

/** One provider shape. */
export interface Wire {
  api: Api;
  /** Path prefix below the server's address; Pi's provider gets the address and this as `baseUrl`. */
  base: string;
  /** Whether this shape answers the path (below `base`). */
  accepts(path: string): boolean;
  parse(body: unknown, path: string): ParsedRequest;
  /** Server-sent events, ready to write; `ENDING` (of wire/sse.ts) parts the content from what ends the stream. */
  frames(reply: CompleteReply): Iterable<string>;
  /** Body of a failed answer. */
  failure(status: number, message: string): unknown;
}
