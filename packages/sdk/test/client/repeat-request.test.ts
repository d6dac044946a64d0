import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { LazyAbort } from '../../src/async/abort.js';
import { repeatRequest } from '../../src/client/tasks/repeat-request.js';
import { IsthmusError, ProtocolError } from '../../src/errors.js';
import type { JsonObject } from '../../src/wire/json-rpc.js';
import { settle } from '../support/server.js';

const LOST = new IsthmusError('CHILD_EXITED', 'the process has ended', { sent: 'no' });
const UNKNOWN = new ProtocolError(-32602, 'Unknown task');

/** Makes a request that ends in turn with these, and advances the clock between them. */
async function repeated(ends: readonly (JsonObject | Error)[], patienceMs = 30_000) {
  const clock = new FakeClock();
  const cancellation = new LazyAbort();
  let made = 0;
  const make = async () => {
    const end = ends[Math.min(made, ends.length - 1)]!;
    made += 1;
    if (end instanceof Error) throw end;
    return end;
  };
  const outcome = repeatRequest(make, { cancellation, clock, patienceMs }).then(
    (result) => ({ result }),
    (error: unknown) => ({ error }),
  );
  let isOver = false;
  void outcome.then(() => {
    isOver = true;
  });
  for (let seconds = 0; !isOver && seconds < 100; seconds += 1) {
    await settle();
    clock.advance(1000);
  }
  return { ...(await outcome), made };
}

describe('a request about a task', () => {
  it('is made again until the connection works', async () => {
    expect(await repeated([LOST, LOST, LOST, { status: 'working' }])).toEqual({
      result: { status: 'working' },
      made: 4,
    });
  });

  it('is not made again after an error of the server', async () => {
    expect(await repeated([UNKNOWN, { status: 'working' }])).toEqual({ error: UNKNOWN, made: 1 });
  });

  it('fails with the loss if the server that came back does not know the task', async () => {
    const { error, made } = (await repeated([LOST, UNKNOWN])) as { error: IsthmusError; made: number };
    expect([error.code, error.sent, made]).toEqual(['CHILD_EXITED', 'maybe', 2]);
  });

  it('fails when patience is over', async () => {
    const { error } = (await repeated([LOST], 10_000)) as { error: IsthmusError };
    expect([error.code, error.sent]).toEqual(['CHILD_EXITED', 'maybe']);
  });

  it('ends at once when it is cancelled in a pause', async () => {
    const clock = new FakeClock();
    const cancellation = new LazyAbort();
    const outcome = repeatRequest(() => Promise.reject(LOST), { cancellation, clock, patienceMs: 30_000 });
    await settle();
    const reason = new IsthmusError('CANCELLED', 'enough');
    cancellation.abort(reason);
    await expect(outcome).rejects.toBe(reason);
  });
});
