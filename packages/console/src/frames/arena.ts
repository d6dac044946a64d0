/** A place in an arena. */
export interface Stored {
  readonly chunk: Chunk;
  readonly start: number;
  readonly length: number;
}

interface Chunk {
  readonly bytes: Buffer;
  used: number;
  /** How many stored texts are still in it. */
  live: number;
}

/** Memory for many short texts that are removed in the order in which they came. It grows with use. */
export class Arena {
  #current: Chunk | undefined;
  /** What all chunks take. */
  size = 0;

  add(data: string | Buffer, maxLength = Number.POSITIVE_INFINITY): Stored {
    const whole = typeof data === 'string' ? Buffer.byteLength(data) : data.length;
    const length = Math.min(whole, maxLength);
    const chunk = this.#chunkFor(length);
    const start = chunk.used;
    if (typeof data !== 'string') data.copy(chunk.bytes, start, 0, length);
    else if (length === whole) chunk.bytes.write(data, start, length);
    // A cut text must not be written beyond its place: `write` stops before a character that does not fit.
    else chunk.bytes.fill(0x20, start, start + length).write(data, start, length);
    chunk.used += length;
    chunk.live += 1;
    return { chunk, start, length };
  }

  remove({ chunk }: Stored): void {
    chunk.live -= 1;
    if (chunk.live === 0 && chunk !== this.#current) this.size -= chunk.bytes.length;
  }

  /** A view. It is valid until the text is removed. */
  read({ chunk, start, length }: Stored): Buffer {
    return chunk.bytes.subarray(start, start + length);
  }

  #chunkFor(length: number): Chunk {
    const current = this.#current;
    if (current && current.used + length <= current.bytes.length) return current;
    const bytes = Buffer.allocUnsafeSlow(Math.max(length, CHUNK_BYTES));
    const chunk = { bytes, used: 0, live: 0 };
    this.size += bytes.length;
    // A text that needs a chunk of its own does not waste the rest of the current one.
    if (length > CHUNK_BYTES && current) return chunk;
    if (current?.live === 0) this.size -= current.bytes.length;
    this.#current = chunk;
    return chunk;
  }
}

const CHUNK_BYTES = 256 * 1024;
