import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { createParser } from 'eventsource-parser';
import type { HttpTarget } from './targets.js';
import { createTranscript, type Frame, type WireTranscript } from './transcript.js';

/** Sends unmodified requests to a server at a URL. */
export interface HttpPeer {
  readonly transcript: WireTranscript;
  readonly url: URL;
  /** `headers` replace those of the target; `undefined` removes one. Rejects only if there is no answer. */
  request(request: PeerHttpRequest): Promise<PeerHttpAnswer>;
  close(): void;
}

export interface PeerHttpRequest {
  /** Default `POST`. */
  readonly method?: string;
  /** Default: the URL of the target. */
  readonly url?: URL;
  /** Strings and buffers are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The timeout of the status. */
  readonly ms: number;
  /** Called with every event of a stream. */
  readonly onEvent?: (event: HttpEvent) => void;
}

export interface HttpEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** An answer whose status has come. The body may be incomplete. */
export interface PeerHttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Without parameters, in lower case; empty if there is none. */
  readonly contentType: string;
  readonly isStream: boolean;
  /** Messages of the body, or of the events, so far. */
  readonly frames: readonly Frame[];
  readonly events: readonly HttpEvent[];
  /** The `retry` fields of an event stream. */
  readonly retries: readonly number[];
  /** The body so far. */
  readonly text: string;
  waitFor(match: (frame: Frame) => boolean, ms: number): Promise<Frame | undefined>;
  /** `end` if the body ended normally. */
  readonly ended: Promise<'end' | 'broken' | 'closed by us'>;
  /** Waits at most `ms` for the whole body. False if the time was not enough. */
  whole(ms: number): Promise<boolean>;
  /** Closes the connection. */
  close(): void;
}

export class NoHttpAnswer extends Error {
  override readonly name = 'NoHttpAnswer';
}

export function createHttpPeer(target: HttpTarget, clock: Clock, label = target.label): HttpPeer {
  const transcript = createTranscript(label, clock);
  const isSecure = target.url.protocol === 'https:';
  const agent = isSecure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true });
  let exchanges = 0;

  function send({
    method = 'POST',
    url = target.url,
    body,
    headers = {},
    ms,
    onEvent,
  }: PeerHttpRequest): Promise<PeerHttpAnswer> {
    const exchange = `#${++exchanges}`;
    const bytes = toBytes(body);
    const all: Record<string, string | readonly string[] | undefined> = { ...target.headers, ...headers };
    const given = Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ) as Record<string, string | string[]>;
    if (bytes !== undefined) given['content-length'] ??= String(bytes.length);
    transcript.note(`${exchange} ${method} ${url.pathname}${url.search} ${describeHeaders(headers)}`);
    if (bytes !== undefined) transcript.add('check', bytes.toString('utf8').slice(0, SHOWN_CHARS), exchange);
    const answer = new Promise<PeerHttpAnswer>((resolve, reject) => {
      const outgoing = (isSecure ? secureRequest : plainRequest)(url, { method, headers: given, agent });
      const callOff = clock.after(ms, () => {
        outgoing.destroy();
        reject(new NoHttpAnswer(`no status within ${ms} ms`));
      });
      outgoing.once('error', (error) => {
        callOff();
        reject(new NoHttpAnswer(messageOf(error), { cause: error }));
      });
      outgoing.once('response', (incoming) => {
        callOff();
        transcript.note(
          `${exchange} HTTP ${incoming.statusCode} ${incoming.headers['content-type'] ?? ''}`.trim(),
        );
        resolve(readAnswer(incoming, exchange, transcript, clock, onEvent));
      });
      outgoing.end(bytes);
    });
    // A check that ended early does not wait for this promise, and an unhandled rejection would end the process.
    answer.catch(() => {});
    return answer;
  }

  return {
    transcript,
    url: target.url,
    request: send,
    close() {
      agent.destroy();
      transcript.end();
    },
  };
}

function readAnswer(
  incoming: IncomingMessage,
  exchange: string,
  transcript: WireTranscript,
  clock: Clock,
  tell: PeerHttpRequest['onEvent'],
): PeerHttpAnswer {
  const contentType = (incoming.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase();
  const isStream = contentType === 'text/event-stream';
  const own = createTranscript(exchange, clock);
  const events: HttpEvent[] = [];
  const retries: number[] = [];
  const parts: Buffer[] = [];
  let length = 0;
  let isClosedByUs = false;
  const say = (text: string) => {
    own.add('server', text);
    transcript.add('server', text, exchange, isStream);
  };
  const parser = createParser({
    onEvent({ id, event, data }) {
      const got = { id, event, data };
      events.push(got);
      // Events with another name are not messages.
      if (data !== '' && (event === undefined || event === 'message')) say(data);
      else if (data !== '') transcript.note(`${exchange} event ${event}: ${data}`);
      tell?.(got);
    },
    onRetry: (ms) => retries.push(ms),
  });
  const decoder = new TextDecoder();
  incoming.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) parts.push(chunk);
    if (isStream) parser.feed(decoder.decode(chunk, { stream: true }));
  });
  const text = () => Buffer.concat(parts).toString('utf8');
  const ended = new Promise<'end' | 'broken' | 'closed by us'>((resolve) => {
    incoming.once('end', () => {
      if (!isStream && length > 0) say(text());
      resolve('end');
      own.end();
    });
    incoming.once('close', () => {
      resolve(isClosedByUs ? 'closed by us' : 'broken');
      own.end();
    });
    incoming.on('error', () => {});
  });
  return {
    status: incoming.statusCode ?? 0,
    headers: incoming.headers,
    contentType,
    isStream,
    frames: own.frames,
    events,
    retries,
    get text() {
      return text();
    },
    waitFor: own.waitFor,
    ended,
    async whole(ms) {
      let callOff = () => {};
      const late = new Promise<false>((resolve) => {
        callOff = clock.after(ms, () => resolve(false));
      });
      const isWhole = await Promise.race([ended.then(() => true), late]);
      callOff();
      return isWhole;
    },
    close() {
      isClosedByUs = true;
      incoming.destroy();
    },
  };
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;
const SHOWN_CHARS = 1_000_000;

function toBytes(body: unknown): Buffer | undefined {
  if (body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

function describeHeaders(headers: NonNullable<PeerHttpRequest['headers']>): string {
  return Object.entries(headers)
    .filter(([name, value]) => value !== undefined && !/^(authorization|cookie)$/i.test(name))
    .map(([name, value]) => `${name}: ${value}`)
    .join('; ');
}
