import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { LazyAbort } from '../../src/async/abort.js';
import { repeatRequest } from '../../src/client/tasks/repeat-request.js';
import { IsthmusError, ProtocolError } from '../../src/errors.js';
import type { JsonObject } from '../../src/wire/json-rpc.js';
import { settle } from '../support/server.js';

const LOST = new IsthmusError('CHILD_EXITED', 'the process has ended', { sent: 'no' });
const UNKNOWN = new ProtocolError(-32602, 'Unknown task');
const REPLICA_LOST = new ProtocolError(-32603, 'The process that worked on this request has ended.', {
  reason: 'REPLICA_LOST',
  sent: 'maybe',
});

/** Makes a request that ends in turn with these, and advances the clock between them. */
async function repeated(
  ends: readonly (JsonObject | Error)[],
  { patienceMs = 30_000, method = 'tasks/get' } = {},
) {
  const clock = new FakeClock();
  const cancellation = new LazyAbort();
  const made: string[] = [];
  const make = async (asked: string, { taskId }: JsonObject) => {
    const end = ends[Math.min(made.length, ends.length - 1)]!;
    made.push(`${asked} ${taskId}`);
    if (end instanceof Error) throw end;
    return end;
  };
  const outcome = repeatRequest(make, method, { taskId: 't' }, { cancellation, clock, patienceMs }).then(
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
      made: ['tasks/get t', 'tasks/get t', 'tasks/get t', 'tasks/get t'],
    });
  });

  it('is not made again after an error of the server', async () => {
    expect(await repeated([UNKNOWN, { status: 'working' }])).toEqual({
      error: UNKNOWN,
      made: ['tasks/get t'],
    });
  });

  it('fails with the loss if the server that came back does not know the task', async () => {
    const { error, made } = (await repeated([LOST, UNKNOWN])) as { error: IsthmusError; made: string[] };
    expect([error.code, error.sent, made.length]).toEqual(['CHILD_EXITED', 'maybe', 2]);
  });

  describe('for its result, refused with -32602 after the connection was lost,', () => {
    const OF_TOOL = new ProtocolError(-32602, 'no such flight');
    const forResult = (...ends: (JsonObject | Error)[]) => repeated(ends, { method: 'tasks/result' });

    it('fails with this error if the server knows the task: it is the error of the tool (TASK-L-041)', async () => {
      expect(await forResult(LOST, OF_TOOL, { status: 'failed' })).toEqual({
        error: OF_TOOL,
        made: ['tasks/result t', 'tasks/result t', 'tasks/get t'],
      });
    });

    it('fails with the loss if the server does not know the task', async () => {
      const { error } = (await forResult(LOST, UNKNOWN, UNKNOWN)) as { error: IsthmusError };
      expect([error.code, error.sent]).toEqual(['CHILD_EXITED', 'maybe']);
    });

    it('is made again if the connection is lost once more before this is known', async () => {
      expect(await forResult(LOST, OF_TOOL, LOST, { content: [] })).toEqual({
        result: { content: [] },
        made: ['tasks/result t', 'tasks/result t', 'tasks/get t', 'tasks/result t'],
      });
    });

    it('fails with this error if the server cannot tell about the task', async () => {
      const noMethod = new ProtocolError(-32601, 'no such method');
      const { error } = (await forResult(LOST, OF_TOOL, noMethod)) as { error: unknown };
      expect(error).toBe(OF_TOOL);
    });
  });

  it.each(['tasks/get', 'tasks/result', 'tasks/update'])(
    '%s is made again if the process that worked on it has ended: its end is not that of the task',
    async (method) => {
      expect(await repeated([REPLICA_LOST, { status: 'working' }], { method })).toEqual({
        result: { status: 'working' },
        made: [`${method} t`, `${method} t`],
      });
    },
  );

  it('is made again if the server cannot tell the state now: the error of a task is in the state (TASK-M-031)', async () => {
    const away = new ProtocolError(-32603, 'The store is away');
    expect(await repeated([away, away, { status: 'failed' }])).toEqual({
      result: { status: 'failed' },
      made: ['tasks/get t', 'tasks/get t', 'tasks/get t'],
    });
    const { error } = (await repeated([away], { patienceMs: 10_000 })) as { error: unknown };
    expect(error).toBe(away);
    // The error of the tool may be the same.
    expect(await repeated([away, {}], { method: 'tasks/result' })).toEqual({
      error: away,
      made: ['tasks/result t'],
    });
  });

  it('fails with the loss if the server does not know the task after the end of a process', async () => {
    expect(await repeated([REPLICA_LOST, UNKNOWN])).toEqual({
      error: REPLICA_LOST,
      made: ['tasks/get t', 'tasks/get t'],
    });
  });

  it('for its result fails with REPLICA_LOST if the task has ended so: the call of the tool was lost', async () => {
    const ends = [REPLICA_LOST, REPLICA_LOST, { status: 'working' }, REPLICA_LOST, { status: 'failed' }];
    expect(await repeated(ends, { method: 'tasks/result' })).toEqual({
      error: REPLICA_LOST,
      made: ['tasks/result t', 'tasks/result t', 'tasks/get t', 'tasks/result t', 'tasks/get t'],
    });
  });

  it('fails when patience is over', async () => {
    const { error } = (await repeated([LOST], { patienceMs: 10_000 })) as { error: IsthmusError };
    expect([error.code, error.sent]).toEqual(['CHILD_EXITED', 'maybe']);
  });

  it('ends at once when it is cancelled in a pause', async () => {
    const clock = new FakeClock();
    const cancellation = new LazyAbort();
    const outcome = repeatRequest(
      () => Promise.reject(LOST),
      'tasks/get',
      {},
      {
        cancellation,
        clock,
        patienceMs: 30_000,
      },
    );
    await settle();
    const reason = new IsthmusError('CANCELLED', 'enough');
    cancellation.abort(reason);
    await expect(outcome).rejects.toBe(reason);
  });
});
