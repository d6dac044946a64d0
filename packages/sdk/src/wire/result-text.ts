import { isJsonObject, isRequestId, type JsonObject, type RequestId } from './json-rpc.js';

/**
 * The text that a large result came in. A bridge that passes the result on does not write it anew:
 * that costs more than reading it.
 */
const texts = new WeakMap<JsonObject, ObjectText>();
/** False until the first large result has come: then there is nothing to look up. */
let hasAny = false;

/**
 * The members of an object without its braces, in three parts: what was put before and after the text that came. Joined
 * they would be one string, and whatever looks into that makes V8 copy all of it.
 */
interface ObjectText {
  readonly before: string;
  readonly came: string;
  readonly after: string;
}

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
    keep(result, { before: '', came: own.trim().slice(1, -1), after: '' });
    return { id, result };
  } catch {
    return undefined;
  }
}

export function hasText(result: JsonObject): boolean {
  return hasAny && texts.has(result);
}

/** The text in parts that make it up together. The large one is as it came: no copy has been made of it. */
export function textPartsOf(result: JsonObject): readonly [string, string, string] | undefined {
  const text = hasAny ? texts.get(result) : undefined;
  return text && [`{${text.before}`, text.came, `${text.after}}`];
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
  const text = hasAny ? texts.get(result) : undefined;
  const rest = text && without(result, text, change.left);
  if (!rest) return;
  const [before, after] = [membersText(change.before), membersText(change.after)];
  const isEmpty = rest.before === '' && rest.came === '' && rest.after === '';
  const between = isEmpty && (before === '' || after === '') ? '' : ',';
  keep(derived, {
    before: before === '' ? rest.before : `${before}${between}${rest.before}`,
    came: rest.came,
    after: after === '' || isEmpty ? `${rest.after}${after}` : `${rest.after},${after}`,
  });
}

/** The members without those that are left out: these are small, and stand at either end. */
function without(result: JsonObject, text: ObjectText, left: readonly string[]): ObjectText | undefined {
  let rest: ObjectText | undefined = text;
  const keys = Object.keys(result);
  const isLeft = (key: string | undefined) => key !== undefined && left.includes(key);
  while (rest && isLeft(keys[0])) {
    const member = membersText({ [keys[0]!]: result[keys[0]!] });
    rest = withoutStart(rest, keys.length > 1 ? `${member},` : member);
    keys.shift();
  }
  while (rest && isLeft(keys.at(-1))) {
    const key = keys.at(-1)!;
    const member = membersText({ [key]: result[key] });
    rest = withoutEnd(rest, keys.length > 1 ? `,${member}` : member);
    keys.pop();
  }
  // White space may be left of an object without members, and no comma can stand beside that.
  if (rest && keys.length === 0) return { before: '', came: '', after: '' };
  // One that stands in between cannot be cut out.
  return keys.some(isLeft) ? undefined : rest;
}

function withoutStart({ before, came, after }: ObjectText, member: string): ObjectText | undefined {
  const { length } = member;
  if (before.length >= length) {
    return before.startsWith(member) ? { before: before.slice(length), came, after } : undefined;
  }
  const own = length - before.length;
  return before + came.slice(0, own) === member ? { before: '', came: came.slice(own), after } : undefined;
}

function withoutEnd({ before, came, after }: ObjectText, member: string): ObjectText | undefined {
  const { length } = member;
  if (after.length >= length) {
    return after.endsWith(member) ? { before, came, after: after.slice(0, -length) } : undefined;
  }
  const end = came.length - (length - after.length);
  return end >= 0 && came.slice(end) + after === member
    ? { before, came: came.slice(0, end), after: '' }
    : undefined;
}

function membersText(members: JsonObject): string {
  return JSON.stringify(members).slice(1, -1);
}

function keep(result: JsonObject, text: ObjectText): void {
  texts.set(result, text);
  hasAny = true;
}

/** How far from the beginning a result may begin. */
const HEAD = 512;
const RESULT = '"result":';
