import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { IsthmusError } from '../../errors.js';
import { decodeLine, decodeValue } from '../../wire/codec.js';
import { isTooDeep } from '../../wire/depth.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { Decoded, DecodedError } from '../../wire/json-rpc.js';
import type { HttpAnswer } from './dispatch.js';
import { networkFailure, statusFailure } from './failures.js';

/** What was read from an HTTP answer. */
export type AnswerOutcome =
  /** Its messages were handed over. */
  | { readonly kind: 'read' }
  /** It was accepted without a message. */
  | { readonly kind: 'accepted' }
  | AnswerRefusal;

/** An error status, with the message of its body where there is one. */
export interface AnswerRefusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly message: DecodedError | undefined;
  /** The server named a time to retry after. */
  readonly mayTryLater: boolean;
  readonly failure: IsthmusError;
}

export interface Reading {
  readonly label: string;
  readonly maxBytes: number;
  readonly retryAfterMs: number | undefined;
  onMessage(message: Decoded): void;
  onEvent(event: EventSourceMessage): void;
  onRetry(ms: number): void;
  /** Waited for before more is read. */
  ready(): Promise<void> | undefined;
}

/** Reads the answer to a POST. Rejects when it is interrupted, too large or not readable. */
export async function readAnswer(answer: HttpAnswer, reading: Reading): Promise<AnswerOutcome> {
  const { label, maxBytes } = reading;
  if (answer.status < 200 || answer.status > 299) return readRefusal(answer, reading);
  const type = mediaType(answer.header('content-type'));
  try {
    if (type === 'text/event-stream') {
      await readEvents(answer.body, label, maxBytes, reading);
      return { kind: 'read' };
    }
    if (type === 'application/json' || type.endsWith('+json')) {
      const body = await readBody(answer.body, label, maxBytes);
      if (body.length === 0) return { kind: 'accepted' };
      await reading.ready();
      reading.onMessage(decodeLine(body, undefined, true));
      return { kind: 'read' };
    }
  } catch (error) {
    throw networkFailure(error, label);
  }
  const body = await readSome(answer.body, MAX_REFUSAL_BYTES);
  if (answer.status === 202 || body.length === 0) return { kind: 'accepted' };
  const message = `${label} answered with ${type || 'content without a type'} instead of JSON: ${excerptOf(body)}`;
  throw new IsthmusError('INVALID_RESULT', message, { sent: 'maybe', status: answer.status });
}

/** Whether a server of HTTP with SSE may have refused `initialize`, rather than a modern one (LHTTP-027, VER-018). */
export function mayBe2024({ status, message }: AnswerRefusal): boolean {
  if (status !== 400 && status !== 404 && status !== 405) return false;
  const code = message?.error.code ?? 0;
  return code > ErrorCode.HeaderMismatch || code < ErrorCode.UnsupportedProtocolVersion;
}

/** One message of a stream. */
export function decodeEvent({ data }: EventSourceMessage): Decoded {
  try {
    if (!isTooDeep(data)) return decodeValue(JSON.parse(data));
  } catch {
    // Not JSON. `decodeLine` returns the error for it.
  }
  return decodeLine(Buffer.from(data));
}

/** Reads the body before it judges the status, since modern servers put messages there (VER-018). */
async function readRefusal(answer: HttpAnswer, { label, retryAfterMs }: Reading): Promise<AnswerRefusal> {
  const { status } = answer;
  const body = await readSome(answer.body, MAX_REFUSAL_BYTES);
  const decoded = decodeLine(body);
  const message = decoded.kind === 'error' ? { ...decoded, status } : undefined;
  const excerpt = message ? message.error.message : excerptOf(body);
  const wwwAuthenticate = answer.header('www-authenticate');
  const failure = statusFailure(label, { status, excerpt, retryAfterMs, wwwAuthenticate });
  const mayTryLater = (status === 429 || status === 503) && retryAfterMs !== undefined;
  return { kind: 'refused', status, message, mayTryLater, failure };
}

const MAX_REFUSAL_BYTES = 1024 * 1024;

export interface EventHandlers {
  onEvent(event: EventSourceMessage): void;
  /** The server names the time to wait before the stream is reopened. */
  onRetry?(ms: number): void;
  /** Waited for before more is read. */
  ready?(): Promise<void> | undefined;
}

/**
 * Reads a stream of events to its end. Rejects when it is interrupted or when one event exceeds the limit. An unfinished
 * event is dropped (HTML standard, "Interpreting an event stream").
 */
export async function readEvents(
  body: AsyncIterable<Uint8Array>,
  label: string,
  maxBytes: number,
  handlers: EventHandlers,
): Promise<void> {
  const utf8 = new TextDecoder();
  let isTooLarge = false;
  const parser = createParser({
    maxBufferSize: maxBytes,
    onEvent: (event) => handlers.onEvent(event),
    onRetry: (ms) => handlers.onRetry?.(ms),
    onError: ({ type }) => {
      // The standard says to ignore unknown fields.
      if (type === 'max-buffer-size-exceeded') isTooLarge = true;
    },
  });
  for await (const chunk of body) {
    parser.feed(utf8.decode(chunk, { stream: true }));
    if (isTooLarge) throw tooLarge(label, maxBytes);
    await handlers.ready?.();
  }
}

/** A whole body, or `RESULT_TOO_LARGE`. */
export async function readBody(
  body: AsyncIterable<Uint8Array>,
  label: string,
  maxBytes: number,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(label, maxBytes);
    chunks.push(chunk);
  }
  const [only] = chunks;
  if (chunks.length === 1 && Buffer.isBuffer(only)) return only;
  return Buffer.concat(chunks);
}

/** The beginning of a body, for an error. Never rejects. */
export async function readSome(body: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.byteLength;
      if (size >= maxBytes) break;
    }
  } catch {
    // The part that arrived is enough.
  }
  return Buffer.concat(chunks).subarray(0, maxBytes);
}

export function tooLarge(label: string, maxBytes: number): IsthmusError {
  const message = `The answer of ${label} is longer than ${maxBytes} bytes`;
  return new IsthmusError('RESULT_TOO_LARGE', message, { sent: 'maybe' });
}

/** The media type alone, in lower case. */
export function mediaType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]!.trim().toLowerCase();
}

/** The beginning of a body that is not a message, for an error. Of an HTML page: its title and text, without tags. */
export function excerptOf(body: Buffer): string {
  const plain = withoutMarkup(body.toString('utf8', 0, MAX_EXCERPT_BYTES));
  const text = plain
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replaceAll('\uFFFD', '')
    .trim();
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text;
}

/**
 * Replaces each tag, script and style by a space. An upstream controls this text, so the loop visits each character
 * once, and an unclosed tag extends to the end (S1: a pattern took 68 s for 200,000 times `<`).
 */
function withoutMarkup(page: string): string {
  const lower = page.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  let text = '';
  let at = 0;
  while (at < page.length) {
    const open = page.indexOf('<', at);
    if (open < 0) return text + page.slice(at);
    text += page.slice(at, open);
    if (!TAG_START.test(page.charAt(open + 1))) {
      text += '<';
      at = open + 1;
      continue;
    }
    text += ' ';
    const hidden = HIDDEN.find((name) => lower.startsWith(name, open + 1));
    const from = hidden === undefined ? open : lower.indexOf(`</${hidden}`, open);
    const close = from < 0 ? -1 : page.indexOf('>', from);
    if (close < 0) return text;
    at = close + 1;
  }
  return text;
}

const TAG_START = /[a-z/!?]/i;
/** Elements whose content is not readable text. */
const HIDDEN = ['script', 'style'] as const;
const MAX_EXCERPT_BYTES = 64 * 1024;
const MAX_EXCERPT = 200;
