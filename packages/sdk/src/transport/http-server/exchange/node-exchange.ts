import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RequestFacts } from '../../../exchange/call.js';
import {
  ExchangeFacts,
  type HttpBody,
  type HttpExchange,
  type HttpHeaders,
  type HttpStream,
} from './exchange.js';
import { ReadyAnswers } from './ready-answers.js';
import type { UnreadAnswers } from './unread-answers.js';

/** An exchange over `node:http`. `parsed`: a body that a framework has read already. */
export class NodeExchange implements HttpExchange {
  readonly method: string;
  readonly target: string;
  written: string | undefined;
  readonly #request: IncomingMessage;
  /**
   * Undefined once it is answered. Node links one message on a socket to the next, so an answered exchange that is still
   * referenced would keep all later messages in memory until the next full collection.
   */
  #response: ServerResponse | undefined;
  readonly #parsed: unknown;
  readonly #unread: UnreadAnswers | undefined;
  #client: string | undefined;
  /** One 'close' listener calls all of them. */
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
    return this.#client ?? this.#request.socket.remoteAddress;
  }

  get via(): string | undefined {
    return this.#client === undefined ? undefined : this.#request.socket.remoteAddress;
  }

  cameFor(client: string): void {
    this.#client = client;
  }

  header(name: string): string | undefined {
    const value: unknown = this.#request.headers[name];
    if (typeof value === 'string') return value;
    // What a name such as `constructor` finds in the object is neither a string nor a list.
    return Array.isArray(value) ? value.join(', ') : undefined;
  }

  isRepeated(name: string): boolean {
    const { rawHeaders } = this.#request;
    let count = 0;
    for (let at = 0; at < rawHeaders.length; at += 2) {
      const each = rawHeaders[at]!;
      if (each.length === name.length && each.toLowerCase() === name) count += 1;
    }
    return count > 1;
  }

  facts(): RequestFacts {
    const read = () =>
      Object.keys(this.#request.headers).map((name) => [name, this.header(name) ?? ''] as const);
    return new ExchangeFacts(read);
  }

  body(maxBytes: number, onBody: (body: HttpBody) => void): void {
    if (this.#parsed !== undefined) {
      const bytes = Buffer.from(
        typeof this.#parsed === 'string' ? this.#parsed : JSON.stringify(this.#parsed),
      );
      return onBody(bytes.length > maxBytes ? TOO_LARGE : { kind: 'bytes', bytes });
    }
    const request = this.#request;
    if (Number(request.headers['content-length']) > maxBytes) return onBody(TOO_LARGE);
    // Most bodies are one chunk.
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        request.removeAllListeners('data').pause();
        return onBody(TOO_LARGE);
      }
      if (!first) first = chunk;
      else if (chunks) chunks.push(chunk);
      else chunks = [first, chunk];
    });
    request.on('end', () => {
      const bytes = chunks ? Buffer.concat(chunks) : (first ?? Buffer.alloc(0));
      // Node keeps the request, with its listeners, until it is answered: for hours, if the answer is a stream.
      first = undefined;
      chunks = undefined;
      onBody({ kind: 'bytes', bytes });
    });
    // When the request is interrupted neither is called, and both are collected with the exchange.
  }

  respond(status: number, headers: HttpHeaders, body: string | readonly string[] = ''): void {
    const response = this.#response;
    if (!response || response.headersSent || response.destroyed) return;
    const large = typeof body !== 'string' || body.length > LARGE ? new LargeText(body) : undefined;
    const length = String(large?.bytes ?? Buffer.byteLength(body as string));
    // The rest of an unread body would be parsed as the next request, so the connection is closed.
    const { complete, headers: sent } = this.#request;
    const hasBody = sent['transfer-encoding'] !== undefined || (sent['content-length'] ?? '0') !== '0';
    const unread = hasBody && !complete && this.#parsed === undefined;
    // A flat list: an object is slower here, and every answer takes this path.
    const list: string[] = [];
    for (const name in headers) list.push(name, headers[name]!);
    if (status !== 204) list.push('content-length', length);
    if (unread) list.push('connection', 'close');
    response.writeHead(status, list);
    this.#response = undefined;
    if (!large) return READY.send(response, body as string);
    endInPieces(response, large);
    this.#unread?.watch(response, () => large.left + response.writableLength);
  }

  stream(status: number, headers: HttpHeaders): HttpStream {
    const response = this.#response!;
    response.writeHead(status, headers);
    // With what is written in this turn: a stream that breaks off between its headers and its first event cannot be resumed.
    setImmediate(() => response.flushHeaders());
    return new NodeStream(response, this.#unread);
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
    // The answer was sent.
    if (!response) return;
    const gone = [callback];
    this.#gone = gone;
    const tell = () => {
      if (!response.writableFinished) for (const each of gone) each();
    };
    // The client may have gone during authentication.
    if (response.closed) queueMicrotask(tell);
    // It comes once. `once` would wrap the listener for each request.
    else response.on('close', tell);
  }
}

/** A class, since there may be thousands of open streams. */
class NodeStream implements HttpStream {
  readonly #response: ServerResponse;
  readonly #unread: UnreadAnswers | undefined;
  #taken = 0;
  #isWatched = false;

  constructor(response: ServerResponse, unread: UnreadAnswers | undefined) {
    this.#response = response;
    this.#unread = unread;
  }

  get waiting(): number {
    return this.#response.writableLength;
  }

  write(text: string | Uint8Array): void {
    if (this.#response.writableEnded) return;
    this.#response.write(text, () => {
      this.#taken += 1;
    });
    this.#watch();
  }

  end(): void {
    this.#response.end();
    this.#watch();
  }

  cut(): void {
    this.#response.destroy();
  }

  onDrain(callback: () => void): void {
    this.#response.on('drain', callback);
  }

  /** A stream may last for hours. One that the client does not read is closed like any other answer. */
  #watch(): void {
    const response = this.#response;
    if (this.#isWatched || !this.#unread || response.writableLength <= LARGE) return;
    this.#isWatched = true;
    this.#unread.watch(
      response,
      () => response.writableLength,
      () => this.#taken,
      () => {
        this.#isWatched = false;
      },
    );
  }
}

/** Writes in pieces: each piece that is taken shows that the client reads. */
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
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.');
}

const READY = new ReadyAnswers();
/** Above what the system takes in one write. */
const LARGE = 64 * 1024;
const TOO_LARGE: HttpBody = { kind: 'too-large' };

/**
 * A large text that is sent in pieces. It stays text: Node frees the bytes of a text when the system has taken them, but
 * a `Buffer` of 30 MB would stay until the next collection (S6).
 */
export class LargeText {
  readonly #parts: string[];
  /** Where the rest of the first part begins. */
  #at = 0;
  /** The length in UTF-8. */
  readonly bytes: number;
  /** For ASCII both are the same, and Latin-1 is written faster. */
  readonly encoding: 'latin1' | 'utf8';
  /** How many characters have not been taken. */
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

/** Keeps both halves of a surrogate pair together: written apart, neither is valid. */
function endOfPiece(part: string, end: number): number {
  if (end >= part.length) return part.length;
  const last = part.charCodeAt(end - 1);
  return last >= 0xd800 && last <= 0xdbff ? end + 1 : end;
}

const PIECE = 128 * 1024;
