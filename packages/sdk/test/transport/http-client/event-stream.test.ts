import fc from 'fast-check';
import { expect, it } from 'vitest';
import { excerptOf, readEvents } from '../../../src/transport/http-client/read-answer.js';

const TEXT =
  'retry: 20\r\nid: 1\ndata: {"größe":"🌉"}\n\n: alive\n\nevent: endpoint\ndata: /a\ndata: b\r\n\r\n';
const EVENTS = [
  { id: '1', event: undefined, data: '{"größe":"🌉"}' },
  { id: undefined, event: 'endpoint', data: '/a\nb' },
];

it('reads the same events however the bytes are cut', async () => {
  const bytes = Buffer.from(TEXT);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), async (sizes) => {
      expect(await eventsOf(chunks(bytes, sizes))).toEqual({ events: EVENTS, retries: [20] });
    }),
  );
});

it('takes an event that was not finished for none', async () => {
  expect(await eventsOf([Buffer.from('data: whole\n\ndata: half\n')])).toMatchObject({
    events: [{ data: 'whole' }],
  });
});

it('rejects an event beyond the limit, in one line or in many, and no number of short ones', async () => {
  const rejection = { code: 'RESULT_TOO_LARGE', message: 'The answer of http://x/ is longer than 100 bytes' };
  await expect(eventsOf([Buffer.from(`data: ${'x'.repeat(200)}`)])).rejects.toMatchObject(rejection);
  const lines = Array.from({ length: 20 }, () => Buffer.from('data: 1234567890\n'));
  await expect(eventsOf(lines)).rejects.toMatchObject(rejection);
  const short = Array.from({ length: 100 }, () => Buffer.from('data: 1234567890\n\n: alive\n\n'));
  expect((await eventsOf(short)).events).toHaveLength(100);
});

it('finds the words in a page', () => {
  const page = '<!doctype html><title>502 Bad\nGateway</title><script>x</script><p>nginx &amp; co</p>';
  expect(excerptOf(Buffer.from(page))).toBe('502 Bad Gateway nginx &amp; co');
  expect(excerptOf(Buffer.from('a'.repeat(300)))).toBe(`${'a'.repeat(200)}…`);
  expect(excerptOf(Buffer.from([0, 255, 27]))).toBe('');
});

async function eventsOf(body: Iterable<Uint8Array>) {
  const events: unknown[] = [];
  const retries: number[] = [];
  await readEvents(toAsync(body), 'http://x/', 100, {
    onEvent: (event) => events.push(event),
    onRetry: (ms) => retries.push(ms),
  });
  return { events, retries };
}

async function* toAsync(body: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* body;
}

function* chunks(bytes: Buffer, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length]!;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
