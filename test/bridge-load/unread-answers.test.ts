/** Answers over HTTP that are not read: they are kept for a while, and not for ever. */
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { until } from '../../packages/sdk/test/support/host-lifetime.js';
import { modernCall } from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';
import { call, type Near, outcome } from './near/near.js';
import { deaf, post } from './support/deaf-client.js';
import { keepFar, program } from './support/far.js';
import { type Stage, stage } from './support/stage.js';

/** More than the system keeps on the way from one socket to the other. */
const BYTES = 16_000_000;
const ask = (socket: Socket) => post(socket, modernCall(0, 'big', { bytes: BYTES }));

it('when much is unread, clients that have not read for two seconds are let go, and others are not', async () => {
  const { clock, near, url } = await open({ maxUnreadBytes: 1024 * 1024 });
  const silent = await Promise.all(Array.from({ length: 5 }, () => deaf(url)));
  for (const socket of silent) ask(socket);
  const slow = new SlowReader(await deaf(url));
  ask(slow.socket);
  await allAreAnswered(near);
  for (let seconds = 0; seconds < 4; seconds += 1) {
    await slow.read(2_500_000);
    clock.advance(1000);
    expect(outcome(await call(near, seconds, 'echo', { text: 'a' }))).toEqual([seconds, 'a']);
  }
  expect(await slow.readAll()).toBeGreaterThan(BYTES);
  const rest = await Promise.all(silent.map((socket) => new SlowReader(socket).readAll()));
  expect(rest.filter((bytes) => bytes > BYTES)).toEqual([]);
});

it('a client that reads nothing for a minute is let go, however little there is; one that comes in time gets all', async () => {
  const { clock, near, url } = await open({ answerTimeoutMs: 60_000 });
  const [early, late] = await Promise.all([deaf(url), deaf(url)]);
  ask(early);
  ask(late);
  await allAreAnswered(near);
  clock.advance(59_000);
  expect(await new SlowReader(early).readAll()).toBeGreaterThan(BYTES);
  clock.advance(2000);
  await call(near, 0, 'echo', { text: 'a' });
  expect(await new SlowReader(late).readAll()).toBeLessThan(BYTES);
});

it('a client that reads all the time gets all of its answer, however slowly', async () => {
  const { clock, near, url } = await open({ answerTimeoutMs: 60_000 });
  const slow = new SlowReader(await deaf(url));
  ask(slow.socket);
  await allAreAnswered(near);
  // More than twice as long as nothing at all may be read.
  for (let minutes = 0; minutes < 5; minutes += 1) {
    await slow.read(2_500_000);
    clock.advance(30_000);
    await call(near, minutes, 'echo', { text: 'a' });
  }
  expect(await slow.readAll()).toBeGreaterThan(BYTES);
});

async function open(limits: {
  maxUnreadBytes?: number;
  answerTimeoutMs?: number;
}): Promise<Stage & { clock: FakeClock; near: Near }> {
  const clock = new FakeClock();
  const { host } = keepFar('legacy', { args: [program('legacy-lines.mjs')] });
  const opened = await stage(host.upstream('far'), { http: { ...limits, clock } });
  return { ...opened, clock, near: await opened.enter('modern HTTP', 'near') };
}

/** They are answered in their turn: whoever asks last is answered last. */
async function allAreAnswered(near: Near): Promise<void> {
  await call(near, 'last', 'echo', { text: 'a' });
}

class SlowReader {
  readonly socket: Socket;
  #bytes = 0;
  #over = false;

  constructor(socket: Socket) {
    this.socket = socket;
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#over = true;
      });
    }
  }

  /** Reads so much and no more, as far as the system lets it choose. */
  async read(bytes: number): Promise<void> {
    const before = this.#bytes;
    await until('something to read', () => {
      this.#bytes += (this.socket.read() as Buffer | null)?.length ?? 0;
      return this.#over || this.#bytes - before >= bytes;
    });
  }

  /** Reads until the answer is there or the connection is over; how much there was in all. */
  async readAll(): Promise<number> {
    this.socket.on('data', (chunk) => {
      this.#bytes += chunk.length;
    });
    await until('the end', () => this.#over || this.#bytes > BYTES);
    return this.#bytes;
  }
}
