import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMsOf } from '../../../../test/support/cpu-time.js';
import { decodeLine } from '../../src/wire/codec.js';
import { createLineReader, type LineReader, type LineReaderOptions } from '../../src/wire/lines.js';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('lines', () => {
  it('come out one by one from a chunk that holds several (STDIO-001)', () => {
    expect(read(['{"a":1}\n{"b":2}\n{"c":3}\n'])).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  });

  it('are joined from chunks when their newline arrives', () => {
    expect(read(['{"a"', ':1', '}', '\n{"b":', '2}\n{"c":3}\n'])).toEqual(['{"a":1}', '{"b":2}', '{"c":3}']);
  });

  it('are delivered during the push that completes them', () => {
    const lines: string[] = [];
    const reader = createLineReader({
      maxLineBytes: 100,
      onLine: (b) => lines.push(b.toString()),
      onOversize,
    });
    reader.push(Buffer.from('{"a":'));
    expect(lines).toEqual([]);
    reader.push(Buffer.from('1}\n{"b"'));
    expect(lines).toEqual(['{"a":1}']);
  });

  it('of ASCII are text for a reader that takes it, unless their chunk has other bytes or they span two', () => {
    const texts: string[] = [];
    const found = collect(
      ['{"a":1}\n{"b":2}\n{"c"', ':3}\n{"d":4}\n', '{"e":"é"}\n{"f":5}\n'].map((chunk) => Buffer.from(chunk)),
      100,
      'utf8',
      { onText: (text) => texts.push(text) },
    );
    expect(texts).toEqual(['{"a":1}', '{"b":2}', '{"d":4}']);
    expect(found).toEqual(['{"c":3}', '{"e":"é"}', '{"f":5}']);
  });

  it('lose the CR of a CRLF ending, also when CR and LF come in different chunks', () => {
    expect(read(['{"a":1}\r\n{"b":2}\r', '\n'])).toEqual(['{"a":1}', '{"b":2}']);
  });

  it('keep a CR that is not at the end, and all but the last of several', () => {
    expect(read(['{"a":\r1}\n{"b":2}\r\r\n'])).toEqual(['{"a":\r1}', '{"b":2}\r']);
  });

  it('that are empty or only white space are skipped', () => {
    expect(read(['\n\r\n  \n \t \r\n\r\r\n{"a":1}\n\n', '  ', ' \n'])).toEqual(['{"a":1}']);
  });

  it('may be indented: leading white space does not make a line blank', () => {
    expect(read(['  {"a":1}\n\t1\n'])).toEqual(['  {"a":1}', '\t1']);
  });

  it('with a NUL or another control character are not blank', () => {
    expect(read(['\u0000\n\u001f\n'])).toEqual(['\u0000', '\u001f']);
  });

  it('are not ended by U+2028, U+2029 or U+0085', () => {
    expect(read(['{"a":"\u2028\u2029\u0085"}\n'])).toEqual(['{"a":"\u2028\u2029\u0085"}']);
  });

  it('keep characters whose bytes are split across reads (JRPC-016)', () => {
    const bytes = Buffer.from('{"a":"é日🚀"}\n');
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(readBytes([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(['{"a":"é日🚀"}']);
    }
  });

  it('need no newline at the end of the stream', () => {
    expect(read(['{"a":1}\n{"b"', ':2}'])).toEqual(['{"a":1}', '{"b":2}']);
    expect(read(['{"a":1}\r'])).toEqual(['{"a":1}']);
    expect(read(['{"a":1}\n  '])).toEqual(['{"a":1}']);
  });

  it('are delivered once when the stream ends twice', () => {
    const lines: string[] = [];
    const reader = createLineReader({
      maxLineBytes: 100,
      onLine: (b) => lines.push(b.toString()),
      onOversize,
    });
    reader.push(Buffer.from('{"a":1}'));
    reader.end();
    reader.end();
    expect(lines).toEqual(['{"a":1}']);
  });

  it('are none in an empty stream', () => {
    expect(read([])).toEqual([]);
    expect(read(['', ''])).toEqual([]);
  });
});

describe('a byte order mark', () => {
  const bom = Buffer.from([0xef, 0xbb, 0xbf]);
  const line = Buffer.from('{"a":1}\n');

  it('is stripped at the very start of the stream', () => {
    expect(readBytes([Buffer.concat([bom, line])])).toEqual(['{"a":1}']);
  });

  it('is stripped when split across chunks at any place', () => {
    const all = Buffer.concat([bom, line]);
    for (const cut of [1, 2, 3, 4]) {
      expect(readBytes([all.subarray(0, cut), all.subarray(cut)])).toEqual(['{"a":1}']);
    }
    expect(readBytes([...all].map((byte) => Buffer.from([byte])))).toEqual(['{"a":1}']);
  });

  it('is kept in front of any later line', () => {
    expect(readBytes([Buffer.concat([line, bom, line])])).toEqual(['{"a":1}', '\uFEFF{"a":1}']);
    expect(readBytes([Buffer.concat([bom, bom, line])])).toEqual(['\uFEFF{"a":1}']);
  });

  it('that stays incomplete is part of the line', () => {
    const half = Buffer.from([0xef, 0xbb]);
    expect(readHex([half, Buffer.from('a\n')])).toEqual(['efbb61']);
    expect(readHex([half])).toEqual(['efbb']);
    expect(readHex([bom])).toEqual([]);
  });
});

describe('a line over the limit', () => {
  it('is reported once with both its ends, and the next lines are delivered', () => {
    expect(read(['0123456789\n01234567890\n{"a":1}\n'], 10)).toEqual([
      '0123456789',
      { head: '01234567890', tail: '01234567890' },
      '{"a":1}',
    ]);
  });

  it('is reported at its newline, not before', () => {
    const events: string[] = [];
    const reader = createLineReader({
      maxLineBytes: 4,
      onLine: (b) => events.push(b.toString()),
      onOversize: () => events.push('oversize'),
    });
    for (const chunk of ['abc', 'def', 'ghi']) reader.push(Buffer.from(chunk));
    expect(events).toEqual([]);
    reader.push(Buffer.from('j\nok\n'));
    expect(events).toEqual(['oversize', 'ok']);
  });

  it('is reported at the end of the stream when it has no newline', () => {
    expect(read(['ok\n', 'abcdef', 'gh'], 4)).toEqual(['ok', { head: 'abcdefgh', tail: 'abcdefgh' }]);
  });

  it('leaves its first and last 4 KiB', () => {
    const line = `${'a'.repeat(4096)}${'b'.repeat(9000)}${'c'.repeat(4096)}`;
    const expected = [{ head: 'a'.repeat(4096), tail: 'c'.repeat(4096) }, 'ok'];
    for (const size of [1, 1000, 4096, 5000, 100_000]) {
      expect(read(pieces(`${line}\nok\n`, size), 10_000)).toEqual(expected);
    }
  });

  it('is not retained: of 200 MB in chunks none stays reachable', async () => {
    const events: string[] = [];
    const reader = createLineReader({
      maxLineBytes: 16 * MIB,
      onLine: (bytes) => events.push(bytes.toString()),
      onOversize: (head, tail) => events.push(`${head.length} ${tail.length}`),
    });
    const chunks: WeakRef<ArrayBufferLike>[] = [];
    const reachable: number[] = [];
    for (let fed = 10 * MIB; fed <= 200 * MIB; fed += 10 * MIB) {
      while (chunks.length * 64 * KIB < fed) chunks.push(pushChunk(reader));
      reachable.push(await countReachable(chunks));
    }
    // Chunks are copied, so none is held; one of 64 KiB or two may still be on the stack.
    expect(Math.max(...reachable)).toBeLessThanOrEqual(2);
    reader.push(Buffer.from('\nok\n'));
    expect(events).toEqual(['4096 4096', 'ok']);
  });
});

describe('the cost of a line', () => {
  it('of 9 MB in 1 KB chunks is at most three times that of one chunk', () => {
    const text = `{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"${'abcdefgh'.repeat((9 * MIB) / 8)}"}}\n`;
    const whole = [Buffer.from(text)];
    const chunks = pieces(text, KIB).map((piece) => Buffer.from(piece));
    expect(chunks.length).toBeGreaterThan(9 * KIB);
    const single = bestTime(7, () => receive(whole));
    const chunked = bestTime(7, () => receive(chunks));
    // The floor is for a busy machine; joining at each chunk would cost seconds.
    expect(chunked).toBeLessThan(3 * single + 20);
  });

  it('that comes byte by byte is a few bytes per byte, not an object', () => {
    const bytes = Buffer.alloc(2 * MIB, 'x');
    const lengths: number[] = [];
    const reader = createLineReader({
      maxLineBytes: 16 * MIB,
      onLine: (b) => lengths.push(b.length),
      onOversize,
    });
    const before = liveHeapBytes();
    for (let i = 0; i < bytes.length; i++) reader.push(bytes.subarray(i, i + 1));
    // Two million views would be some 200 MB.
    expect(liveHeapBytes() - before).toBeLessThan(20 * MIB);
    reader.push(Buffer.from('\n'));
    expect(lengths).toEqual([2 * MIB]);
  });
});

describe('any chunking of any bytes', () => {
  it('gives the lines that the rules give for the whole stream', () => {
    const part = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('\n', '\r', '\r\n', ' ', '\n\n', '{"a":1}', '\u2028') },
      { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 8 }) },
      { weight: 1, arbitrary: fc.constantFrom('x'.repeat(3000), 'y'.repeat(4096), 'z'.repeat(9001)) },
    );
    const stream = fc
      .tuple(
        fc.constantFrom([], [0xef], [0xef, 0xbb], [0xef, 0xbb, 0xbf]),
        fc.array(
          fc.oneof(
            part.map((text) => Buffer.from(text)),
            fc.uint8Array({ maxLength: 5 }),
          ),
          { maxLength: 20 },
        ),
      )
      .map(([start, parts]) => Buffer.concat([Buffer.from(start), ...parts]));
    fc.assert(
      fc.property(
        stream,
        fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 30 }),
        fc.constantFrom(1, 7, 4000, 5000, 1_000_000),
        (bytes, sizes, limit) => {
          const expected = abbreviate(linesByTheRules(bytes, limit));
          expect(abbreviate(readBytes([bytes], limit, 'latin1'))).toEqual(expected);
          expect(abbreviate(readBytes(cut(bytes, sizes), limit, 'latin1'))).toEqual(expected);
          if (bytes.length > 3000) return;
          expect(abbreviate(readBytes(cut(bytes, [], 1), limit, 'latin1'))).toEqual(expected);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('gives back every message that was written, whatever its characters (JRPC-016, STDIO-001)', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 40 }),
        (texts, sizes) => {
          const messages = texts.map((text, id) => ({ jsonrpc: '2.0', id, method: 'x', params: { text } }));
          const bytes = Buffer.from(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
          const received = readBytes(cut(bytes, sizes)).map((line) => JSON.parse(line as string));
          expect(received).toEqual(messages);
        },
      ),
      { numRuns: 300 },
    );
  });
});

type Event = string | { readonly head: string; readonly tail: string };

function read(chunks: readonly string[], maxLineBytes = 1000): Event[] {
  return readBytes(
    chunks.map((chunk) => Buffer.from(chunk)),
    maxLineBytes,
  );
}

function readBytes(
  chunks: readonly Buffer[],
  maxLineBytes = 1000,
  encoding: BufferEncoding = 'utf8',
): Event[] {
  const found = collect(chunks, maxLineBytes, encoding, {});
  // A reader that takes ASCII as text gets the same lines in the same order.
  const mixed: Event[] = [];
  const onText = (text: string) => mixed.push(Buffer.from(text).toString(encoding));
  expect(collect(chunks, maxLineBytes, encoding, { onText }, mixed)).toEqual(found);
  return found;
}

function collect(
  chunks: readonly Buffer[],
  maxLineBytes: number,
  encoding: BufferEncoding,
  more: Partial<LineReaderOptions>,
  found: Event[] = [],
): Event[] {
  const reader = createLineReader({
    ...more,
    maxLineBytes,
    onLine: (bytes) => found.push(bytes.toString(encoding)),
    onOversize: (head, tail) => found.push({ head: head.toString(encoding), tail: tail.toString(encoding) }),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return found;
}

function readHex(chunks: readonly Buffer[]): Event[] {
  return readBytes(chunks, 1000, 'hex');
}

/** The same promise written the slow way, over the whole stream at once. */
function linesByTheRules(bytes: Buffer, limit: number): Event[] {
  const text = bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const found: Event[] = [];
  for (const line of text.split('\n')) {
    if (line.length > limit) found.push({ head: line.slice(0, 4096), tail: line.slice(-4096) });
    else if (/[^ \t\v\f\r]/.test(line)) found.push(line.replace(/\r$/, ''));
  }
  return found;
}

/** Long runs of one character as a number, to keep a failure readable. */
function abbreviate(events: readonly Event[]): Event[] {
  const short = (text: string) => text.replace(/([x-z])\1{9,}/g, (run, char) => `<${run.length}${char}>`);
  return events.map((event) =>
    typeof event === 'string' ? short(event) : { head: short(event.head), tail: short(event.tail) },
  );
}

function cut(bytes: Buffer, sizes: readonly number[], rest = bytes.length): Buffer[] {
  const chunks: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  for (; at < bytes.length; at += rest) chunks.push(bytes.subarray(at, at + rest));
  return chunks;
}

function pieces(text: string, size: number): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += size) found.push(text.slice(at, at + size));
  return found;
}

function receive(chunks: readonly Buffer[]): void {
  let kind = '';
  const reader = createLineReader({
    maxLineBytes: 16 * MIB,
    onLine: (bytes) => {
      kind = decodeLine(bytes).kind;
    },
    onOversize,
  });
  for (const chunk of chunks) reader.push(chunk);
  expect(kind).toBe('request');
}

function onOversize(): void {
  throw new Error('no line of this test is over the limit');
}

/** Processor time, not wall-clock time: a busy machine must not fail the test. */
function bestTime(runs: number, work: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run++) {
    best = Math.min(best, cpuMsOf(work));
  }
  return best;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function liveHeapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Apart, so that no variable of the test keeps the chunk. */
function pushChunk(reader: LineReader): WeakRef<ArrayBufferLike> {
  const chunk = Buffer.alloc(64 * KIB, 'x');
  reader.push(chunk);
  return new WeakRef(chunk.buffer);
}

/** A WeakRef holds its target until the end of the turn that made it. */
async function countReachable(chunks: readonly WeakRef<ArrayBufferLike>[]): Promise<number> {
  await setImmediate();
  collectGarbage();
  return chunks.reduce((count, chunk) => count + (chunk.deref() === undefined ? 0 : 1), 0);
}
