import { once } from 'node:events';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Message } from './messages.js';

/** A raw client on a socket: sends what it is told, keeps what it gets. Destroyed when the test ends. */
export class LineSocket {
  readonly messages: Message[] = [];
  /** True once the server has ended its side or the connection is gone. */
  ended = false;
  readonly socket: Socket;
  readonly #waiting = new Set<() => void>();
  #parts: string[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.ended = true;
        this.#wake();
      });
    }
  }

  read(): void {
    this.socket.setEncoding('utf8').on('data', (text: string) => {
      const lines = text.split('\n');
      for (const end of lines.slice(0, -1)) {
        this.messages.push(JSON.parse(this.#parts.join('') + end) as Message);
        this.#parts = [];
      }
      this.#parts.push(lines.at(-1)!);
      this.#wake();
    });
  }

  send(...messages: object[]): void {
    this.socket.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  async answer(id: string | number): Promise<Message> {
    const find = () => this.messages.find((message) => message.id === id && message.method === undefined);
    await this.until(`answer to ${JSON.stringify(id)}`, () => find() !== undefined);
    return find()!;
  }

  /** The end that the server makes. */
  async end(limitMs?: number): Promise<void> {
    await this.until('end of the connection', () => this.ended, limitMs);
  }

  async until(what: string, ready: () => boolean, limitMs = 25_000): Promise<void> {
    if (ready()) return;
    await new Promise<void>((resolve, reject) => {
      const look = () => {
        if (!ready() && !this.ended) return;
        stop();
        if (ready()) resolve();
        else reject(new Error(`The connection ended before: ${what}`));
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`No ${what} within ${limitMs} ms`));
      }, limitMs);
      const stop = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }
}

/** Connects to `unix:PATH` or `tcp://HOST:PORT`. */
export async function dial(address: string, { read = true } = {}): Promise<LineSocket> {
  const socket = connect({ ...where(address), allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  const client = new LineSocket(socket);
  await once(socket, 'connect');
  if (read) client.read();
  return client;
}

function where(address: string): NetConnectOpts {
  if (address.startsWith('unix:')) return { path: address.slice('unix:'.length) };
  const { hostname, port } = new URL(address);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
}
