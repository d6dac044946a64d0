import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { createParser } from 'eventsource-parser';

/** One HTTP response: its status, and the JSON-RPC answer in its body or in one of its events. */
export interface HttpReply {
  readonly status: number;
  readonly message: RpcAnswer | undefined;
  readonly sessionId: string | undefined;
}

interface RpcAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

interface AnswerHandlers {
  /** Called once for each response; for an event stream, as soon as the event with the JSON-RPC answer arrives. */
  onReply(reply: HttpReply): void;
  /** The response has been read to its end. `onReply` follows, unless it was called before. */
  onWhole(mayFollow: boolean): void;
  /** The input is not HTTP/1.1, or too large. Nothing more can be read on this connection. */
  onBroken(why: string): void;
}

interface AnswerReader {
  push(chunk: Buffer): void;
  /** The server has closed the connection, which ends a body without a length. */
  end(): void;
}

/** Splits the input of a connection into responses. There is one at a time: the next request is sent when this one is read. */
export function createAnswerReader(handlers: AnswerHandlers): AnswerReader {
  let held: Buffer | undefined;
  let reading: Reading | undefined;

  const readHead = (bytes: Buffer): Buffer | undefined => {
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) {
      if (bytes.length > MAX_HEAD_BYTES) throw new Error('the head of the answer is too large');
      held = bytes;
      return undefined;
    }
    reading = new Reading(bytes.toString('latin1', 0, end), handlers);
    return bytes.subarray(end + 4);
  };
  const read = (chunk: Buffer) => {
    let bytes: Buffer | undefined = held ? Buffer.concat([held, chunk]) : chunk;
    held = undefined;
    while (bytes) {
      if (!reading) bytes = readHead(bytes);
      if (!reading || !bytes) return;
      const at = reading.take(bytes);
      if (!reading.isWhole) return;
      const done = reading;
      reading = undefined;
      bytes = at < bytes.length ? bytes.subarray(at) : undefined;
      done.finish(false);
    }
  };
  return {
    push(chunk) {
      try {
        read(chunk);
      } catch (error) {
        handlers.onBroken(messageOf(error));
      }
    },
    end() {
      const done = reading;
      reading = undefined;
      if (done?.endsWithConnection) done.finish(true);
    },
  };
}

/** A response whose head has been read. */
class Reading {
  readonly #status: number;
  readonly #head: string;
  readonly #lower: string;
  readonly #handlers: AnswerHandlers;
  readonly #body: BodyReader;
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #isReported = false;
  readonly #events: ((piece: Buffer) => void) | undefined;

  constructor(head: string, handlers: AnswerHandlers) {
    this.#head = head;
    this.#lower = head.toLowerCase();
    if (!this.#lower.startsWith('http/1.')) throw new Error('the answer is not HTTP/1.1');
    this.#status = Number(head.slice(9, 12));
    this.#handlers = handlers;
    if (this.#lower.includes('\r\ncontent-type: text/event-stream')) this.#events = this.#readEvents();
    this.#body = createBodyReader(this.#status, this.#lower, this.#events ?? ((piece) => this.#keep(piece)));
  }

  get isWhole(): boolean {
    return this.#body.isWhole;
  }

  get endsWithConnection(): boolean {
    return !this.#lower.includes('\r\ncontent-length:') && !this.#lower.includes('\r\ntransfer-encoding:');
  }

  take(bytes: Buffer): number {
    return this.#body.take(bytes, 0);
  }

  finish(isClosed: boolean): void {
    // 100 and 103 come before the response itself.
    if (this.#status < 200) return;
    const closes =
      isClosed || this.#lower.startsWith('http/1.0') || /\r\nconnection:[^\r]*close/.test(this.#lower);
    this.#handlers.onWhole(!closes);
    if (this.#isReported) return;
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#report(this.#size === 0 || this.#events ? undefined : answerIn(bytes.toString('utf8')));
  }

  #keep(piece: Buffer): void {
    this.#size += piece.length;
    if (this.#size > MAX_ANSWER_BYTES) throw new Error(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`);
    this.#pieces.push(piece);
  }

  #readEvents(): (piece: Buffer) => void {
    const utf8 = new TextDecoder();
    const parser = createParser({
      maxBufferSize: MAX_ANSWER_BYTES,
      onEvent: ({ data }) => {
        const message = this.#isReported ? undefined : answerIn(data);
        if (message) this.#report(message);
      },
    });
    return (piece) => parser.feed(utf8.decode(piece, { stream: true }));
  }

  #report(message: RpcAnswer | undefined): void {
    this.#isReported = true;
    const sessionId = /\r\nmcp-session-id:[ \t]*([^\r]*)/i.exec(this.#head)?.[1]?.trim();
    this.#handlers.onReply({ status: this.#status, message, sessionId });
  }
}

/** Undefined if it cannot be parsed, or is not an answer. */
function answerIn(text: string): RpcAnswer | undefined {
  try {
    const message = JSON.parse(text) as RpcAnswer | null;
    return message?.result !== undefined || message?.error !== undefined ? message : undefined;
  } catch {
    return undefined;
  }
}

const MAX_HEAD_BYTES = 64 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** Reads the body of one HTTP/1.1 response in chunks. */
interface BodyReader {
  /** Reads the part of the body in `bytes` from `at` on, and returns where it ends. */
  take(bytes: Buffer, at: number): number;
  /** True when the body has been read to its end. */
  readonly isWhole: boolean;
}

type Sink = (piece: Buffer) => void;

/** The reader for the body that the head describes (RFC 9112, 6.3). `head` is in lower case, with the status line. */
function createBodyReader(status: number, head: string, sink: Sink): BodyReader {
  if (status < 200 || status === 204 || status === 304) return new SizedBody(0, sink);
  if (/\r\ntransfer-encoding:[^\r]*chunked/.test(head)) return new ChunkedBody(sink);
  const at = head.indexOf('\r\ncontent-length:');
  return new SizedBody(at < 0 ? Number.POSITIVE_INFINITY : Number.parseInt(head.slice(at + 17), 10), sink);
}

/** A body with a length. Without a length it ends with the connection. */
class SizedBody implements BodyReader {
  #missing: number;
  readonly #sink: Sink;

  constructor(length: number, sink: Sink) {
    if (Number.isNaN(length)) throw new Error('the content-length is not a number');
    this.#missing = length;
    this.#sink = sink;
  }

  get isWhole(): boolean {
    return this.#missing === 0;
  }

  take(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#missing);
    if (end > at) this.#sink(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    this.#missing -= end - at;
    return end;
  }
}

/** A chunked body. Trailers are skipped. */
class ChunkedBody implements BodyReader {
  isWhole = false;
  readonly #sink: Sink;
  #line = '';
  #missing = 0;
  #state: 'size' | 'data' | 'data end' | 'trailers' = 'size';

  constructor(sink: Sink) {
    this.#sink = sink;
  }

  take(bytes: Buffer, at: number): number {
    let place = at;
    while (place < bytes.length && !this.isWhole) {
      if (this.#state === 'data') {
        const end = Math.min(bytes.length, place + this.#missing);
        this.#sink(bytes.subarray(place, end));
        this.#missing -= end - place;
        place = end;
        if (this.#missing === 0) this.#state = 'data end';
      } else place = this.#takeLine(bytes, place);
    }
    return place;
  }

  #takeLine(bytes: Buffer, at: number): number {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    this.#line += bytes.toString('latin1', at, end);
    if (this.#line.length > MAX_LINE) throw new Error('a line between the chunks is too long');
    if (newline < 0) return end;
    const line = this.#line.trim();
    this.#line = '';
    if (this.#state === 'data end') this.#state = 'size';
    else if (this.#state === 'trailers') this.isWhole = line === '';
    else this.#beginChunk(Number.parseInt(line, 16));
    return end + 1;
  }

  #beginChunk(size: number): void {
    if (!(size >= 0)) throw new Error('the size of a chunk is not a number');
    this.#missing = size;
    this.#state = size === 0 ? 'trailers' : 'data';
  }
}

const NEWLINE = 10;
const MAX_LINE = 16 * 1024;
