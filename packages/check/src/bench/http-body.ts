/** Reads the body of one HTTP/1.1 answer, in pieces as they come. */
export interface BodyReader {
  /** Takes what belongs to the body from `at` on, and returns where it stopped. */
  take(bytes: Buffer, at: number): number;
  /** True when nothing more belongs to the body. */
  readonly isWhole: boolean;
}

type Sink = (piece: Buffer) => void;

/** How long the body is, as the head says (RFC 9112, 6.3). `head` is in lower case and begins with the status line. */
export function createBodyReader(status: number, head: string, sink: Sink): BodyReader {
  if (status < 200 || status === 204 || status === 304) return new SizedBody(0, sink);
  if (/\r\ntransfer-encoding:[^\r]*chunked/.test(head)) return new ChunkedBody(sink);
  const at = head.indexOf('\r\ncontent-length:');
  return new SizedBody(at < 0 ? Number.POSITIVE_INFINITY : Number.parseInt(head.slice(at + 17), 10), sink);
}

/** A body with a length; without one it ends with the connection. */
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

/** A body in chunks, each after a line with its size; trailers are passed over. */
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
