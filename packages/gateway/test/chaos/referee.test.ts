import { describe, expect, it } from 'vitest';
import type { GatewayServerStatus, GatewayStatus } from '../../src/server-state.js';
import { faultOf } from '../support/chaos/judge.js';
import type { Processes } from '../support/chaos/processes.js';
import {
  callLies,
  contradictionsWithin,
  liesOfTheDead,
  metricsLies,
  readyzLies,
  type Said,
} from '../support/chaos/referee.js';
import type { Remote } from '../support/chaos/remote.js';
import { type Outcome, tellOf } from '../support/chaos/rush.js';

/** Those who judge a storm: each of their rules is broken once. */

const AT = 10_000;

function unit(
  state: GatewayServerStatus['state'],
  more: { pid?: number; generation?: number } = {},
): GatewayServerStatus {
  const { pid = 7, generation = 3 } = more;
  const isReady = state === 'ready';
  const receipt = isReady ? { pid, generation, complete: true } : undefined;
  const processes = [{ state, pid, generation, receipt }];
  return {
    ...{ name: 'a', kind: 'command', needed: true, state, reason: undefined },
    processes: { enabled: state !== 'off', ready: isReady, processes },
  } as unknown as GatewayServerStatus;
}

function said(
  of: GatewayServerStatus,
  more: { readonly code?: number; readonly ready?: boolean } = {},
): Said {
  const { code = of.state === 'ready' ? 200 : 503, ready = code === 200 } = more;
  return { code, askedAt: AT, status: { ready, servers: { [of.name]: of } } as unknown as GatewayStatus };
}

const truth = (more: Partial<Processes> = {}) =>
  ({ wasDead: () => false, latest: () => undefined, ...more }) as unknown as Processes;
const UP = { isUp: true, changedAt: 0 } as Remote;
const READY = said(unit('ready'));

describe('an answer of /status', () => {
  it('that agrees with itself and with the system is true', () => {
    expect(contradictionsWithin(READY)).toEqual([]);
    expect(contradictionsWithin(said(unit('failed')))).toEqual([]);
    expect(liesOfTheDead(READY, truth(), UP)).toEqual([]);
  });

  it('is caught when its parts are of different moments', () => {
    const mixed = { ...unit('ready'), state: 'restarting' } as GatewayServerStatus;
    expect(contradictionsWithin(said(mixed, { code: 503 }))).toEqual([
      'a is restarting, and its processes are ready',
    ]);
    const unproven = { ...unit('failed'), state: 'ready' } as GatewayServerStatus;
    expect(contradictionsWithin(said(unproven))).toEqual([
      'a is ready, and its processes are not ready',
      'a is ready without a receipt',
    ]);
  });

  it('is caught with the receipt of another process', () => {
    const other = unit('ready');
    Object.assign(other.processes!.processes[0]!, { pid: 8, generation: 4 });
    expect(contradictionsWithin(said(other))).toEqual(['a: the receipt of 7 is shown for 8']);
  });

  it('is caught with a status, or a verdict, that is not that of its servers', () => {
    expect(contradictionsWithin(said(unit('ready'), { code: 503, ready: true }))).toEqual([
      '/status is 503 while a is ready',
    ]);
    expect(contradictionsWithin(said(unit('failed'), { ready: true }))).toEqual([
      '"ready" is true while a is failed',
    ]);
  });

  it('is caught when its process was dead before, but not when it has just died', () => {
    const diedAt = (at: number) => truth({ wasDead: (pid, before) => pid === 7 && at < before });
    expect(liesOfTheDead(READY, diedAt(AT - 600), UP)).toEqual(['a is ready, and its process 7 is dead']);
    expect(liesOfTheDead(READY, diedAt(AT - 100), UP)).toEqual([]);
  });

  it('is caught when a later life was ready before', () => {
    expect(liesOfTheDead(READY, truth({ latest: () => 4 }), UP)).toEqual([
      'a shows life 3, and life 4 was ready',
    ]);
  });

  it('is caught when a remote server has long been gone', () => {
    const far = said({ ...unit('ready'), kind: 'url' });
    const gone = (changedAt: number) => ({ isUp: false, changedAt }) as Remote;
    expect(liesOfTheDead(far, truth(), gone(AT - 8000))).toEqual(['a is ready, and was gone for 7000 ms']);
    expect(liesOfTheDead(far, truth(), gone(AT - 1000))).toEqual([]);
  });
});

describe('what is said between two looks', () => {
  it('/readyz is caught, unless something has changed', () => {
    const waits = { code: 503, waitingFor: ['a'] };
    expect(readyzLies(READY, { code: 200, waitingFor: [] }, READY)).toEqual([]);
    expect(readyzLies(READY, waits, READY)).toEqual(['a is ready, and /readyz waits for [a]']);
    expect(readyzLies(READY, waits, said(unit('ready', { generation: 4 })))).toEqual([]);
    expect(readyzLies(READY, { code: 503, waitingFor: [] }, READY)).toEqual(['/readyz is 503 for []']);
    const failed = said(unit('failed'));
    expect(readyzLies(failed, { code: 200, waitingFor: [] }, failed)).toEqual([
      'a is failed, and /readyz waits for []',
    ]);
  });

  it('/metrics is caught', () => {
    const counted = (count: number) => new Map([['isthmus_server_ready', new Map([['a', count]])]]);
    expect(metricsLies(READY, counted(1), READY)).toEqual([]);
    expect(metricsLies(READY, counted(0), READY)).toEqual(['a is ready, and /metrics has 0']);
  });

  it('a call that fails is caught, and one that should have', () => {
    expect(callLies(READY, READY, 'a', undefined)).toEqual([]);
    expect(callLies(READY, READY, 'a', 'no')).toEqual(['a is ready, and a call failed: no']);
    expect(callLies(READY, said(unit('failed')), 'a', 'no')).toEqual([]);
    const off = said(unit('off'));
    expect(callLies(off, off, 'a', undefined)).toEqual(['a is off, and answered']);
  });
});

describe('the end of a call', () => {
  const ended = (end: Outcome['end'], calledOff = false): Outcome => ({
    ...{ client: 'raw', server: 'legacy', token: 't', answer: 't', calledOff, end },
  });
  const failed = (members: object) =>
    ended({ kind: 'error', error: tellOf(Object.assign(new Error('no'), members)) });

  it.each([
    ['an answer of its own', ended({ kind: 'answer', text: 't' }), 1, undefined],
    ['a code', failed({ code: -32603, data: { sent: 'maybe' } }), 1, undefined],
    ['its end', ended({ kind: 'lost' }), 1, 'never ended'],
    ['one run', ended({ kind: 'answer', text: 't' }), 2, 'ran 2 times'],
    ['the right answer', ended({ kind: 'answer', text: 'u' }), 1, 'was given the answer "u"'],
    ['a server', ended({ kind: 'answer', text: 't' }), 0, 'was answered by nobody'],
    ['words of ours', failed({ message: 'fetch failed', code: 'X' }), 0, 'failed: Error: fetch failed'],
    ['any code', failed({}), 0, 'failed: no code: Error: no'],
    ['the truth', failed({ code: 1, data: { sent: 'no' } }), 1, 'was said not to have been sent'],
  ])('must have %s', (_what, outcome, ran, fault) => {
    if (fault === undefined) expect(faultOf(outcome, ran)).toBeUndefined();
    else expect(faultOf(outcome, ran)).toContain(fault);
  });
});
