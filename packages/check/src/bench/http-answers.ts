import { messageOf } from '@isthmus/sdk/internal/errors.js';
import { createParser } from 'eventsource-parser';
import { type BodyReader, createBodyReader } from './http-body.js';

/** One answer on a connection: its status, and the JSON-RPC answer in its body or in one of its events. */
export interface HttpReply {
  readonly status: number;
  readonly message: RpcAnswer | undefined;
  readonly sessionId: string | undefined;
}

export interface RpcAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface AnswerHandlers {
  /** Called once for each answer; of a stream of events, as soon as the event with the JSON-RPC answer is there. */
  onReply(reply: HttpReply): void;
  /** The answer has been read to its end. `onReply` comes after it, unless it came early. */
  onWhole(mayFollow: boolean): void;
  /** What came is not HTTP/1.1, or too large: nothing more can be read here. */
  onBroken(why: string): void;
}

export interface AnswerReader {
  push(chunk: Buffer): void;
  /** The server has closed the connection: a body without a length is whole. */
  end(): void;
}

/** Cuts what comes on a connection into answers. There is one at a time: the next request leaves when this one is whole. */
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

/** An answer whose head has been read. */
class Reading {
  readonly #status: number;
  readonly #head: string;
  readonly #lower: string;
  readonly #handlers: AnswerHandlers;
  readonly #body: BodyReader;
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #isTold = false;
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
    // 100 and 103 come before the answer itself.
    if (this.#status < 200) return;
    const closes =
      isClosed || this.#lower.startsWith('http/1.0') || /\r\nconnection:[^\r]*close/.test(this.#lower);
    this.#handlers.onWhole(!closes);
    if (this.#isTold) return;
    const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces);
    this.#tell(this.#size === 0 || this.#events ? undefined : answerIn(bytes.toString('utf8')));
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
        const message = this.#isTold ? undefined : answerIn(data);
        if (message) this.#tell(message);
      },
    });
    return (piece) => parser.feed(utf8.decode(piece, { stream: true }));
  }

  #tell(message: RpcAnswer | undefined): void {
    this.#isTold = true;
    const sessionId = /\r\nmcp-session-id:[ \t]*([^\r]*)/i.exec(this.#head)?.[1]?.trim();
    this.#handlers.onReply({ status: this.#status, message, sessionId });
  }
}

/** Undefined where it cannot be read, or is not an answer. */
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
