/** Cuts bytes into lines: in linear time for any chunking, and in bounded memory for any line. */
import { isAscii } from 'node:buffer';

/** The limit of a line reader, and what receives the lines. */
export interface LineReaderOptions {
  /** The longest line delivered, counted without its newline (a CR before the newline counts). */
  readonly maxLineBytes: number;
  /**
   * A line without its line ending. `bytes` is valid only during the call, since its memory is reused. If the line is
   * large, `release` gives the memory back at once; after that `bytes` is empty.
   */
  readonly onLine: (bytes: Buffer, release?: () => void) => void;
  /**
   * The same for a line of ASCII without a carriage return that came in one chunk, if it is given. To decode a chunk and to cut the text takes a
   * third of the time that it takes to cut the bytes and to decode each line.
   */
  readonly onText?: (text: string) => void;
  /** A line over the limit, reported once at its newline with its first and last 4 KiB. */
  readonly onOversize: (head: Buffer, tail: Buffer) => void;
}

/** Cuts a stream of bytes into lines. */
export interface LineReader {
  /** Delivers every line completed by this chunk, in order. */
  push(chunk: Buffer): void;
  /** Delivers a last line that has no newline. */
  end(): void;
}

/** Makes a reader that cuts a stream of bytes into lines, bounded in bytes. */
export function createLineReader(options: LineReaderOptions): LineReader {
  const { maxLineBytes, onLine, onText, onOversize } = options;
  // The first bytes of the stream, while they may still be the start of a byte order mark.
  let opening: Buffer | undefined = NOTHING;
  const held = createHeldLine(maxLineBytes);

  function read(chunk: Buffer): void {
    let start = 0;
    let newline = chunk.indexOf(NEWLINE);
    if (newline !== -1 && held.length > 0) {
      held.add(chunk.subarray(0, newline));
      deliverHeld();
      start = newline + 1;
      newline = chunk.indexOf(NEWLINE, start);
    }
    if (newline !== -1 && onText && isAscii(chunk)) {
      const end = chunk.lastIndexOf(NEWLINE) + 1;
      readText(chunk, start, chunk.toString('latin1', start, end), onText);
      start = end;
      newline = -1;
    }
    while (newline !== -1) {
      deliver(chunk, start, newline);
      start = newline + 1;
      newline = chunk.indexOf(NEWLINE, start);
    }
    if (start < chunk.length) held.add(start === 0 ? chunk : chunk.subarray(start));
  }

  /** `text` is what `chunk` has from `start` on, up to its last newline. */
  function readText(chunk: Buffer, start: number, text: string, take: (line: string) => void): void {
    const hasReturns = text.includes('\r');
    let from = 0;
    for (let to = text.indexOf('\n'); to !== -1; to = text.indexOf('\n', from)) {
      const isPlain = !hasReturns && to - from <= maxLineBytes && text.charCodeAt(from) > SPACE;
      if (isPlain) take(text.slice(from, to));
      else deliver(chunk, start + from, start + to);
      from = to + 1;
    }
  }

  function deliver(bytes: Buffer, start: number, end: number, release?: () => void): void {
    if (end - start > maxLineBytes) {
      const line = bytes.subarray(start, end);
      onOversize(line.subarray(0, END_BYTES), line.subarray(-END_BYTES));
      return;
    }
    const stop = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    // For every real message the first comparison decides: `{` is greater than all white space.
    if (bytes[start]! > SPACE || !isBlank(bytes, start, stop)) onLine(bytes.subarray(start, stop), release);
  }

  function deliverHeld(): void {
    const taken = held.take();
    try {
      if (taken.kind === 'oversize') onOversize(taken.head, taken.tail);
      else deliver(taken.bytes, 0, taken.bytes.length, held.release);
    } finally {
      held.release();
    }
  }

  function pastByteOrderMark(first: Buffer, chunk: Buffer): Buffer {
    const bytes = first.length === 0 ? chunk : Buffer.concat([first, chunk]);
    if (bytes.length < BYTE_ORDER_MARK.length && BYTE_ORDER_MARK.subarray(0, bytes.length).equals(bytes)) {
      opening = bytes;
      return NOTHING;
    }
    opening = undefined;
    return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
      ? bytes.subarray(BYTE_ORDER_MARK.length)
      : bytes;
  }

  return {
    push(chunk) {
      read(opening === undefined ? chunk : pastByteOrderMark(opening, chunk));
    },
    end() {
      if (opening !== undefined) read(opening);
      opening = undefined;
      if (held.length > 0) deliverHeld();
    },
  };
}

const NEWLINE = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
const NOTHING = Buffer.alloc(0);
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** How much is kept of each end of an oversize line: enough to recover an id. */
const END_BYTES = 4096;

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    if (byte !== SPACE && (byte < 9 || byte > 13)) return false;
  }
  return true;
}

type TakenLine =
  | { readonly kind: 'line'; readonly bytes: Buffer }
  | { readonly kind: 'oversize'; readonly head: Buffer; readonly tail: Buffer };

interface HeldLine {
  /** Bytes added since the last `take`, kept or not. */
  readonly length: number;
  add(part: Buffer): void;
  /** The gathered line, valid until `release`. */
  take(): TakenLine;
  release(): void;
}

/**
 * The line whose newline has not come yet. Its memory grows and is reused: new memory for every line that spans two
 * reads would leave tens of megabytes to the garbage collector.
 */
function createHeldLine(maxBytes: number): HeldLine {
  const large = createLineBuffer(maxBytes);
  let kept: Buffer = NOTHING;
  let room: Buffer = NOTHING;
  let length = 0;
  let ends: { readonly head: Buffer; readonly tail: Buffer } | undefined;

  function grow(used: number, needed: number): void {
    // At least doubled, so that the cost stays linear in the length of the line.
    const size = Math.max(needed, room.length * 2, FIRST_BYTES);
    if (size <= PLAIN_BYTES) {
      const larger = Buffer.allocUnsafeSlow(size);
      room.copy(larger, 0, 0, used);
      if (size <= KEPT_BYTES) kept = larger;
      room = larger;
    } else {
      room = large.grow(room, used, Math.max(needed, Math.min(size, maxBytes)));
    }
  }

  return {
    get length() {
      return length;
    },
    add(part) {
      const before = length;
      length += part.length;
      if (ends !== undefined) {
        // With a limit below 4 KiB the head may still be short.
        const head = ends.head.length < END_BYTES ? firstBytes([ends.head, part]) : ends.head;
        ends = { head, tail: lastBytes([ends.tail, part]) };
      } else if (length > maxBytes) {
        const parts = [room.subarray(0, before), part];
        ends = { head: firstBytes(parts), tail: lastBytes(parts) };
        this.release();
      } else {
        if (length > room.length) grow(before, length);
        part.copy(room, before);
      }
    },
    take() {
      const taken: TakenLine =
        ends === undefined
          ? { kind: 'line', bytes: room.subarray(0, length) }
          : { kind: 'oversize', ...ends };
      length = 0;
      ends = undefined;
      return taken;
    },
    release() {
      if (room === kept) return;
      room = kept;
      large.release();
    },
  };
}

const FIRST_BYTES = 16 * 1024;
/** A buffer up to this size is kept for the next line. */
const KEPT_BYTES = 1 << 20;
/** Up to this size new buffers are faster than memory that is given back each time: 4 ms, not 7 ms, for a line of 2 MB. */
const PLAIN_BYTES = 4 << 20;

/** A copy, so that the parts themselves can be collected. */
function firstBytes(parts: readonly Buffer[]): Buffer {
  let upTo = 0;
  let length = 0;
  while (upTo < parts.length && length < END_BYTES) length += parts[upTo++]!.length;
  return Buffer.concat(parts.slice(0, upTo), Math.min(length, END_BYTES));
}

/** A copy, so that the parts themselves can be collected. */
function lastBytes(parts: readonly Buffer[]): Buffer {
  let from = parts.length;
  let length = 0;
  while (from > 0 && length < END_BYTES) length += parts[--from]!.length;
  return Buffer.concat(parts.slice(from).map((part) => part.subarray(-END_BYTES))).subarray(-END_BYTES);
}

/** Memory for one large line. It grows in place, and is given back to the system as soon as the line has been read. */
interface LineBuffer {
  /** A buffer of `size` bytes that begins with the first `used` bytes of `from`. Earlier buffers become invalid. */
  grow(from: Buffer, used: number, size: number): Buffer;
  /** Gives the memory back. Earlier buffers become empty. */
  release(): void;
}

/**
 * A plain buffer that is outgrown or used up stays until the next full collection: answers of 30 MB in a row took more
 * than 100 MB that way (S6). A resizable buffer reserves addresses for the longest line, takes memory only for what is
 * written, and gives it back when it shrinks.
 */
function createLineBuffer(maxBytes: number): LineBuffer {
  let reserved: Resizable | undefined;
  /** The first bytes have been copied already. */
  let hasStart = false;
  return {
    grow(from, used, size) {
      reserved ??= reserve(maxBytes);
      if (!reserved) {
        const larger = Buffer.allocUnsafeSlow(size);
        from.copy(larger, 0, 0, used);
        return larger;
      }
      reserved.resize(size);
      const room = Buffer.from(reserved, 0, size);
      if (!hasStart) from.copy(room, 0, 0, used);
      hasStart = true;
      return room;
    },
    release() {
      hasStart = false;
      reserved?.resize(0);
    },
  };
}

/** Undefined if the address space is too small, or the limit is more than a buffer can hold. */
function reserve(maxByteLength: number): Resizable | undefined {
  try {
    return new (ArrayBuffer as unknown as ResizableConstructor)(0, { maxByteLength });
  } catch {
    return undefined;
  }
}

/** Since ES2024; every supported Node has it. */
interface Resizable extends ArrayBuffer {
  resize(bytes: number): void;
}
type ResizableConstructor = new (bytes: number, options: { readonly maxByteLength: number }) => Resizable;
