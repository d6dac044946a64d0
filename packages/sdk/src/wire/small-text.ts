/**
 * The text of small messages, without `JSON.stringify` for what is the same in each of them: it takes two to three times
 * as long for a call of a tool. The text is the one that `JSON.stringify` makes. Everything unusual is left to that.
 */
import type { JsonObject, JsonRpcMessage, RequestId } from './json-rpc.js';

/** The text of objects that are sent with many requests and never change. */
const kept = new WeakMap<object, string>();
let lastKept: object | undefined;
let lastText = '';

/** From now on a request with this object as its `_meta` is written with this text for it. The object must not change. */
export function keepMetaText(meta: JsonObject, text: string): void {
  kept.set(meta, text);
}

/** A request with plain params; undefined for any other message. */
export function encodeRequest(message: JsonRpcMessage): string | undefined {
  if (!('method' in message && 'id' in message) || message.params === undefined) return undefined;
  const { id, method, params } = message;
  if (!isPlain(params)) return undefined;
  let members = '';
  for (const name in params) {
    if (!Object.hasOwn(params, name)) continue;
    const value = params[name];
    const text = typeof value === 'string' ? quoted(value) : textOf(name, value);
    if (text === NOT_PLAIN) return undefined;
    if (text === undefined) continue;
    members += members === '' ? `${quoted(name)}:${text}` : `,${quoted(name)}:${text}`;
  }
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${quoted(method)},"params":{${members}}}`;
}

/** A result that is one text and nothing else, as most tools answer; undefined for any other result. */
export function encodeTextResult(result: JsonObject): string | undefined {
  const { content } = result;
  if (!Array.isArray(content) || content.length !== 1 || !isPlain(result)) return undefined;
  const block: unknown = content[0];
  if (typeof block !== 'object' || block === null || !isPlain(block) || 'toJSON' in content) return undefined;
  const { type, text } = block as JsonObject;
  if (type !== 'text' || typeof text !== 'string') return undefined;
  if (!hasOnly(result, CONTENT) || !hasOnly(block, TEXT_BLOCK)) return undefined;
  return `{"content":[{"type":"text","text":${quoted(text)}}]}`;
}

export function idText(id: RequestId): string {
  return typeof id === 'number' ? String(id) : JSON.stringify(id);
}

function textOf(name: string, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (name === '_meta') {
    if (value === lastKept) return lastText;
    const text = kept.get(value);
    if (text !== undefined) {
      lastKept = value;
      lastText = text;
      return text;
    }
  }
  // It would be told its name.
  return 'toJSON' in value ? NOT_PLAIN : JSON.stringify(value);
}

/** Whether these are the members that are written, in this order. */
function hasOnly(value: object, names: readonly string[]): boolean {
  let at = 0;
  for (const name in value) {
    if (name !== names[at]) return false;
    at += 1;
  }
  return at === names.length;
}

/** Whether `JSON.stringify` writes the own members of the object, and nothing else. */
function isPlain(value: object): boolean {
  return Object.getPrototypeOf(value) === Object.prototype && !('toJSON' in value);
}

/** A JSON string. Escapes are rare in short texts; to look for them is faster than to write the text with `JSON.stringify`. */
function quoted(text: string): string {
  return text.length > LONG || UNUSUAL.test(text) ? JSON.stringify(text) : `"${text}"`;
}

/** Other characters than those of ASCII that need no escape. */
const UNUSUAL = /[^ !#-[\]-~]/;
const LONG = 1000;
const NOT_PLAIN = '';
const CONTENT = ['content'];
const TEXT_BLOCK = ['type', 'text'];
