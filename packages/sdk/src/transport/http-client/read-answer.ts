import type { EventSourceMessage } from 'eventsource-parser';
import { IsthmusError } from '../../errors.js';
import { decodeLine, decodeValue } from '../../wire/codec.js';
import { isTooDeep } from '../../wire/depth.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { Decoded, DecodedError } from '../../wire/json-rpc.js';
import { firstWords, mediaType, readBody, readSome } from './bodies.js';
import type { HttpAnswer } from './dispatch.js';
import { readEvents } from './event-stream.js';
import { networkFailure, statusFailure } from './failures.js';

/** What an answer over HTTP amounted to. */
export type AnswerOutcome =
  /** What it held was handed over. */
  | { readonly kind: 'read' }
  /** Taken, without a word. */
  | { readonly kind: 'accepted' }
  | AnswerRefusal;

/** A status that is an error; with a message in its body, where there is one. */
export interface AnswerRefusal {
  readonly kind: 'refused';
  readonly status: number;
  readonly message: DecodedError | undefined;
  /** The server says when it can be asked again. */
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

/** Reads the answer to a POST. Rejects when it breaks off, is too large or is nothing that can be read. */
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
      reading.onMessage(decodeLine(body));
      return { kind: 'read' };
    }
  } catch (error) {
    throw networkFailure(error, label);
  }
  const body = await readSome(answer.body, MAX_REFUSAL_BYTES);
  if (answer.status === 202 || body.length === 0) return { kind: 'accepted' };
  const message = `${label} answered with ${type || 'something without a type'} instead of JSON: ${firstWords(body)}`;
  throw new IsthmusError('INVALID_RESULT', message, { sent: 'maybe', status: answer.status });
}

/** Whether `initialize` was refused as a server of HTTP with SSE does, and not as a modern one (LHTTP-027, VER-018). */
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
    // Not JSON: decodeLine says so.
  }
  return decodeLine(Buffer.from(data));
}

/** The body is read before the status is judged: servers of the modern era put messages there (VER-018). */
async function readRefusal(answer: HttpAnswer, { label, retryAfterMs }: Reading): Promise<AnswerRefusal> {
  const { status } = answer;
  const body = await readSome(answer.body, MAX_REFUSAL_BYTES);
  const decoded = decodeLine(body);
  const message = decoded.kind === 'error' ? { ...decoded, status } : undefined;
  const words = message ? message.error.message : firstWords(body);
  const wwwAuthenticate = answer.header('www-authenticate');
  const failure = statusFailure(label, { status, words, retryAfterMs, wwwAuthenticate });
  const mayTryLater = (status === 429 || status === 503) && retryAfterMs !== undefined;
  return { kind: 'refused', status, message, mayTryLater, failure };
}

const MAX_REFUSAL_BYTES = 1024 * 1024;
