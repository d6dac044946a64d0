import { PassThrough, Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createByteRing, createStderrRing } from '../../src/process/stderr-ring.js';
import { firstLine, readAll, startFixture } from '../support/process.js';

describe('a child that logs', () => {
  it('is not blocked by 10 MB that are not read, and the last of it is kept', async () => {
    const child = startFixture('child-that-floods-stderr.mjs', ['10000000']);
    const unread = child.stderr.stream();
    expect(await firstLine(child.stdout)).toBe('done');
    expect(await child.stop()).toMatchObject({ code: 0 });
    expect(child.stderr.bytesSeen).toBe(9766 * 1024 + 14);
    expect(child.stderr.tail().length).toBeLessThanOrEqual(64 * 1024);
    expect(child.stderr.tail(20)).toBe('the last line\n');
    const late = await readAll(unread);
    expect(late.length).toBe(64 * 1024);
    expect(late.endsWith('the last line\n')).toBe(true);
  });

  it('can be read live and completely', async () => {
    const child = startFixture('child-that-floods-stderr.mjs', ['200000']);
    const copies = [child.stderr.stream(), child.stderr.stream()].map(readAll);
    child.stdin.end();
    const [first, second] = await Promise.all(copies);
    expect(first!.length).toBe(196 * 1024 + 14);
    expect(second).toBe(first);
  });
});

describe('the tail', () => {
  it('is everything while everything fits', async () => {
    expect((await ringOf(64, 'one\ntwo\n')).tail()).toBe('one\ntwo\n');
  });

  it('begins with a whole line when the ring has lost the beginning', async () => {
    expect((await ringOf(8, 'one\ntwo\nthree\n')).tail()).toBe('three\n');
  });

  it('begins with a whole line when it is cut, also when the cut falls between two lines', async () => {
    const ring = await ringOf(64, 'one\ntwo\nthree\n');
    expect(ring.tail(8)).toBe('three\n');
    expect(ring.tail(6)).toBe('three\n');
    expect(ring.tail(10)).toBe('two\nthree\n');
  });

  it('cuts a line that is too long by itself', async () => {
    const ring = await ringOf(64, 'a very long line');
    expect(ring.tail(4)).toBe('line');
    expect(ring.tail(0)).toBe('');
    expect((await ringOf(4, 'a very long line\n')).tail()).toBe('ine\n');
  });

  it('never shows half a character', async () => {
    expect((await ringOf(6, 'ßßßß')).tail()).toBe('ßßß');
    expect((await ringOf(5, 'ßßßß')).tail()).toBe('ßß');
    expect((await ringOf(7, '😀😀')).tail()).toBe('😀');
    expect((await ringOf(64, '😀😀')).tail(3)).toBe('😀');
    expect((await ringOf(64, Buffer.from('😀😀').subarray(0, 6))).tail()).toBe('😀');
  });

  it('is empty when nothing came', async () => {
    expect((await ringOf(64)).tail()).toBe('');
  });
});

describe('a copy', () => {
  it('holds no more than the ring, and drops the oldest, while its reader is slow', async () => {
    const source = new PassThrough();
    const ring = createStderrRing(source, 10);
    const copy = ring.stream();
    for (const digit of '0123456789abcdef') {
      source.write(digit);
      await setImmediate();
    }
    expect(copy.readableLength).toBe(0);
    source.end();
    expect(await readAll(copy)).toBe('6789abcdef');
  });

  it('ends at once when stderr has ended before', async () => {
    expect(await readAll((await ringOf(64, 'gone')).stream())).toBe('');
  });

  it('ends when stderr is destroyed', async () => {
    const source = new PassThrough();
    const text = readAll(createStderrRing(source).stream());
    source.write('last words');
    await setImmediate();
    source.destroy();
    expect(await text).toBe('last words');
  });

  it('that was destroyed takes nothing from the others', async () => {
    const source = new PassThrough();
    const ring = createStderrRing(source);
    ring.stream().destroy();
    const text = readAll(ring.stream());
    source.end('still here');
    expect(await text).toBe('still here');
  });
});

describe('the byte ring', () => {
  it('holds the end of what was written, in whatever pieces it came', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20 }),
        fc.array(fc.uint8Array({ maxLength: 30 })),
        (size, parts) => {
          const ring = createByteRing(size);
          for (const part of parts) ring.write(part);
          const all = Buffer.concat(parts);
          const expected = size === 0 ? Buffer.alloc(0) : all.subarray(-size);
          expect(ring.length).toBe(expected.length);
          expect(ring.peek().equals(expected)).toBe(true);
          expect(ring.take().equals(expected)).toBe(true);
          expect(ring.peek().length).toBe(0);
        },
      ),
    );
  });
});

async function ringOf(capacity: number, ...chunks: (string | Buffer)[]) {
  const source = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const ring = createStderrRing(source, capacity);
  await new Promise((resolve) => source.once('close', resolve));
  return ring;
}
