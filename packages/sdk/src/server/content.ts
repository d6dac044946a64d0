import type { InputRequired } from '../era/input-rounds.js';
import { messageOf, ProtocolError } from '../errors.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type {
  BlobResourceContents,
  CallToolResult,
  GetPromptResult,
  InputRequests,
  PromptMessage,
  ReadResourceResult,
  TextResourceContents,
} from '../wire/model.js';
import { blockFlaw, isBlock, refuseContent, refuseMisspelledBlock } from './content-blocks.js';

/** Makes a tool result of a string, content blocks, a whole result, or any other value (as structured content). */
export function toToolResult(value: unknown, tool: string): JsonObject {
  if (value === undefined) return { content: [] };
  if (typeof value === 'string') return { content: [{ type: 'text', text: value }] };
  if (isToolResult(value, tool)) return withContent(asResult(value));
  if (isBlock(value)) return { content: [value] };
  if (Array.isArray(value) && value.length > 0 && value.every(isBlock)) return { content: value };
  refuseMisspelledBlock(value, tool);
  return { ...structured(value) };
}

/** TASK-M-082: a handler that returns the answer of another server does not begin a task with it. */
function asResult(value: JsonObject): JsonObject & Partial<CallToolResult> {
  if (value['resultType'] !== 'task') return value;
  const { resultType, ...result } = value;
  return result;
}

/** TOOL-014: a result without blocks gets its structured content as text, for clients that read only text. */
function withContent(result: JsonObject & Partial<CallToolResult>): JsonObject {
  if (result.content !== undefined) return result;
  const content = 'structuredContent' in result ? structured(result.structuredContent).content : [];
  return { ...result, content };
}

/** TOOL-014: structured content, and the same data as text for clients that read only text. */
export function structured(value: unknown): CallToolResult {
  return {
    content: [{ type: 'text', text: toJson(value) }],
    structuredContent: value as never,
  };
}

function toJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? 'null';
  } catch (error) {
    const [why] = messageOf(error).split('\n');
    throw new ProtocolError(ErrorCode.InternalError, `The result cannot be written as JSON: ${why}`);
  }
}

/** TOOL-017: a failure the model can read. */
export function toolError(message: string): JsonObject {
  return { content: [{ type: 'text', text: message }], isError: true };
}

/** Whether a value is a whole result, not data that happens to be an object. */
function isToolResult(value: unknown, tool: string): value is JsonObject & Partial<CallToolResult> {
  if (!isJsonObject(value)) return false;
  if (Array.isArray(value['content'])) {
    if (value['content'].every(isBlock)) return true;
    refuseContent(value, value['content'], tool);
    return false;
  }
  if (value['content'] !== undefined) return false;
  return (
    'structuredContent' in value || (typeof value['isError'] === 'boolean' && Object.keys(value).length === 1)
  );
}

/**
 * With an output schema plain data is expected, so only a value that cannot be data counts as a whole result: one with
 * structured content, or a failure with its text.
 */
export function isExplicitResult(
  value: unknown,
  tool: string,
): value is JsonObject & Partial<CallToolResult> {
  if (!isToolResult(value, tool)) return false;
  return 'structuredContent' in value || (value.isError === true && value.content !== undefined);
}

export type ResourceReturn =
  | string
  | Uint8Array
  | { text: string; mimeType?: string; uri?: string }
  | { blob: string; mimeType?: string; uri?: string }
  | ReadonlyArray<TextResourceContents | BlobResourceContents>
  | ReadResourceResult;

/** Makes a read result of a string, bytes, items or a whole result. Items without a URI and type get the requested ones. */
export function toReadResult(value: unknown, uri: string, mimeType: string | undefined): JsonObject {
  if (isJsonObject(value) && Array.isArray(value['contents'])) return value;
  const items = Array.isArray(value) ? value : [value];
  return { contents: items.map((item) => toResourceItem(item, uri, mimeType)) };
}

function toResourceItem(item: unknown, uri: string, mimeType: string | undefined): JsonObject {
  // An item with another URI of the collection has its own type, which may be unknown.
  const isOther = isJsonObject(item) && item['uri'] !== undefined && item['uri'] !== uri;
  const base = { uri, ...(mimeType !== undefined && !isOther && { mimeType }) };
  if (typeof item === 'string') return { ...base, text: item };
  if (item instanceof Uint8Array) return { ...base, blob: Buffer.from(item).toString('base64') };
  if (isJsonObject(item) && (typeof item['text'] === 'string' || typeof item['blob'] === 'string')) {
    return { ...base, ...item };
  }
  throw new TypeError(`The handler of resource ${uri} returned neither text nor bytes`);
}

export type PromptReturn = string | PromptMessage | readonly PromptMessage[] | GetPromptResult;

/** Makes a prompt result of messages or a whole result. A string becomes one message of the user. */
export function toPromptResult(value: unknown, name: string, description: string | undefined): JsonObject {
  const result = toMessages(value, description);
  const messages = result['messages'] as unknown[];
  for (const message of messages) {
    if (!isPromptMessage(message))
      throw new TypeError(`The handler of prompt ${name} returned something that is not a message`);
    const flaw = blockFlaw(message.content);
    if (flaw !== undefined)
      throw new TypeError(`The handler of prompt ${name} returned content that ${flaw}`);
  }
  return result;
}

function toMessages(value: unknown, description: string | undefined): JsonObject {
  if (isJsonObject(value) && Array.isArray(value['messages'])) {
    return description === undefined ? value : { description, ...value };
  }
  const messages =
    typeof value === 'string'
      ? [{ role: 'user', content: { type: 'text', text: value } }]
      : Array.isArray(value)
        ? value
        : [value];
  return { ...(description !== undefined && { description }), messages };
}

function isPromptMessage(value: unknown): value is PromptMessage {
  return isJsonObject(value) && typeof value['role'] === 'string' && isJsonObject(value['content']);
}

export type { InputRequired };

/**
 * Return this from a handler to ask the client for input and keep nothing in memory: the handler is run again with
 * `ctx.answers` (by the same keys) and `ctx.state`. In the modern era the client carries the sealed state; legacy clients
 * get real requests.
 */
export function inputRequired(round: { requests?: InputRequests; state?: unknown }): InputRequired {
  return {
    resultType: 'input_required',
    ...(round.requests !== undefined && { inputRequests: round.requests }),
    ...(round.state !== undefined && { state: round.state }),
  };
}
