import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, Service } from '@isthmus/sdk/internal/exchange/call.js';
import type { ServerStatus } from '@isthmus/sdk/internal/host/status.js';
import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../src/limits/rate-limit.js';
import { assembleServer, type PipelineInputs, STAGES } from '../../src/pipeline/server-pipeline.js';
import { RemoteHealth } from '../../src/pipeline/track-health.js';
import { callOf, serviceOf } from '../support/telemetry.js';

/** A pipeline around a bridge that the test plays; `seen` has what its parts received, in order. */
function pipeline(
  inputs: Partial<PipelineInputs> = {},
  handle: Service['handle'] = async () => ({ content: [] }),
) {
  const seen: string[] = [];
  const bridge = serviceOf((call) => {
    seen.push(`bridge ${call.method}`);
    return handle(call);
  });
  const service = assembleServer(bridge, {
    server: 'files',
    clock: systemClock,
    transport: 'pipe',
    observer: {
      onClientCall: ({ outcome }) => seen.push(`client saw ${outcome}`),
      onUpstreamCall: ({ outcome }) => seen.push(`upstream saw ${outcome}`),
      onBegin() {},
      onSession() {},
      onRefused: ({ limit }) => seen.push(`refused by ${limit}`),
    },
    ...inputs,
  });
  /** The message of the error, or `ok`. */
  const tell = async (tool = 'read', more: Partial<Call> = {}) => {
    try {
      await service.handle(callOf('tools/call', { name: tool }, more));
      return 'ok';
    } catch (error) {
      return error instanceof ProtocolError ? error.message : `not of the protocol: ${String(error)}`;
    }
  };
  return { service, seen, tell };
}

/** The processes of a server that could not be started. */
function failedStart(): NonNullable<PipelineInputs['processes']> {
  const lastExit = { phase: 'start', reason: 'files ended with code 1', generation: 1 };
  const status = { enabled: true, model: 'shared', state: 'backing-off', lastExit, processes: [] };
  return {
    isBackingOff: () => true,
    status: () => status as unknown as ServerStatus,
    isKnown: () => false,
    clock: systemClock,
  };
}

const once = () => createRateLimit({ perMinute: 1 });

it('has these stages, from the client to the bridge', () => {
  expect(STAGES.map(({ name }) => name)).toEqual([
    'observeClients',
    'auditCalls',
    'enforceAccess',
    'limitCaller',
    'limitServer',
    'observeUpstream',
    'selectTools',
    'appendStderr',
    'trackHealth',
    'failFast',
  ]);
});

it('is the bridge itself when there is nothing to do', () => {
  const bridge = serviceOf(() => ({}));
  expect(assembleServer(bridge, { server: 'files', clock: systemClock, transport: 'pipe' })).toBe(bridge);
});

describe('the order of the stages', () => {
  it('lets a call pass all of them, and the bridge ends first', async () => {
    const { seen, tell } = pipeline({
      rate: once(),
      limits: { maxConcurrent: 1 },
      tools: { allow: ['read'] },
    });
    expect(await tell()).toBe('ok');
    expect(seen).toEqual(['bridge tools/call', 'upstream saw ok', 'client saw ok']);
  });

  it('observes a call that the limit of the caller refuses, as one that the upstream did not receive', async () => {
    const { seen, tell } = pipeline({ rate: once() });
    await tell();
    seen.length = 0;
    expect(await tell()).toContain('You call too often');
    expect(seen).toEqual(['refused by rate', 'client saw error']);
  });

  it('observes a call that the limit of the server refuses, as one that the upstream did not receive', async () => {
    const { seen, service, tell } = pipeline(
      { limits: { maxConcurrent: 1, maxQueue: 0 } },
      () => new Promise(() => {}),
    );
    void service.handle(callOf('tools/call', { name: 'read' }));
    expect(await tell()).toContain('files is busy');
    expect(seen).toEqual(['bridge tools/call', 'refused by maxConcurrent', 'client saw error']);
  });

  it('asks the limit of the caller before that of the server', async () => {
    const { seen, service, tell } = pipeline(
      { rate: once(), limits: { maxConcurrent: 1, maxQueue: 0 } },
      () => new Promise(() => {}),
    );
    void service.handle(callOf('tools/call', { name: 'read' }));
    // Both limits are reached now.
    expect(await tell()).toContain('You call too often');
    expect(seen).toEqual(['bridge tools/call', 'refused by rate', 'client saw error']);
  });

  it('counts a call to a hidden tool against the limits, and observes it on both sides', async () => {
    const { seen, tell } = pipeline({ limits: { ratePerMinute: 1 }, tools: { deny: ['write'] } });
    expect(await tell('write')).toBe('Unknown tool: write');
    expect(seen).toEqual(['upstream saw error', 'client saw error']);
    expect(await tell('read')).toContain('You call too often');
  });

  it('does not read the status of the processes for a call while none of them waits to be started again', async () => {
    let reads = 0;
    const processes = { ...failedStart(), isBackingOff: () => false };
    const status = () => {
      reads += 1;
      return processes.status();
    };
    const { tell } = pipeline({ processes: { ...processes, status } });
    expect(await tell()).toBe('ok');
    expect(reads).toBe(0);
  });

  it('says of a hidden tool that it is unknown, also while the server cannot be started', async () => {
    const { tell } = pipeline({ tools: { deny: ['write'] }, processes: failedStart() });
    expect(await tell('write')).toBe('Unknown tool: write');
    expect(await tell('read')).toContain('files ended with code 1; it is tried again in');
  });

  it('appends stderr to what fail-fast says, and does not ask the bridge', async () => {
    const { seen, tell } = pipeline({ processes: failedStart(), lastStderr: () => 'no such module\n' });
    expect(await tell()).toMatch(
      /^files ended with code 1; it is tried again in 1 s; last stderr: no such module$/,
    );
    expect(seen).toEqual(['upstream saw error', 'client saw error']);
  });

  it('refuses a call to a server that is switched off, and observes it', async () => {
    const upstream = { label: 'far', open: () => ({}) } as unknown as ConstructorParameters<
      typeof RemoteHealth
    >[0]['upstream'];
    const health = new RemoteHealth({ upstream, clock: systemClock, onChange() {} });
    health.isOff = true;
    const { seen, tell } = pipeline({ health, transport: 'tcp' });
    expect(await tell()).toContain('far is switched off; start it to use it');
    expect(seen).toEqual(['upstream saw error', 'client saw error']);
  });
});
