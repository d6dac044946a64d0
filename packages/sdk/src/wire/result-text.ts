import { type DecodedResult, isJsonObject, isRequestId, type JsonObject } from './json-rpc.js';

/**
 * The original text of large results. A bridge that passes a result on sends this text again: to encode the result again
 * costs more than to decode it.
 */
let texts = new WeakMap<JsonObject, ObjectText>();
/** False until the first large result: until then there is nothing to look up. */
let hasAny = false;

/**
 * The members of an object without its braces, in three parts: the original text, and what was added before and after it.
 * They are not joined: V8 copies a joined string as soon as anything reads it.
 */
interface ObjectText {
  readonly before: string;
  readonly original: string;
  readonly after: string;
}

/** From this length on the original text is kept. */
export const LARGE_RESULT = 64 * 1024;

/**
 * Reads a large line whose last member is its result, as most peers write it, and keeps the text of the result.
 * Undefined for any other line: then it is parsed as a whole.
 */
export function readLargeResult(text: string): DecodedResult | undefined {
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
    // Parsed alone, so that no other member can follow it.
    const own = text.slice(start, end);
    const result: unknown = JSON.parse(own);
    if (!isJsonObject(result)) return undefined;
    keep(result, { before: '', original: own.trim().slice(1, -1), after: '' });
    return { kind: 'result', id, result };
  } catch {
    return undefined;
  }
}

/** From now on the results that were read are written as they are: a program may change them. */
export function forgetLargeResults(): void {
  if (!hasAny) return;
  texts = new WeakMap();
  hasAny = false;
}

export function hasText(result: JsonObject): boolean {
  return hasAny && texts.has(result);
}

/** The text in three parts. The second is the original, and was not copied. */
export function textPartsOf(result: JsonObject): readonly [string, string, string] | undefined {
  const text = hasAny ? texts.get(result) : undefined;
  return text && [`{${text.before}`, text.original, `${text.after}}`];
}

/**
 * Records that `derived` is `result` without the members `left`, and with those of `before` and `after`. Its text is made
 * from the text of the result if that is certain to be right; otherwise no text is kept.
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
  const isEmpty = rest.before === '' && rest.original === '' && rest.after === '';
  const between = isEmpty && (before === '' || after === '') ? '' : ',';
  keep(derived, {
    before: before === '' ? rest.before : `${before}${between}${rest.before}`,
    original: rest.original,
    after: after === '' || isEmpty ? `${rest.after}${after}` : `${rest.after},${after}`,
  });
}

/** The members without those that are left out, which are small and stand at either end. */
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
  // An object without members may still have white space, which must not get a comma.
  if (rest && keys.length === 0) return { before: '', original: '', after: '' };
  // A member in between cannot be cut out.
  return keys.some(isLeft) ? undefined : rest;
}

function withoutStart({ before, original, after }: ObjectText, member: string): ObjectText | undefined {
  const { length } = member;
  if (before.length >= length) {
    return before.startsWith(member) ? { before: before.slice(length), original, after } : undefined;
  }
  const own = length - before.length;
  return before + original.slice(0, own) === member
    ? { before: '', original: original.slice(own), after }
    : undefined;
}

function withoutEnd({ before, original, after }: ObjectText, member: string): ObjectText | undefined {
  const { length } = member;
  if (after.length >= length) {
    return after.endsWith(member) ? { before, original, after: after.slice(0, -length) } : undefined;
  }
  const end = original.length - (length - after.length);
  return end >= 0 && original.slice(end) + after === member
    ? { before, original: original.slice(0, end), after: '' }
    : undefined;
}

function membersText(members: JsonObject): string {
  return JSON.stringify(members).slice(1, -1);
}

function keep(result: JsonObject, text: ObjectText): void {
  texts.set(result, text);
  hasAny = true;
}

/** The result member must begin within so many characters. */
const HEAD = 512;
const RESULT = '"result":';
