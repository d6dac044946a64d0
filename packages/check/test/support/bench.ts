import { setImmediate as turn } from 'node:timers/promises';
import { connect } from '@isthmus/sdk/internal/client/connect.js';
import type { ConnectOptions } from '@isthmus/sdk/internal/client/options.js';
import { createServer } from '@isthmus/sdk/internal/server/create-server.js';
import type { Server } from '@isthmus/sdk/internal/server/server.js';
import { memory } from '@isthmus/sdk/internal/transport/memory.js';
import { onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { BenchLoad, BenchSide } from '../../src/bench/model.js';
import type { BenchFailure } from '../../src/bench/request.js';
import { Tally } from '../../src/bench/tally.js';
import { type Pace, runTurn } from '../../src/bench/turn.js';

/** `sleeps`: from and to when the driver gets no processor, so that whatever is due then comes later. */
export function fakePace(clock: FakeClock, sleeps: readonly [number, number] = [0, 0]): Pace {
  const [from, to] = sleeps.map((ms) => clock.now() + ms) as [number, number];
  return {
    now: () => clock.now(),
    at(time, action) {
      const awake = time > from && time < to ? to : time;
      return clock.after(Math.max(0, awake - clock.now()), action);
    },
    soon: (action) => void clock.after(0, action),
  };
}

/** How long a request takes that is sent at this millisecond of the turn; `never`: it is not answered. */
export type Answering = (atMs: number) => number | 'never';

/** A turn in which time passes millisecond by millisecond. */
export async function playTurn(
  load: BenchLoad,
  durationMs: number,
  takes: Answering,
  more: {
    readonly failure?: BenchFailure;
    readonly interruptAtMs?: number;
    readonly goneAtMs?: number;
    readonly driverSleeps?: readonly [number, number];
  } = {},
): Promise<Tally> {
  const clock = new FakeClock();
  const tally = new Tally();
  const interrupted = new AbortController();
  const gone = new AbortController();
  const began = clock.now();
  let isOver = false;
  const ask = () =>
    new Promise<BenchFailure | undefined>((resolve) => {
      const ms = takes(clock.now() - began);
      if (ms !== 'never') clock.after(ms, () => resolve(more.failure));
    });
  const pace = fakePace(clock, more.driverSleeps);
  const signals = { interrupted: interrupted.signal, gone: gone.signal };
  void runTurn({ ask, load, durationMs, tally, pace, ...signals }).then(() => {
    isOver = true;
  });
  for (let ms = 0; !isOver; ms += 1) {
    if (ms > 60_000) throw new Error('the turn did not end within a minute');
    if (ms === more.interruptAtMs) interrupted.abort();
    if (ms === more.goneAtMs) gone.abort();
    clock.advance(1);
    await turn();
  }
  return tally;
}

/** A server in this process, connected. */
export async function sideOf(
  define: (server: Server) => void,
  label = 'memory',
  options: ConnectOptions = {},
): Promise<BenchSide> {
  const server = createServer({ name: 'here', version: '1.0.0' });
  define(server);
  const client = await connect(memory(server), { ...options, cache: false, reconnect: false });
  onTestFinished(() => client.close());
  return { label, client };
}
