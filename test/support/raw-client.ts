import { PassThrough } from 'node:stream';
import type { Connection, Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
import { PATIENCE_MS } from './until.js';

/** A message as it stood on the line. */
export interface Message {
  readonly jsonrpc?: string;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: unknown };
}

/** A client that knows nothing: it writes what it is told and shows what it reads. */
export interface RawClient {
  /** Writes one JSON message. */
  send(message: object): void;
  /** Writes one line, whatever it says. */
  sendLine(line: string): void;
  /** The next message; fails when none comes or the server has closed. */
  next(): Promise<Message>;
  /** Lets everything that is under way finish; gives what came meanwhile and was not read with `next`. */
  settle(): Promise<Message[]>;
  /** Ends the input; answers still arrive. */
  end(): void;
  /** The client is gone, without a word. */
  vanish(): void;
  /** Settles when the server has closed its side. */
  readonly closed: Promise<void>;
}

export interface StreamLink extends Listener {
  connect(options?: { principal?: string }): RawClient;
}

/** Byte streams inside one process: the same path as stdio and sockets, without the operating system. */
export function streamLink(): StreamLink {
  let accept: ((connection: Connection) => void) | undefined;
  let stopped: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  return {
    ownsProcess: false,
    async listen(onConnection) {
      accept = onConnection;
      return {
        address: 'test',
        ended,
        async stop() {
          accept = undefined;
          stopped();
        },
      };
    },
    connect({ principal } = {}) {
      const input = new PassThrough();
      const output = new PassThrough();
      const connection = createStreamConnection({
        label: 'test',
        input,
        output,
        release() {
          output.end();
        },
      });
      if (principal !== undefined) Object.defineProperty(connection, 'principal', { value: principal });
      const client = createRawClient(input, output);
      accept!(connection);
      return client;
    },
  };
}

/** Turns of the event loop after which everything in this process that waits for no timer has happened. */
export async function settle(turns = 30): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

function createRawClient(toServer: PassThrough, fromServer: PassThrough): RawClient {
  const arrived: Message[] = [];
  let wake: () => void = () => {};
  let over = false;
  let rest = '';
  fromServer.setEncoding('utf8');
  fromServer.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    for (const line of lines) arrived.push(JSON.parse(line) as Message);
    wake();
  });
  const closed = new Promise<void>((resolve) => {
    fromServer.on('end', () => {
      over = true;
      wake();
      resolve();
    });
  });
  const sendLine = (line: string) => void toServer.write(`${line}\n`);
  return {
    sendLine,
    send: (message) => sendLine(JSON.stringify(message)),
    async next() {
      const deadline = Date.now() + PATIENCE_MS;
      while (arrived.length === 0) {
        if (over) throw new Error('the server closed the connection; no message will come');
        await new Promise<void>((resolve, reject) => {
          const timer = setTimeout(
            () => reject(new Error(`no message came within ${PATIENCE_MS} ms`)),
            Math.max(0, deadline - Date.now()),
          );
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      return arrived.shift()!;
    },
    async settle() {
      await settle();
      return arrived.splice(0);
    },
    end: () => void toServer.end(),
    vanish: () => void toServer.destroy(),
    closed,
  };
}
