import { connect, type Socket } from 'node:net';
import type { CheckContext } from '../../../run/check-context.js';
import { createResponseReader, type RawAnswer } from './read-responses.js';
import type { BareRequest } from './requests.js';

/** A connection on which everything is said byte by byte. */
export interface RawConnection {
  send(bytes: string | Buffer): void;
  /** The next answer, whole; undefined where none comes in time, or the connection ends before. */
  next(ms?: number): Promise<RawAnswer | undefined>;
  /** Answers that have come and were not asked for yet. */
  readonly waiting: number;
  readonly hasEnded: boolean;
  readonly ended: Promise<void>;
  close(): void;
}

/** Skips where bytes cannot be told from their envelope. Closed at the end of the check. */
export async function openRaw(table: CheckContext): Promise<RawConnection> {
  const { target, clock } = table;
  if (target.transport !== 'http') return table.skip('the target is not at a URL');
  const { url } = target;
  if (url.protocol !== 'http:') return table.skip('bytes are only laid by hand on plain HTTP');
  const peer = table.openHttp();
  const socket = await connected(url);
  socket.on('error', () => {});
  table.atEnd(() => socket.destroy());
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
    async next(ms = table.patience.answerMs) {
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

/** The bytes of a request; `headers` replace those that it has, `undefined` leaves one out. */
export function bytesOf(
  table: CheckContext,
  { body, headers }: BareRequest,
  change: {
    readonly line?: string;
    readonly headers?: Readonly<Record<string, string | undefined>>;
    readonly body?: string | Buffer;
  } = {},
): Buffer {
  const { target } = table;
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
