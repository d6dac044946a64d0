import { isJsonObject, isRequestId, type JsonObject, type RequestId } from './json-rpc.js';

/**
 * The text that a large result came in. Whoever hands the result on, as a bridge does, need not write it anew:
 * that costs more than reading it.
 */
const texts = new WeakMap<JsonObject, string>();
/** Where none has ever come, nobody has to look. */
let hasAny = false;

/** Shorter ones are not worth it. */
export const LARGE_RESULT = 64 * 1024;

/**
 * Reads a large line whose last member is its result, as most are written, and keeps the text of that. Undefined
 * for anything else: then it is read as a whole.
 */
export function readLargeResult(
  text: string,
): { readonly id: RequestId; readonly result: JsonObject } | undefined {
  const at = text.slice(0, HEAD).indexOf(RESULT);
  const end = text.lastIndexOf('}');
  if (at < 0 || end < at) return undefined;
  const start = at + RESULT.length;
  try {
    const head: unknown = JSON.parse(`${text.slice(0, start)}0}`);
    if (!isJsonObject(head) || Object.keys(head).length !== 3) return undefined;
    const { jsonrpc, id } = head;
    if (jsonrpc !== '2.0' || !isRequestId(id)) return undefined;
    if (text.slice(end + 1).trim() !== '') return undefined;
    // Alone, so that nothing can hide behind it.
    const own = text.slice(start, end);
    const result: unknown = JSON.parse(own);
    if (!isJsonObject(result)) return undefined;
    keep(result, own.trim());
    return { id, result };
  } catch {
    return undefined;
  }
}

export function textOf(result: JsonObject): string | undefined {
  return hasAny ? texts.get(result) : undefined;
}

/**
 * Says that `derived` is `result` without the members `left`, and with those of `before` and `after`; its text is
 * made from that of the result where this can be seen to be right, and not kept where it cannot.
 */
export function deriveText(
  result: JsonObject,
  derived: JsonObject,
  change: { readonly left: readonly string[]; readonly before: JsonObject; readonly after: JsonObject },
): void {
  const text = textOf(result);
  const inner = text === undefined ? undefined : innerText(result, text, change.left);
  if (inner === undefined) return;
  // Put together with `+` it is copied only when it is written; `join` would copy it here, too.
  let members = membersText(change.before);
  for (const part of [inner, membersText(change.after)]) {
    if (part !== '') members = members === '' ? part : `${members},${part}`;
  }
  keep(derived, `{${members}}`);
}

/** The members without those that are left out: these are small, and stand at either end. */
function innerText(result: JsonObject, text: string, left: readonly string[]): string | undefined {
  let [start, end] = [1, text.length - 1];
  const keys = Object.keys(result);
  const isLeft = (key: string | undefined) => key !== undefined && left.includes(key);
  while (isLeft(keys[0])) {
    const member = membersText({ [keys[0]!]: result[keys[0]!] }) + (keys.length > 1 ? ',' : '');
    if (!text.startsWith(member, start)) return undefined;
    start += member.length;
    keys.shift();
  }
  while (isLeft(keys.at(-1))) {
    const key = keys.at(-1)!;
    const member = (keys.length > 1 ? ',' : '') + membersText({ [key]: result[key] });
    if (!text.endsWith(member, end)) return undefined;
    end -= member.length;
    keys.pop();
  }
  // One that stands in between cannot be cut out.
  return keys.some(isLeft) ? undefined : text.slice(start, end);
}

function membersText(members: JsonObject): string {
  return JSON.stringify(members).slice(1, -1);
}

function keep(result: JsonObject, text: string): void {
  texts.set(result, text);
  hasAny = true;
}

/** How far from the beginning a result may begin. */
const HEAD = 512;
const RESULT = '"result":';
