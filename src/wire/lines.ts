/** Bytes → lines, linear in the input whatever the chunking, with bounded memory whatever the line. */

export interface LineReaderOptions {
  /** The longest line delivered, counted without its newline (a CR before the newline counts). */
  readonly maxLineBytes: number;
  /** A line without its line ending. `bytes` may share memory with the pushed chunk. */
  readonly onLine: (bytes: Buffer) => void;
  /** A line over the limit, reported once at its newline with its first and last 4 KiB. */
  readonly onOversize: (head: Buffer, tail: Buffer) => void;
}

export interface LineReader {
  /** Delivers every line completed by this chunk, in order. The chunk must not be overwritten afterwards. */
  push(chunk: Buffer): void;
  /** Delivers a last line that has no newline. */
  end(): void;
}

export function createLineReader({ maxLineBytes, onLine, onOversize }: LineReaderOptions): LineReader {
  // The first bytes of the stream while they may still become a byte order mark.
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
    while (newline !== -1) {
      deliver(chunk, start, newline);
      start = newline + 1;
      newline = chunk.indexOf(NEWLINE, start);
    }
    if (start < chunk.length) held.add(start === 0 ? chunk : chunk.subarray(start));
  }

  function deliver(bytes: Buffer, start: number, end: number): void {
    if (end - start > maxLineBytes) {
      const line = bytes.subarray(start, end);
      onOversize(line.subarray(0, END_BYTES), line.subarray(-END_BYTES));
      return;
    }
    const stop = end > start && bytes[end - 1] === CARRIAGE_RETURN ? end - 1 : end;
    // The first comparison decides for every real message: `{` is above all white space.
    if (bytes[start]! > SPACE || !isBlank(bytes, start, stop)) onLine(bytes.subarray(start, stop));
  }

  function deliverHeld(): void {
    const taken = held.take();
    if (taken.kind === 'oversize') onOversize(taken.head, taken.tail);
    else deliver(taken.bytes, 0, taken.bytes.length);
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

/** What an oversize line leaves behind at either end: enough to recover an id from. */
const END_BYTES = 4096;

/** So many parts become one: a peer that writes byte by byte must not cost an object per byte. */
const LOOSE_PARTS = 1024;

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
  take(): TakenLine;
}

/** The line whose newline has not come yet. Parts are joined once, when it has. */
function createHeldLine(maxBytes: number): HeldLine {
  let length = 0;
  let joined: Buffer[] = [];
  let loose: Buffer[] = [];
  let ends: { readonly head: Buffer; readonly tail: Buffer } | undefined;

  return {
    get length() {
      return length;
    },
    add(part) {
      length += part.length;
      if (ends !== undefined) {
        // With a limit below 4 KiB the head may still be short.
        const head = ends.head.length < END_BYTES ? firstBytes([ends.head, part]) : ends.head;
        ends = { head, tail: lastBytes([ends.tail, part]) };
        return;
      }
      loose.push(part);
      if (length > maxBytes) {
        const parts = joined.concat(loose);
        ends = { head: firstBytes(parts), tail: lastBytes(parts) };
        joined = [];
        loose = [];
      } else if (loose.length === LOOSE_PARTS) {
        joined.push(Buffer.concat(loose));
        loose = [];
      }
    },
    take() {
      const taken: TakenLine =
        ends === undefined
          ? { kind: 'line', bytes: Buffer.concat(joined.concat(loose), length) }
          : { kind: 'oversize', ...ends };
      length = 0;
      joined = [];
      loose = [];
      ends = undefined;
      return taken;
    },
  };
}

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
