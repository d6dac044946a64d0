import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBody, HttpExchange, HttpHeaders, HttpStream } from './exchange.js';
import type { UnreadAnswers } from './unread-answers.js';

/** A request as `node:http` has it. `parsed`: a body that a framework has read already. */
export class NodeExchange implements HttpExchange {
  readonly method: string;
  readonly target: string;
  written: string | undefined;
  readonly #request: IncomingMessage;
  /**
   * Undefined once it is answered: an exchange is still known to what is over, and through its response (Node links
   * one message on a socket to the next) all that came later would stay until the next full collection.
   */
  #response: ServerResponse | undefined;
  readonly #parsed: unknown;
  readonly #unread: UnreadAnswers | undefined;
  /** One listener for all who want to know. */
  #gone: (() => void)[] | undefined;

  constructor(request: IncomingMessage, response: ServerResponse, parsed?: unknown, unread?: UnreadAnswers) {
    this.#request = request;
    this.#response = response;
    this.#parsed = parsed;
    this.#unread = unread;
    this.method = request.method ?? 'GET';
    this.target = request.url ?? '/';
  }

  get isLocal(): boolean | undefined {
    const address = this.#request.socket.localAddress;
    return address === undefined ? undefined : isLoopback(address);
  }

  get remote(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  header(name: string): string | undefined {
    const { headers } = this.#request;
    // A name such as `constructor` belongs to the object, and nobody sent it.
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
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
      // Of a request that is cut off nothing more is heard, and nobody waits: all of it is forgotten together.
    });
  }

  respond(status: number, headers: HttpHeaders, body: string | readonly string[] = ''): void {
    const response = this.#response;
    if (!response || response.headersSent || response.destroyed) return;
    const large = typeof body !== 'string' || body.length > LARGE ? new LargeText(body) : undefined;
    const length = String(large?.bytes ?? Buffer.byteLength(body as string));
    // A body that was not read to its end would be taken for the next request.
    const { complete, headers: sent } = this.#request;
    const hasBody = sent['transfer-encoding'] !== undefined || (sent['content-length'] ?? '0') !== '0';
    const unread = hasBody && !complete && this.#parsed === undefined;
    // A flat list, since every answer pays for what an object costs here.
    const list: string[] = [];
    for (const name in headers) list.push(name, headers[name]!);
    if (status !== 204) list.push('content-length', length);
    if (unread) list.push('connection', 'close');
    response.writeHead(status, list);
    this.#response = undefined;
    if (!large) return void response.end(body);
    endInPieces(response, large);
    this.#unread?.watch(response, () => large.left + response.writableLength);
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    const response = this.#response!;
    response.writeHead(status, headers);
    response.flushHeaders();
    const unread = this.#unread;
    let taken = 0;
    let isWatched = false;
    const onTaken = () => {
      taken += 1;
    };
    /** A stream may last for hours; one that is not read is closed like any other answer. */
    const watch = () => {
      if (isWatched || !unread || response.writableLength <= LARGE) return;
      isWatched = true;
      unread.watch(
        response,
        () => response.writableLength,
        () => taken,
        () => {
          isWatched = false;
        },
      );
    };
    return {
      get waiting() {
        return response.writableLength;
      },
      write(text) {
        if (response.writableEnded) return;
        response.write(text, onTaken);
        watch();
      },
      end() {
        response.end();
        watch();
      },
      onDrain(callback) {
        response.on('drain', callback);
      },
    };
  }

  onOver(callback: () => void): void {
    const response = this.#response;
    if (!response || response.closed) queueMicrotask(callback);
    else response.once('close', callback);
  }

  onGone(callback: () => void): void {
    if (this.#gone) {
      this.#gone.push(callback);
      return;
    }
    const response = this.#response;
    // It has had its answer.
    if (!response) return;
    const gone = [callback];
    this.#gone = gone;
    const tell = () => {
      if (!response.writableFinished) for (const each of gone) each();
    };
    // It may have gone while somebody thought about who it is.
    if (response.closed) queueMicrotask(tell);
    else response.once('close', tell);
  }
}

/** So that it can be seen whether the client reads. */
function endInPieces(response: ServerResponse, text: LargeText): void {
  const next = (error?: Error | null): void => {
    if (error || response.destroyed) return;
    const piece = text.take();
    if (text.left > 0) response.write(piece, text.encoding, next);
    else response.end(piece, text.encoding);
  };
  next();
}

export function isLoopback(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127\./.test(address);
}

/** The system takes less than this at once. */
const LARGE = 64 * 1024;
const TOO_LARGE: HttpBody = { kind: 'too-large' };

/**
 * A large text on its way out, in pieces. It stays text: Node frees the bytes of a text when the system has taken them,
 * but a `Buffer` of 30 MB would stay until the next collection (S6).
 */
export class LargeText {
  readonly #parts: string[];
  /** Where the rest of the first part begins. */
  #at = 0;
  /** As UTF-8. */
  readonly bytes: number;
  /** Latin-1 is written faster, and is the same for ASCII. */
  readonly encoding: 'latin1' | 'utf8';
  /** Characters that were not taken. */
  left: number;

  constructor(text: string | readonly string[]) {
    this.#parts = typeof text === 'string' ? [text] : [...text];
    let [bytes, length] = [0, 0];
    for (const part of this.#parts) {
      bytes += Buffer.byteLength(part);
      length += part.length;
    }
    this.bytes = bytes;
    this.left = length;
    this.encoding = bytes === length ? 'latin1' : 'utf8';
  }

  /** The next piece; empty when none is left. */
  take(): string {
    let piece = '';
    while (piece.length < PIECE && this.#parts.length > 0) {
      const [part = ''] = this.#parts;
      const end = endOfPiece(part, this.#at + PIECE - piece.length);
      piece += part.slice(this.#at, end);
      this.#at = end;
      if (end < part.length) break;
      this.#parts.shift();
      this.#at = 0;
    }
    this.left -= piece.length;
    return piece;
  }
}

/** Both halves of a character beyond 16 bits stay together: written apart, neither is valid. */
function endOfPiece(part: string, end: number): number {
  if (end >= part.length) return part.length;
  const last = part.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}

const PIECE = 128 * 1024;
