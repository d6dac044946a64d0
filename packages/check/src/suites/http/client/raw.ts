import { connect, type Socket } from 'node:net';
import type { CheckContext } from '../../../run/check-context.js';
import type { BareRequest } from './requests.js';

/** A connection that sends raw bytes. */
export interface RawConnection {
  send(bytes: string | Buffer): void;
  /** The next complete answer. Undefined if none comes in time, or the connection ends. */
  next(ms?: number): Promise<RawAnswer | undefined>;
  /** The number of received answers that `next` has not returned yet. */
  readonly waiting: number;
  readonly hasEnded: boolean;
  readonly ended: Promise<void>;
  close(): void;
}

/** Skips unless the target uses plain HTTP. Closed at the end of the check. */
export async function openRaw(context: CheckContext): Promise<RawConnection> {
  const { target, clock } = context;
  if (target.transport !== 'http') return context.skip('the target is not at a URL');
  const { url } = target;
  if (url.protocol !== 'http:') return context.skip('raw bytes are sent only over plain HTTP');
  const peer = context.openHttp();
  const socket = await connected(url);
  socket.on('error', () => {});
  context.atEnd(() => socket.destroy());
  const ready: RawAnswer[] = [];
  let wake = () => {};
  let hasEnded = false;
  const reader = createResponseReader((answer) => {
    peer.transcript.add('server', `HTTP ${answer.status} ${answer.body}`);
    ready.push(answer);
    wake();
  });
  let sayEnded = () => {};
  const ended = new Promise<void>((resolve) => {
    sayEnded = resolve;
  });
  socket.on('data', (chunk: Buffer) => reader.push(chunk));
  socket.on('close', () => {
    reader.end();
    hasEnded = true;
    sayEnded();
    wake();
  });
  socket.on('end', () => socket.end());
  return {
    send(bytes) {
      peer.transcript.add('check', bytes.toString('latin1').slice(0, SHOWN_CHARS));
      if (socket.writable) socket.write(bytes);
    },
    async next(ms = context.patience.answerMs) {
      if (ready.length === 0 && !hasEnded) {
        await new Promise<void>((resolve) => {
          const callOff = clock.after(ms, resolve);
          wake = () => {
            callOff();
            resolve();
          };
        });
      }
      return ready.shift();
    },
    get waiting() {
      return ready.length;
    },
    get hasEnded() {
      return hasEnded;
    },
    ended,
    close: () => socket.destroy(),
  };
}

/** The bytes of a request. `headers` replace its headers; `undefined` removes one. */
export function bytesOf(
  context: CheckContext,
  { body, headers }: BareRequest,
  change: {
    readonly line?: string;
    readonly headers?: Readonly<Record<string, string | undefined>>;
    readonly body?: string | Buffer;
  } = {},
): Buffer {
  const { target } = context;
  const url = target.transport === 'http' ? target.url : new URL('http://nowhere');
  const bytes = Buffer.from(change.body ?? JSON.stringify(body));
  const all: Record<string, string | undefined> = {
    host: url.host,
    ...(target.transport === 'http' && target.headers),
    ...headers,
    'content-length': String(bytes.length),
    ...change.headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  const line = change.line ?? `POST ${url.pathname}${url.search} HTTP/1.1`;
  return Buffer.concat([Buffer.from(`${[line, ...lines].join('\r\n')}\r\n\r\n`, 'latin1'), bytes]);
}

const SHOWN_CHARS = 4000;

function connected({ hostname, port }: URL): Promise<Socket> {
  const socket = connect({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port || 80),
    allowHalfOpen: true,
  });
  return new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

/** One answer on a connection. */
export interface RawAnswer {
  readonly status: number;
  /** By lower-case name. The last value of a repeated header. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Parses the answers on a connection, including interim ones (100). */
function createResponseReader(onAnswer: (answer: RawAnswer) => void) {
  let held = Buffer.alloc(0);
  const take = (isEnd: boolean): boolean => {
    const end = held.indexOf('\r\n\r\n');
    if (end < 0) return false;
    const [line = '', ...fields] = held.subarray(0, end).toString('latin1').split('\r\n');
    const headers = new Map(fields.map(toField));
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? 0);
    const rest = held.subarray(end + 4);
    const read = readBody(status, headers, rest, isEnd);
    if (!read) return false;
    held = rest.subarray(read.length);
    onAnswer({ status, headers, body: read.body });
    return true;
  };
  return {
    push(chunk: Buffer): void {
      held = Buffer.concat([held, chunk]);
      while (take(false));
    },
    /** Call at the end of the connection: a body without a length is complete then. */
    end(): void {
      take(true);
    },
  };
}

interface Read {
  readonly length: number;
  readonly body: string;
}

function readBody(
  status: number,
  headers: ReadonlyMap<string, string>,
  rest: Buffer,
  isEnd: boolean,
): Read | undefined {
  if (status < 200 || status === 204 || status === 304) return { length: 0, body: '' };
  if (/chunked/i.test(headers.get('transfer-encoding') ?? '')) return readChunks(rest);
  const declared = headers.get('content-length');
  if (declared !== undefined) {
    const length = Number(declared);
    return rest.length < length ? undefined : { length, body: rest.toString('utf8', 0, length) };
  }
  return isEnd ? { length: rest.length, body: rest.toString('utf8') } : undefined;
}

function readChunks(rest: Buffer): Read | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = rest.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(rest.toString('latin1', at, lineEnd), 16);
    if (Number.isNaN(size)) return undefined;
    const start = lineEnd + 2;
    if (rest.length < start + size + 2) return undefined;
    if (size === 0) return { length: start + 2, body: Buffer.concat(parts).toString('utf8') };
    parts.push(rest.subarray(start, start + size));
    at = start + size + 2;
  }
}

function toField(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}
