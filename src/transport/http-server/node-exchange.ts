import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBody, HttpExchange, HttpHeaders, HttpStream } from './exchange.js';

/** A request as `node:http` has it. `parsed`: a body that a framework has read already. */
export class NodeExchange implements HttpExchange {
  readonly method: string;
  readonly target: string;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #parsed: unknown;

  constructor(request: IncomingMessage, response: ServerResponse, parsed?: unknown) {
    this.#request = request;
    this.#response = response;
    this.#parsed = parsed;
    this.method = request.method ?? 'GET';
    this.target = request.url ?? '/';
  }

  get isLocal(): boolean | undefined {
    const address = this.#request.socket.localAddress;
    return address === undefined ? undefined : isLoopback(address);
  }

  header(name: string): string | undefined {
    const value = this.#request.headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  }

  body(maxBytes: number): Promise<HttpBody> {
    if (this.#parsed !== undefined) {
      const bytes = Buffer.from(
        typeof this.#parsed === 'string' ? this.#parsed : JSON.stringify(this.#parsed),
      );
      return Promise.resolve(bytes.length > maxBytes ? TOO_LARGE : { kind: 'bytes', bytes });
    }
    const request = this.#request;
    if (Number(request.headers['content-length']) > maxBytes) return Promise.resolve(TOO_LARGE);
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let size = 0;
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > maxBytes) {
          request.removeAllListeners('data').pause();
          return resolve(TOO_LARGE);
        }
        chunks.push(chunk);
      });
      request.on('end', () => {
        resolve({ kind: 'bytes', bytes: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
      });
      request.on('error', () => resolve(GONE));
      request.on('close', () => resolve(GONE));
    });
  }

  respond(status: number, headers: HttpHeaders, body = ''): void {
    const response = this.#response;
    if (response.headersSent || response.destroyed) return;
    const length = body === '' ? '0' : String(Buffer.byteLength(body));
    // A body that was not read to its end would be taken for the next request.
    const { complete, headers: sent } = this.#request;
    const hasBody = sent['transfer-encoding'] !== undefined || (sent['content-length'] ?? '0') !== '0';
    const unread = hasBody && !complete && this.#parsed === undefined;
    const close = unread ? { connection: 'close' } : {};
    response.writeHead(
      status,
      status === 204 ? { ...headers, ...close } : { ...headers, 'content-length': length, ...close },
    );
    response.end(body);
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    const response = this.#response;
    response.writeHead(status, headers);
    response.flushHeaders();
    return {
      get waiting() {
        return response.writableLength;
      },
      write(text) {
        if (!response.writableEnded) response.write(text);
      },
      end() {
        response.end();
      },
      onDrain(callback) {
        response.on('drain', callback);
      },
    };
  }

  onGone(callback: () => void): void {
    this.#response.once('close', () => {
      if (!this.#response.writableFinished) callback();
    });
  }
}

export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

const TOO_LARGE: HttpBody = { kind: 'too-large' };
const GONE: HttpBody = { kind: 'gone' };
