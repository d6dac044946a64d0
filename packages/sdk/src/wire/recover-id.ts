/**
 * Finds the id of a message that cannot be parsed, so that its sender gets an answer instead of a hang.
 *
 * A wrong id is worse than none, since it would settle another request. So the text is read by the grammar of an
 * object's top level, and an id counts only if damage cannot have moved it there.
 */
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from './json-rpc.js';

/** The top-level `id` of text that is not valid JSON; undefined if it is uncertain, or if the text is a response. */
export function recoverId(text: string): RequestId | undefined {
  return scanObject(text).id;
}

/**
 * The same for a line of which only both ends were kept. An id at the very end is top level, since only the outermost
 * brace follows it; but one of the ends must show that the line is a request.
 */
export function recoverIdFromEnds(head: string, tail: string): RequestId | undefined {
  const opening = scanObject(head);
  if (opening.id !== undefined) return opening.id;
  if (opening.kind === 'response' || opening.kind === 'unreadable') return undefined;
  const closing = lastMembers(tail);
  if (closing === undefined || Object.hasOwn(closing, 'result') || Object.hasOwn(closing, 'error')) {
    return undefined;
  }
  return opening.kind === 'request' || Object.hasOwn(closing, 'method') ? believed(closing['id']) : undefined;
}

/**
 * The id of the request that a damaged or oversize *answer* belongs to, so that the sender of that request does not wait
 * for ever.
 */
export function recoverAnswerId(head: string, tail = ''): RequestId | undefined {
  const opening = scanObject(head);
  if (opening.answers !== undefined || opening.kind === 'request') return opening.answers;
  const closing = lastMembers(tail);
  if (closing === undefined || Object.hasOwn(closing, 'method')) return undefined;
  return believed(closing['id']);
}

interface Findings {
  readonly id: RequestId | undefined;
  /** The same for a message that is an answer. */
  readonly answers?: RequestId | undefined;
  readonly kind: 'request' | 'response' | 'unknown' | 'unreadable';
}

/**
 * How the scan of the top level ended: at its brace (`closed`), at the end of the text (`cut`), at a character that no
 * member can start or end with (`broken`), or at a brace that cannot be the last one (`overrun`).
 */
type Ending = 'closed' | 'cut' | 'broken' | 'overrun';

/** What has been read of the top level so far. */
interface TopLevel {
  readonly text: string;
  at: number;
  key: string;
  seenMethod: boolean;
  seenParams: boolean;
  seenAnswer: boolean;
  /** True up to the first container or the first error: until then damage cannot have changed the depth. */
  certain: boolean;
  ids: number;
  id: RequestId | undefined;
  idIsCertain: boolean;
  /** No key has followed the id yet. */
  idIsLast: boolean;
}

function scanObject(text: string): Findings {
  const start = skipSpace(text, 0);
  if (text.charCodeAt(start) !== OPEN_BRACE) return { id: undefined, kind: 'unreadable' };
  const top: TopLevel = {
    text,
    at: start + 1,
    key: '',
    seenMethod: false,
    seenParams: false,
    seenAnswer: false,
    certain: true,
    ids: 0,
    id: undefined,
    idIsCertain: false,
    idIsLast: false,
  };
  let ending: Ending | undefined;
  while (ending === undefined) ending = readMember(top);
  return judge(top, ending);
}

/** Reads the next member and the comma after it, or says how the object ended. */
function readMember(top: TopLevel): Ending | undefined {
  const { text } = top;
  const keyStart = skipSpace(text, top.at);
  top.at = keyStart;
  if (keyStart === text.length) return 'cut';
  const opening = text.charCodeAt(keyStart);
  if (opening === CLOSE_BRACE) return continuesObject(text, keyStart + 1) ? 'overrun' : 'closed';
  if (opening !== QUOTE) return 'broken';
  const keyEnd = endOfString(text, keyStart);
  if (keyEnd === CUT) return 'cut';
  meetKey(top, text.slice(keyStart + 1, keyEnd - 1));

  const colon = skipSpace(text, keyEnd);
  if (colon === text.length) return 'cut';
  if (text.charCodeAt(colon) !== COLON) return 'broken';
  const start = skipSpace(text, colon + 1);
  if (start === text.length) return 'cut';
  const end = endOfValue(text, start);
  if (end === CUT) return 'cut';
  if (end === BROKEN) return 'broken';
  meetValue(top, start, end);

  const next = skipSpace(text, end);
  const code = text.charCodeAt(next);
  top.at = code === COMMA ? next + 1 : next;
  if (code === QUOTE) top.certain = false; // the next key, and the comma before it is missing
  return code === COMMA || code === QUOTE || code === CLOSE_BRACE || next === text.length
    ? undefined
    : 'broken';
}

function meetKey(top: TopLevel, key: string): void {
  top.key = key;
  top.idIsLast = false;
  if (key === 'method') top.seenMethod = true;
  else if (key === 'params') top.seenParams = true;
  else if (key === 'result' || key === 'error') top.seenAnswer = true;
}

function meetValue(top: TopLevel, start: number, end: number): void {
  // Once there is a certain id, an uncertain one must be a nested id that damage has moved to the top level.
  if (top.key === 'id' && (top.certain || !top.idIsCertain)) {
    top.ids++;
    top.id = parseId(top.text, start, end);
    top.idIsCertain = top.certain;
    top.idIsLast = true;
  }
  const code = top.text.charCodeAt(start);
  if (start === end || code === OPEN_BRACE || code === OPEN_BRACKET) top.certain = false;
}

function judge(top: TopLevel, ending: Ending): Findings {
  const { seenMethod, seenParams, seenAnswer, ids, id, idIsCertain, idIsLast } = top;
  // Damage right after the id may have cut it short, as in `"id":1 2`.
  const isWhole = ending !== 'broken' || !idIsLast;
  const isTopLevel = idIsCertain || ending === 'closed' || ending === 'cut';
  const trusted = ids === 1 && isWhole && isTopLevel ? id : undefined;
  if (!seenMethod && (seenAnswer || (ending !== 'cut' && mentionsAnswer(top.text, top.at)))) {
    return { id: undefined, answers: trusted, kind: 'response' };
  }
  return {
    id: trusted,
    kind: ending === 'broken' ? 'unreadable' : seenMethod || seenParams ? 'request' : 'unknown',
  };
}

const TAB = 9;
const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

/** Instead of an index: the text ended first, or is not JSON. */
const CUT = -1;
const BROKEN = -2;

function isSpace(code: number): boolean {
  return code === SPACE || code === TAB || code === NEWLINE || code === CARRIAGE_RETURN;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (isSpace(text.charCodeAt(at))) at++;
  return at;
}

/** There may be one closing brace too many further in; then more of the message follows this one. */
function continuesObject(text: string, from: number): boolean {
  const code = text.charCodeAt(skipSpace(text, from));
  return code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET;
}

/** The index after the value; the same index if there is no value (`"a":,`). */
function endOfValue(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === QUOTE) return endOfString(text, at);
  if (code === OPEN_BRACE || code === OPEN_BRACKET) return endOfContainer(text, at);
  if (code === COMMA || code === CLOSE_BRACE) return at;
  return endOfBareWord(text, at);
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return CUT;
}

function endOfContainer(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at) - 1;
      if (at < 0) return CUT;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth++;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      if (--depth === 0) return at + 1;
    } else if (code === BACKSLASH) {
      // Only strings have backslashes: before this one a quote is missing or doubled.
      return BROKEN;
    }
  }
  return CUT;
}

/** Numbers and literals, also those that JSON does not have: `Infinity`, `undefined`, `0x1F`. */
function endOfBareWord(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isSpace(code) || code === COMMA || code === CLOSE_BRACE || code === QUOTE) {
      return at === start ? BROKEN : at;
    }
    if (code === COLON || code === BACKSLASH || code === CLOSE_BRACKET) return BROKEN;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) return BROKEN;
  }
  return CUT;
}

function parseId(text: string, start: number, end: number): RequestId | undefined {
  const raw = text.slice(start, end);
  if (text.charCodeAt(start) !== QUOTE) return INTEGER.test(raw) ? believed(Number(raw)) : undefined;
  try {
    return believed(JSON.parse(raw));
  } catch {
    return undefined;
  }
}

/** Bounded, so it cannot backtrack; 16 digits hold every safe integer. */
const INTEGER = /^-?(?:0|[1-9][0-9]{0,15})$/;

function believed(value: unknown): RequestId | undefined {
  // U+FFFD replaces bytes that could not be decoded.
  if (!isRequestId(value) || (typeof value === 'string' && value.includes('\uFFFD'))) return undefined;
  return value;
}

/** After damage the level is unknown; if the rest may be an answer, the message counts as one. */
function mentionsAnswer(text: string, from: number): boolean {
  return text.includes('"result"', from) || text.includes('"error"', from);
}

/** The members from the last `"id"` on, when they and the outermost closing brace are all that follows. */
function lastMembers(tail: string): JsonObject | undefined {
  const start = tail.lastIndexOf('"id"');
  if (start === -1 || !tail.slice(0, start).trimEnd().endsWith(',')) return undefined;
  try {
    const members: unknown = JSON.parse(`{${tail.slice(start)}`);
    return isJsonObject(members) ? members : undefined;
  } catch {
    return undefined;
  }
}
