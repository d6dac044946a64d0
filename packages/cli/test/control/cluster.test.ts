import type { MemberAnswer } from '@isthmus/gateway/internal/cluster/cluster-control.js';
import type { GatewayStatus } from '@isthmus/gateway/internal/server-state.js';
import { describe, expect, it } from 'vitest';
import { STATUS, unit } from '../../../gateway/test/support/control.js';
import { runReload } from '../../src/commands/gateway/actions.js';
import { runStatus } from '../../src/commands/gateway/status.js';
import { problemsOf } from '../../src/control/render-cluster.js';
import { freePlace, openFake, work } from '../support/control.js';

const OF_ONE_CLUSTER = ['aaaaaaaa', 'bbbbbbbb'].map((replica) => ({
  ...{ replica, host: 'web-1', address: `http://${replica}:1`, version: '0.1.0' },
  ...{ state: 'ready' as const, startedAt: '2026-07-28T09:30:00.000Z' },
}));

/** What one process of a cluster says. */
function member(replica: string, more: Partial<GatewayStatus> = {}, digest = 'same'): MemberAnswer {
  const cluster = {
    ...{
      name: 'default',
      replica,
      state: 'ready' as const,
      sessions: 2,
      handedOn: 7,
      received: 5,
      adopted: 1,
    },
    store: { kind: 'redis' as const, up: true, latencyMs: 1, failures: 0 },
    members: OF_ONE_CLUSTER,
    definitions: { notes: digest },
    placements: { notes: { placement: 'one' as const, seat: 'everybody' as const, home: 'aaaaaaaa' } },
  };
  const answer = { ...STATUS, servers: { notes: unit('notes') }, cluster, ...more };
  return { replica, host: 'web-1', state: 'ready', answer };
}

describe('the processes of a cluster', () => {
  it('are shown with a summary, and the exit code is 0 when nothing is wrong', async () => {
    const place = freePlace();
    const gateway = await openFake(place, { members: [member('aaaaaaaa'), member('bbbbbbbb')] });
    const { code, stdout } = await work((context) => runStatus(undefined, { all: true }, context), place);
    expect(stdout).toContain('aaaaaaaa  web-1  0.1.0    ready');
    expect(stdout).toContain('notes   aaaaaaaa  one        2 of 2  0          0');
    expect(stdout).toContain('Everything is ok: 2 processes.');
    expect(code).toBe(0);
    expect(gateway.asked.at(-1)).toBe('members status');
  });

  it('need no choice with --all if they run on one machine: any of them is asked', async () => {
    const place = freePlace();
    const said = ['aaaaaaaa', 'bbbbbbbb', 'cccccccc'].map((replica) => member(replica));
    const statuses = said.map(({ answer }, at) => ({ ...(answer as GatewayStatus), pid: at + 1 }));
    await openFake(place, { status: statuses[0]!, members: said.slice(0, 2) }, 'one');
    await openFake(place, { status: statuses[1]!, members: said.slice(0, 2) }, 'two');
    await openFake(place, { status: { ...STATUS, pid: 9 } }, 'alone');
    const all = await work((context) => runStatus(undefined, { all: true }, context), place);
    expect({ code: all.code, stdout: all.stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining('Everything is ok: 2 processes.'),
    });
    const several = 'Several gateways are running';
    const one = await work((context) => runStatus(undefined, { json: true }, context), place);
    expect(one.error?.message).toBe(several);
    // The third is of another cluster.
    await openFake(place, { status: statuses[2]! }, 'three');
    const others = await work((context) => runStatus(undefined, { all: true }, context), place);
    expect(others.error?.message).toBe(several);
  });

  it.each([
    [
      'one is missing',
      { replica: 'c', host: 'h', state: 'missing', problem: 'it is gone' },
      'c: it is gone.',
    ],
    [
      'one has no Redis',
      member('c', {
        cluster: {
          ...(member('c').answer as GatewayStatus).cluster!,
          store: { kind: 'redis', up: false, latencyMs: 1, failures: 3 },
        },
      }),
      'c: Redis does not answer.',
    ],
    [
      'one worker has no store',
      member('c', {
        cluster: {
          ...(member('c').answer as GatewayStatus).cluster!,
          store: { kind: 'given', up: false, latencyMs: 1, failures: 3 },
        },
      }),
      'c: the store of the parent process does not answer.',
    ],
    ['one is not ready', member('c', { ready: false }), 'c: not ready; isthmus status shows its servers.'],
    ['one has another definition', member('c', {}, 'other'), 'notes: c has another definition than most.'],
  ] as const)('are not well when %s', (_, odd, problem) => {
    expect(problemsOf([member('a'), member('b'), odd])).toEqual([problem]);
  });

  it('are well while their secret is replaced: each digest of a definition has a word for each secret', () => {
    expect(problemsOf([member('a', {}, 'old'), member('b', {}, 'old next'), member('c', {}, 'old')])).toEqual(
      [],
    );
  });

  it('have the column redis where they share a Redis, and store where their parent process has what they share', async () => {
    const { cluster } = member('a').answer as GatewayStatus;
    const worker = member('a', {
      cluster: { ...cluster!, store: { kind: 'given', up: true, latencyMs: 3, failures: 0 } },
    });
    const headOf = async (members: readonly MemberAnswer[]) => {
      const place = freePlace();
      await openFake(place, { members });
      const { stdout } = await work((context) => runStatus(undefined, { all: true }, context), place);
      return stdout.split('\n')[0]!.trim().split(/ {2,}/).at(-1);
    };
    expect(await headOf([member('a'), member('b')])).toBe('redis');
    expect(await headOf([worker])).toBe('store');
  });

  it('are told to reload, and a rejected configuration is a failure', async () => {
    const rejected = { ...member('bbbbbbbb'), answer: { problem: 'line 7' } };
    const place = freePlace();
    await openFake(place, { members: [{ ...member('aaaaaaaa'), answer: {} }, rejected] });
    const { error } = await work((context) => runReload({ all: true }, context), place);
    expect(error).toMatchObject({
      exitCode: 1,
      message: '1 of 2 processes could not do it',
      evidence: ['aaaaaaaa: done', 'bbbbbbbb: configuration rejected: line 7'],
    });
  });
});
