import type { DecodedResult, JsonObject, RequestId } from './json-rpc.js';
import { forgetLargeResults, hasText, LARGE_RESULT, readLargeResult } from './result-text.js';
import { encodeTextResult } from './small-text.js';

/**
 * The result that was read last, with its text. A bridge answers its client while it handles the answer of its server, and
 * sends this text again: to encode a small result takes as long as to decode it. The text is forgotten when the answer
 * is handled: from then on a program may change the object.
 */
let read: JsonObject | undefined;
let readText = '';

/** The result that is sent next, where it is another one with something before and after its members. */
let framed: JsonObject | undefined;
let framedInner: JsonObject | undefined;
let framedBefore = '';
let framedAfter = '';

/**
 * Reads an answer that is written as most peers do, and keeps the text of its result until `forgetResults`. Undefined for
 * any other text: then it is parsed as a whole. The text must not have line breaks: they would cut the message that it is
 * passed on in.
 */
export function readResult(text: string): DecodedResult | undefined {
  if (text.length >= LARGE_RESULT) return readLargeResult(text);
  return text.startsWith(RESULT_FIRST) ? readResultFirst(text) : readResultLast(text);
}

/** The answer is handled. */
export function forgetResults(): void {
  read = undefined;
  readText = '';
  framed = undefined;
  framedInner = undefined;
  forgetLargeResults();
}

/** Whether a result is sent as it was read, if it is sent now. */
export function isAsRead(result: JsonObject): boolean {
  return result === read || hasText(result);
}

/**
 * From now until the next one, `sent` is written as the members of `inner` between two texts: `"a":1,` and `,"b":2`. The
 * caller knows that `sent` has exactly these members.
 */
export function frameResult(sent: JsonObject, inner: JsonObject, before: string, after: string): void {
  framed = sent;
  framedInner = inner;
  framedBefore = before;
  framedAfter = after;
}

/** The text of a result that was read last or framed last. */
export function passedText(result: JsonObject): string | undefined {
  if (result === read) return readText;
  if (result !== framed) return undefined;
  const inner =
    framedInner === read ? readText : (encodeTextResult(framedInner!) ?? JSON.stringify(framedInner));
  framed = undefined;
  framedInner = undefined;
  const members = inner.slice(1, -1);
  const before = members.trim() === '' ? framedBefore.slice(0, -1) : framedBefore;
  return `{${before}${members}${framedAfter}}`;
}

function readResultLast(text: string): DecodedResult | undefined {
  if (!text.startsWith(ID)) return undefined;
  const end = endOfNumber(text, ID.length);
  if (!text.startsWith(RESULT, end)) return undefined;
  return readMember(text, end + RESULT.length, text.length - 1, ID.length, end);
}

function readResultFirst(text: string): DecodedResult | undefined {
  const at = text.lastIndexOf(ID_LAST);
  if (at < 0) return undefined;
  const start = at + ID_LAST.length;
  const end = endOfNumber(text, start);
  return end === text.length - 1 ? readMember(text, RESULT_FIRST.length, at, start, end) : undefined;
}

/** The result is parsed alone, so that no other member can follow it. */
function readMember(
  text: string,
  start: number,
  end: number,
  idStart: number,
  idEnd: number,
): DecodedResult | undefined {
  const isObject = text.charCodeAt(start) === OPEN && text.charCodeAt(end - 1) === CLOSE;
  if (!isObject || text.charCodeAt(text.length - 1) !== CLOSE || idEnd === idStart) return undefined;
  const own = text.slice(start, end);
  let result: JsonObject;
  try {
    result = JSON.parse(own);
  } catch {
    return undefined;
  }
  read = result;
  readText = own;
  const id: RequestId = Number(text.slice(idStart, idEnd));
  return { kind: 'result', id, result };
}

/** The end of a number that is certain to be an id: without a sign, a fraction or leading zeros. */
function endOfNumber(text: string, start: number): number {
  let end = start;
  while (isDigit(text.charCodeAt(end))) end += 1;
  const isPlain = end - start <= MAX_DIGITS && (text.charCodeAt(start) !== ZERO || end - start === 1);
  return isPlain ? end : start;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= NINE;
}

const ID = '{"jsonrpc":"2.0","id":';
const RESULT = ',"result":';
const RESULT_FIRST = '{"result":';
const ID_LAST = ',"jsonrpc":"2.0","id":';
const MAX_DIGITS = 15;
const ZERO = 48;
const NINE = 57;
const OPEN = 123;
const CLOSE = 125;
