import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';

/** The stderr of a child. It is always read, since a full pipe would block the child. Only the last bytes are kept. */
export interface StderrRing {
  /** How many bytes were read, kept or not. */
  readonly bytesSeen: number;
  /**
   * The last bytes as text of at most `maxChars`. Text that lost its beginning starts with a whole line, or if there is
   * only one line, with a whole character.
   */
  tail(maxChars?: number): string;
  /**
   * A copy of what is written from now on. A slow reader does not block the child: it misses the oldest bytes beyond the
   * size of the ring.
   */
  stream(): Readable;
}

export const DEFAULT_STDERR_BYTES = 64 * 1024;

export function createStderrRing(source: Readable, capacity: number = DEFAULT_STDERR_BYTES): StderrRing {
  const ring = createByteRing(capacity);
  const copies = new Set<Copy>();
  let bytesSeen = 0;
  let over = false;

  source.on('data', (bytes: Buffer) => {
    bytesSeen += bytes.length;
    ring.write(bytes);
    for (const copy of copies) copy.offer(bytes);
  });
  const end = () => {
    over = true;
    for (const copy of copies) copy.finish();
    copies.clear();
  };
  source.once('end', end);
  source.once('close', end); // Without 'end', when the pipe was destroyed.

  return {
    get bytesSeen() {
      return bytesSeen;
    },
    tail: (maxChars) => lastText(ring.peek(), bytesSeen > ring.length, maxChars),
    stream() {
      const copy = createCopy(capacity, () => copies.delete(copy));
      if (over) copy.finish();
      else copies.add(copy);
      return copy.readable;
    },
  };
}

interface Copy {
  readonly readable: Readable;
  offer(bytes: Buffer): void;
  finish(): void;
}

function createCopy(capacity: number, onGone: () => void): Copy {
  const waiting = createByteRing(capacity);
  let wanted = false;
  let finished = false;
  const pump = () => {
    if (wanted && waiting.length > 0) wanted = readable.push(waiting.take());
    if (finished && waiting.length === 0) readable.push(null);
  };
  const readable = new Readable({
    read() {
      wanted = true;
      pump();
    },
    destroy(error, done) {
      onGone();
      done(error);
    },
  });
  return {
    readable,
    offer(bytes) {
      if (wanted && waiting.length === 0) wanted = readable.push(bytes);
      else waiting.write(bytes);
    },
    finish() {
      finished = true;
      pump();
    },
  };
}

function lastText(bytes: Buffer, lostSome: boolean, maxChars = Number.POSITIVE_INFINITY): string {
  // The decoder holds back an incomplete character at the end.
  const text = new StringDecoder('utf8').write(lostSome ? bytes.subarray(characterStart(bytes)) : bytes);
  const cut = text.length > maxChars;
  if (!cut && !lostSome) return text;
  const from = cut ? text.length - Math.max(0, maxChars) : 0;
  const rest = text.slice(isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from);
  // After a newline the first line is complete.
  if (cut && text[from - 1] === '\n') return rest;
  const lines = rest.slice(rest.indexOf('\n') + 1);
  return lines === '' ? rest : lines;
}

/** The first byte that begins a character. UTF-8 has at most three continuation bytes. */
function characterStart(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && at < bytes.length && (bytes[at]! & 0xc0) === 0x80) at += 1;
  return at;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}

/** The last bytes of a stream, as many as fit. The memory is allocated at the first write and never grows. */
interface ByteRing {
  readonly length: number;
  /** Adds bytes and drops the oldest. */
  write(bytes: Uint8Array): void;
  /** A copy of the contents, oldest first. */
  peek(): Buffer;
  /** Returns the contents and empties the ring. */
  take(): Buffer;
}

export function createByteRing(capacity: number): ByteRing {
  let memory: Buffer | undefined;
  let start = 0;
  let length = 0;

  const peek = () => {
    if (!memory) return Buffer.alloc(0);
    const first = memory.subarray(start, Math.min(start + length, capacity));
    return Buffer.concat([first, memory.subarray(0, length - first.length)]);
  };

  return {
    get length() {
      return length;
    },
    write(bytes) {
      if (bytes.length === 0 || capacity === 0) return;
      memory ??= Buffer.allocUnsafeSlow(capacity);
      const kept = bytes.length > capacity ? bytes.subarray(bytes.length - capacity) : bytes;
      const at = (start + length) % capacity;
      const untilEnd = Math.min(kept.length, capacity - at);
      memory.set(kept.subarray(0, untilEnd), at);
      memory.set(kept.subarray(untilEnd), 0);
      const lost = Math.max(0, length + kept.length - capacity);
      start = (start + lost) % capacity;
      length += kept.length - lost;
    },
    peek,
    take() {
      const bytes = peek();
      start = 0;
      length = 0;
      return bytes;
    },
  };
}
