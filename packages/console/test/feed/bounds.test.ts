import { request } from 'node:http';
import { createServer, memory } from '@isthmus/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { FeedEvents, FrameRow } from '../../src/contract.js';
import { FrameRing, type NewFrame } from '../../src/frames/ring.js';
import { inspect } from '../support/inspected.js';

const frame: NewFrame = {
  at: 1,
  connection: 1,
  direction: 'to-client',
  kind: 'note',
  data: 'x',
  method: 'flood',
};
const opened = () => inspect((tap) => memory(createServer({ name: 'a', version: '1' }), {}, { tap }));

describe('the ring', () => {
  it('keeps the newest frames within its bytes, whatever their size', () => {
    const ring = new FrameRing({ maxFrames: 1000, maxBytes: 8 * 1024 * 1024 });
    const large = '<'.repeat(1024 * 1024);
    for (let at = 0; at < 100; at += 1) {
      ring.add({ ...frame, data: large });
      for (let small = 0; small < 20; small += 1) ring.add(frame);
      expect(ring.bytes).toBeLessThanOrEqual(8 * 1024 * 1024 + 1024 * 1024 + 256 * 1024);
    }
    expect(ring.last).toBe(2100);
    expect(ring.get(ring.last)).toBeDefined();
    expect(ring.get(1)).toBeUndefined();
    const huge = ring.add({ ...frame, data: '<'.repeat(5 * 1024 * 1024) });
    expect([huge.bytes, ring.dataOf(huge).length, huge.flags & 2]).toEqual([
      5 * 1024 * 1024,
      2 * 1024 * 1024,
      2,
    ]);
  });

  it('keeps no more frames than its number', () => {
    const ring = new FrameRing({ maxFrames: 100 });
    for (let at = 0; at < 1000; at += 1) ring.add({ ...frame, data: String(at) });
    expect([ring.first, ring.last]).toEqual([901, 1000]);
    expect(ring.dataOf(ring.get(901)!).toString()).toBe('900');
  });
});

describe('the names of rows', () => {
  const textOf = (ring: FrameRing, number: number) => ring.names.textOf(number);

  it('are bounded: what a server invents beyond 10,000 shares one name', () => {
    const ring = new FrameRing({ maxFrames: 100 });
    for (let at = 0; at < 12_000; at += 1) ring.add({ ...frame, method: `invented/${at}` });
    expect(textOf(ring, ring.get(ring.last)!.method)).toBe('(many other names)');
    expect(textOf(ring, ring.add({ ...frame, method: 'invented/7' }).method)).toBe('invented/7');
  });

  it('leave room for those of messages when lines that are no messages come without end', () => {
    const ring = new FrameRing({ maxFrames: 100 });
    const line = (at: number) =>
      ring.add({ ...frame, kind: 'stderr', method: undefined, data: `line ${at}\nand more` });
    expect(textOf(ring, line(1).about)).toBe('line 1');
    for (let at = 0; at < 20_000; at += 1) line(at);
    expect(textOf(ring, line(20_001).about)).toBe('');
    expect(textOf(ring, ring.add({ ...frame, method: 'tools/call', about: 'echo' }).about)).toBe('echo');
    const long = new FrameRing().add({
      ...frame,
      kind: 'noise',
      data: Buffer.from(`  ${'x'.repeat(10_000)}`),
    });
    expect(long.bytes).toBe(10_002);
  });
});

describe('a page that stops reading', () => {
  it('costs a bounded amount of memory, is told what it missed, and can read it later', async () => {
    const { console, client } = await opened();
    const { hostname, port } = new URL(console.origin);
    const { ring } = console.records;
    const asked = request({
      ...{ hostname, port, path: '/console/api/feed', method: 'POST' },
      headers: { 'isthmus-key': client.key, 'content-type': 'application/json' },
    });
    onTestFinished(() => void asked.destroy());
    asked.end('{"topics":["rows"]}');
    const response = await new Promise<import('node:http').IncomingMessage>((resolve) =>
      asked.on('response', resolve),
    );
    response.pause();
    const before = ring.last;
    // 100,000 rows are more than 6 MB of text.
    for (let turn = 0; turn < 200; turn += 1) {
      for (let at = 0; at < 500; at += 1) ring.add(frame);
      await new Promise((resolve) => setImmediate(resolve));
    }
    const seen = { rows: 0, missed: 0 };
    let text = '';
    response.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const parts = text.split('\n\n');
      text = parts.pop()!;
      for (const part of parts) {
        const [, name, data] = /^event: (\S+)\ndata: (.*)$/s.exec(part) ?? [];
        if (name === 'rows') seen.rows += (JSON.parse(data!) as { rows: FrameRow[] }).rows.length;
        if (name !== 'gap') continue;
        const { from, to, lost } = JSON.parse(data!) as FeedEvents['gap'];
        if (!lost) seen.missed += to - from + 1;
      }
    });
    response.resume();
    await expect.poll(() => seen.rows + seen.missed).toBe(ring.last - before);
    const page = await client.ask('GET frames', { query: { after: before, limit: 10 } });
    expect(page.rows.map(([seq]) => seq)).toEqual(Array.from({ length: 10 }, (_, at) => before + 1 + at));
  });
});
