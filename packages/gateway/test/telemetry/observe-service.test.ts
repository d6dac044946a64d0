import { IsthmusError, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type { Call, ServedSession, Service, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import { describe, expect, it } from 'vitest';
import type { CallRecord, SessionRecord } from '../../src/telemetry/call-record.js';
import { observeService, observeTwice } from '../../src/telemetry/observe-service.js';
import { callOf, PEER, recordOf, serviceOf } from '../support/telemetry.js';

/** A service under observation, and a clock that moves by hand. */
function observed(handle: Service['handle'], more: Partial<Parameters<typeof observeService>[1]> = {}) {
  const records: CallRecord[] = [];
  const time = { now: 100 };
  const service = observeService(serviceOf(handle), {
    server: 'weather',
    onCall: (record) => records.push(record),
    now: () => time.now,
    ...more,
  });
  return { service, records, time };
}

const RECORD = recordOf({ principal: 'alice', client: 'test client', durationMs: 0 });
const CALL = { name: 'forecast', arguments: {} };

describe('each call that is over', () => {
  it('is told once, with what it was, who made it and how long it took', async () => {
    const { service, records, time } = observed(
      async () => {
        time.now += 25;
        return { content: [] };
      },
      { transport: 'tcp' },
    );
    const answer = service.handle(callOf('tools/call', CALL));
    expect(records).toEqual([]);
    expect(await answer).toEqual({ content: [] });
    expect(records).toEqual([{ ...RECORD, durationMs: 25, transport: 'tcp' }]);
  });

  it('is told when it was answered at once, and costs no promise then', () => {
    const { service, records } = observed(() => ({ tools: [] }));
    expect(service.handle(callOf('tools/list'))).toEqual({ tools: [] });
    expect(records).toEqual([{ ...RECORD, method: 'tools/list', tool: undefined }]);
  });

  it.each([
    ['prompts/get', { name: 'greet' }, { prompt: 'greet' }],
    ['resources/read', { uri: 'file:///a' }, { uri: 'file:///a' }],
    ['completion/complete', { ref: {} }, {}],
    ['tools/call', { name: 7 }, {}],
  ])('is told with what it was about: %s %j', (method, params, about) => {
    const { service, records } = observed(() => ({}));
    service.handle(callOf(method, params));
    expect(records).toEqual([{ ...RECORD, method, tool: undefined, ...about }]);
  });

  it.each([
    ['tool_error', { content: [], isError: true }, { errorType: 'tool_error' }],
    ['input_required', { resultType: 'input_required', inputRequests: {} }, {}],
    ['ok', { content: [], isError: false }, {}],
  ])('is told with its outcome: %s', async (outcome, result, more) => {
    const { service, records } = observed(async () => result);
    expect(await service.handle(callOf('tools/call', CALL))).toBe(result);
    expect(records).toEqual([{ ...RECORD, outcome, ...more }]);
  });

  it.each([
    [
      new ProtocolError(-32602, 'no such tool'),
      { outcome: 'error', errorType: '-32602', code: -32602, message: 'no such tool' },
    ],
    [
      new ProtocolError(-32603, 'it ended', { reason: 'CHILD_EXITED', sent: 'maybe' }),
      { outcome: 'error', errorType: 'CHILD_EXITED', code: -32603, message: 'it ended' },
    ],
    [
      new IsthmusError('TIMED_OUT', 'too slow'),
      { outcome: 'error', errorType: 'TIMED_OUT', code: -32603, message: 'too slow' },
    ],
    [new Error('a bug'), { outcome: 'error', errorType: '-32603', code: -32603, message: 'a bug' }],
    [
      new IsthmusError('CANCELLED', 'not wanted'),
      { outcome: 'cancelled', errorType: 'cancelled', message: 'not wanted' },
    ],
    [
      new ProtocolError(-32603, 'not wanted', { reason: 'CANCELLED' }),
      { outcome: 'cancelled', errorType: 'cancelled', message: 'not wanted' },
    ],
  ])('is told with why it failed, and fails in the same way: %s', async (error, expected) => {
    for (const handle of [
      () => Promise.reject(error),
      () => {
        throw error;
      },
    ]) {
      const { service, records } = observed(handle);
      const failed = await Promise.resolve()
        .then(() => service.handle(callOf('tools/call', CALL)))
        .catch((thrown) => thrown);
      expect(failed).toBe(error);
      expect(records).toEqual([{ ...RECORD, ...expected }]);
    }
  });

  it('was cancelled when nobody waits for it, whatever came of it', async () => {
    const { service, records } = observed(async () => ({ content: [] }));
    const call = callOf('tools/call', CALL);
    const answer = service.handle(call);
    call.abort();
    await answer;
    expect(records).toEqual([{ ...RECORD, outcome: 'cancelled', errorType: 'cancelled' }]);
  });

  it('is told even when the service has a bug and gives nothing back', async () => {
    for (const nothing of [() => undefined, async () => undefined]) {
      const { service, records } = observed(nothing as never);
      expect(await service.handle(callOf('tools/call', CALL))).toBeUndefined();
      expect(records).toEqual([RECORD]);
    }
  });

  it('is announced when it begins', async () => {
    const order: string[] = [];
    const service = observeService(
      serviceOf(async () => {
        order.push('handle');
        return {};
      }),
      {
        server: 'weather',
        side: 'client',
        revision: () => '2025-11-25',
        onBegin: ({ server, side }) => order.push(`begin ${server} ${side}`),
        onCall: ({ side, revision }) => order.push(`end ${side} ${revision}`),
      },
    );
    await service.handle(callOf('tools/list'));
    expect(order).toEqual(['begin weather client', 'handle', 'end client 2025-11-25']);
  });

  it('is not harmed by those who watch', async () => {
    const fail = () => {
      throw new Error('a watcher with a bug');
    };
    const run = <T>(work: (call: Call) => T) => work(callOf('tools/list'));
    for (const start of [fail, () => ({ run, end: fail })]) {
      const tracer = { isOn: true, start };
      const { service } = observed(async () => ({ ok: 1 }), { onCall: fail, onBegin: fail, tracer });
      expect(await service.handle(callOf('tools/list'))).toEqual({ ok: 1 });
    }
  });
});

describe('all else of the service', () => {
  it('is as it was, and asked of it each time', () => {
    const inner = { ...serviceOf(() => ({})), discoveryCache: { ttlMs: 1, cacheScope: 'public' } as const };
    const service = observeService(inner, { server: 'a', onCall() {} });
    inner.instructions = 'be quick';
    expect([service.info, service.instructions, service.discoveryCache, service.capabilities()]).toEqual([
      { name: 'far', version: '9' },
      'be quick',
      { ttlMs: 1, cacheScope: 'public' },
      { tools: {} },
    ]);
  });

  it('has no member that the service has not', () => {
    const { service } = observed(() => ({}));
    for (const name of ['headerParams', 'ready', 'listen', 'session'] as const) {
      expect(service[name]).toBeUndefined();
    }
  });

  it('has those that it has, called on the service itself', async () => {
    class Full {
      readonly #secret = 'own';
      readonly info = { name: 'full', version: '1' };
      readonly instructions = undefined;
      readonly discoveryCache = undefined;
      capabilities() {
        return {};
      }
      handle() {
        return { secret: this.#secret };
      }
      watch(onChange: (change: { kind: 'tools' }) => void) {
        onChange({ kind: 'tools' });
        return () => void this.#secret;
      }
      headerParams(tool: string) {
        return [{ header: this.#secret + tool, path: ['x'], type: 'string' as const }];
      }
      ready(_opening: unknown, principal: string | undefined) {
        return this.#secret === principal ? undefined : Promise.resolve();
      }
      async listen() {
        return {
          honoured: { toolsListChanged: this.#secret === 'own' },
          ended: new Promise<never>(() => {}),
          stop() {},
        };
      }
    }
    const service = observeService(new Full(), { server: 'full', onCall() {} });
    const changes: unknown[] = [];
    service.watch((change) => changes.push(change))();
    expect(changes).toEqual([{ kind: 'tools' }]);
    expect(service.handle(callOf('tools/list'))).toEqual({ secret: 'own' });
    expect(service.headerParams!('-x')).toEqual([{ header: 'own-x', path: ['x'], type: 'string' }]);
    expect(service.ready!({ method: 'ping', params: undefined }, 'own')).toBeUndefined();
    expect(service.ready!({ method: 'ping', params: undefined }, 'other')).toBeInstanceOf(Promise);
    expect((await service.listen!(PEER, {}, () => {})).honoured).toEqual({ toolsListChanged: true });
    expect(service.session).toBeUndefined();
  });

  it('keeps sessions as it did, and says how long they were', async () => {
    const heard: string[] = [];
    const keeper: SessionKeeper = {
      begin: () => heard.push('begin'),
      setLogLevel: async (level) => void heard.push(level),
      subscribe: async (uri) => void heard.push(`+${uri}`),
      unsubscribe: async (uri) => void heard.push(`-${uri}`),
      rootsChanged: () => heard.push('roots'),
      end: () => heard.push('end'),
    };
    const time = { now: 5 };
    const sessions: SessionRecord[] = [];
    const inner = { ...serviceOf(() => ({})), session: () => keeper };
    const service = observeService(inner, {
      server: 'weather',
      onCall() {},
      onSession: (record) => sessions.push(record),
      now: () => time.now,
    });
    const near = { peer: { ...PEER, era: 'legacy', revision: '2025-06-18' } } as ServedSession;
    const kept = service.session!(near);
    kept.begin();
    await kept.setLogLevel('error');
    await kept.subscribe('a');
    await kept.unsubscribe('a');
    kept.rootsChanged();
    time.now += 1000;
    expect(sessions).toEqual([]);
    kept.end();
    kept.end();
    expect(heard).toEqual(['begin', 'error', '+a', '-a', 'roots', 'end', 'end']);
    expect(sessions).toEqual([
      { server: 'weather', revision: '2025-06-18', transport: undefined, durationMs: 1000 },
    ]);
  });
});

describe('a call that nothing can hold between the client and the upstream', () => {
  const OUTCOMES = [
    ['at once', () => ({ content: [] })],
    ['later', async () => ({ content: [] })],
    ['with an error', () => Promise.reject(new ProtocolError(-32602, 'no'))],
    ['with an exception', () => fails()],
  ] as const;

  it.each(OUTCOMES)('is told as by two observers around each other, if it ends %s', async (_, handle) => {
    const told = async (observe: typeof observeTwice) => {
      const seen: unknown[] = [];
      const time = { now: 0 };
      const options = (side: 'server' | 'client') => ({
        ...{ server: 'weather', side, now: () => time.now },
        onCall: (record: CallRecord) => seen.push(record),
        onBegin: (begun: unknown) => seen.push(begun),
      });
      const inner = serviceOf(() => {
        time.now += 7;
        return handle();
      });
      const upstream = { ...options('client'), transport: 'pipe' as const };
      const service = observe(inner, options('server'), upstream);
      await Promise.resolve()
        .then(() => service.handle(callOf('tools/call', CALL)))
        .catch(() => {});
      return seen;
    };
    const twice = await told(observeTwice);
    expect(twice).toEqual(
      await told((inner, client, upstream) => observeService(observeService(inner, upstream), client)),
    );
    expect(twice).toHaveLength(4);
    expect(twice[2]).toMatchObject({ side: 'client', transport: 'pipe', durationMs: 7 });
    expect(twice[3]).toMatchObject({ side: 'server', transport: undefined, durationMs: 7 });
  });

  it('has a span for each side while a tracer is on', () => {
    const spans: string[] = [];
    const tracer = {
      isOn: true,
      start: (call: Call, { side }: { readonly side: string }) => ({
        run: <T>(work: (call: Call) => T) => {
          spans.push(side);
          return work(call);
        },
        end: () => spans.push(`end of ${side}`),
      }),
    };
    const options = { server: 'weather', onCall() {}, tracer };
    const service = observeTwice(
      serviceOf(() => ({})),
      options,
      { ...options, side: 'client' },
    );
    service.handle(callOf('tools/list'));
    tracer.isOn = false;
    service.handle(callOf('tools/list'));
    expect(spans).toEqual(['server', 'client', 'end of client', 'end of server']);
  });
});

function fails(): never {
  throw new Error('broken');
}
