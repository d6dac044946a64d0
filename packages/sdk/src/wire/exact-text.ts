import { isJsonObject, type JsonObject, type JsonRpcMessage } from './json-rpc.js';

/**
 * The text of objects that have to leave exactly as a person typed them: `1.0`, `1e400` and repeated keys do not survive
 * `JSON.parse` and `JSON.stringify`.
 */
const texts = new WeakMap<object, string>();
/** False until the first text is kept: until then there is nothing to look up. */
let hasAny = false;

/** From now on a request that has this object as a member of its params is written with this text for it. */
export function keepExactText(value: JsonObject, text: string): void {
  texts.set(value, text);
  hasAny = true;
}

/** A request with exact text in it; undefined for any other message. */
export function encodeExact(message: JsonRpcMessage): string | undefined {
  if (!hasAny || !('params' in message) || !isJsonObject(message.params)) return undefined;
  const { params } = message;
  const names = Object.keys(params).filter((name) => textOf(params[name]) !== undefined);
  if (names.length === 0) return undefined;
  const members = Object.entries(params).map(([name, value]) => {
    const text = textOf(value) ?? JSON.stringify(value);
    return text === undefined ? undefined : `${JSON.stringify(name)}:${text}`;
  });
  const { params: _, ...rest } = message as JsonRpcMessage & { readonly params: JsonObject };
  const written = members.filter((member) => member !== undefined).join(',');
  return `${JSON.stringify(rest).slice(0, -1)},"params":{${written}}}`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'object' && value !== null ? texts.get(value) : undefined;
}
