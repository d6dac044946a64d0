import { type Call, type Change, createServer, type Peer, type Service } from '@isthmus/sdk';
import type { OpenListen, ServedSession, SessionKeeper } from '@isthmus/sdk/internal/exchange/call.js';
import { expect, it } from 'vitest';
import { limitService, loadOf } from '../../src/limits/limit-service.js';
import { createRateLimit } from '../../src/limits/rate-limit.js';
import { callOf } from '../support/call-of.js';

const LIMITS = {
  maxConcurrent: 1,
  maxConcurrentPerCaller: 1,
  maxQueue: 1,
  maxQueueMs: 1,
  maxListens: 1,
  maxListensPerCaller: 1,
};

/** Every member breaks unless it is called on the object itself. */
class Complete implements Service {
  readonly #seen: unknown[] = [];
  #name = 'before';

  get seen(): unknown[] {
    return this.#seen;
  }

  rename(): void {
    this.#name = 'after';
  }

  get info() {
    return { name: this.#name, version: '1' };
  }

  get instructions() {
    return this.#name;
  }

  get discoveryCache() {
    return { ttlMs: this.#name.length, cacheScope: 'public' as const };
  }

  capabilities() {
    return { experimental: { [this.#name]: {} } };
  }

  handle(call: Call) {
    this.#seen.push(call.method);
    return { name: this.#name };
  }

  headerParams(tool: string) {
    return [{ header: tool, path: [this.#name], type: 'string' as const }];
  }

  watch(onChange: (change: Change) => void) {
    onChange({ kind: 'tools' });
    return () => void this.#seen.push('unwatched');
  }

  ready(opening: { method: string }, principal: string | undefined) {
    this.#seen.push([opening.method, principal]);
    return undefined;
  }

  async listen(_peer: Peer, honoured: object): Promise<OpenListen> {
    return { honoured, ended: new Promise(() => {}), stop: () => void this.#seen.push('stopped') };
  }

  session(session: ServedSession): SessionKeeper {
    this.#seen.push(session.peer.principal);
    return KEEPER;
  }
}

const KEEPER: SessionKeeper = {
  begin() {},
  setLogLevel: async () => {},
  subscribe: async () => {},
  unsubscribe: async () => {},
  rootsChanged() {},
  end() {},
};

it('without limits a service is itself', () => {
  const service = new Complete();
  expect(limitService(service, { server: 's' })).toBe(service);
  expect(limitService(service, { server: 's', limits: {} })).toBe(service);
  expect(limitService(service, { server: 's', limits: { maxConcurrent: undefined, maxQueue: 5 } })).toBe(
    service,
  );
  expect(loadOf(service)).toBe(undefined);
});

it('within limits it has every member, and what each says now', async () => {
  const service = new Complete();
  const limited = limitService(service, { server: 's', limits: LIMITS });
  expect(limited.info.name).toBe('before');
  service.rename();
  expect(limited.info).toEqual({ name: 'after', version: '1' });
  expect(limited.instructions).toBe('after');
  expect(limited.discoveryCache).toEqual({ ttlMs: 5, cacheScope: 'public' });
  expect(limited.capabilities()).toEqual({ experimental: { after: {} } });
  const { headerParams, ready, session, listen } = limited;
  expect(headerParams!('t')).toEqual([{ header: 't', path: ['after'], type: 'string' }]);
  expect(ready!({ method: 'ping', params: undefined }, 'ada')).toBe(undefined);
  expect(session!({ peer: { principal: 'bob' } } as ServedSession)).toBe(KEEPER);
  const changes: Change[] = [];
  limited.watch((change) => changes.push(change))();
  expect(changes).toEqual([{ kind: 'tools' }]);
  const { call } = callOf('ada');
  // What is answered at once is answered at once.
  expect(limited.handle(call)).toEqual({ name: 'after' });
  const open = await listen!(call.peer, { toolsListChanged: true }, () => {});
  expect(open.honoured).toEqual({ toolsListChanged: true });
  open.stop();
  open.stop();
  expect(loadOf(limited)).toEqual({ running: 0, waiting: 0, asking: 0, listens: 0 });
  expect(service.seen).toEqual([['ping', 'ada'], 'bob', 'unwatched', 'tools/call', 'stopped', 'stopped']);
});

it('a subscription that ends by itself is counted no longer, whoever still holds it', async () => {
  let end = () => {};
  const service: Service = {
    ...createServer({ name: 's', version: '1' }),
    listen: async (_peer, honoured) => {
      const ended = new Promise<{ error: unknown }>((resolve) => {
        end = () => resolve({ error: undefined });
      });
      return { honoured, ended, stop() {} };
    },
  };
  const limited = limitService(service, { server: 's', limits: { maxListens: 1 } });
  const { ended } = await limited.listen!(callOf('ada').call.peer, {}, () => {});
  expect(loadOf(limited)?.listens).toBe(1);
  end();
  await ended;
  expect(loadOf(limited)?.listens).toBe(0);
});

it('limits may be around limits, and what it has to do is still told', async () => {
  const service: Service = {
    ...createServer({ name: 's', version: '1' }),
    handle: () => new Promise(() => {}),
  };
  const inner = limitService(service, { server: 's', limits: { maxConcurrent: 1 } });
  const outer = limitService(inner, { server: 's', rate: createRateLimit({ perMinute: 10 }) });
  void outer.handle(callOf('ada').call);
  const waiting = callOf('ada');
  const second = outer.handle(waiting.call);
  expect(loadOf(outer)).toEqual({ running: 1, waiting: 1, asking: 0, listens: 0 });
  waiting.cancel();
  await expect(second).rejects.toThrow('called off');
});

it('within limits it has no member that it did not have', () => {
  const { headerParams: _headerParams, ...bare } = createServer({ name: 'bare', version: '1' });
  const rate = createRateLimit({ perMinute: 1 });
  for (const options of [{ limits: { maxConcurrent: 1 } }, { rate }]) {
    const limited = limitService(bare as Service, { server: 's', ...options });
    expect(limited).not.toBe(bare);
    expect([limited.headerParams, limited.ready, limited.listen, limited.session]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  }
});

it('the call is the same call, within limits', async () => {
  const { call } = callOf('ada');
  const said: unknown[] = [];
  const given: Call = {
    ...call,
    answers: { a: { roots: [] } },
    state: 'state',
    logLevel: 'info',
    wantsProgress: true,
    cancellation: call.cancellation,
    signal: call.signal,
    progress: (update) => said.push(update),
    log: (entry) => said.push(entry),
    ask: async (request, signal) => {
      said.push([request.method, signal?.aborted]);
      return { roots: [] };
    },
  };
  const service: Service = {
    ...createServer({ name: 's', version: '1' }),
    async handle(seen) {
      const { method, params, peer, signal, cancellation, answers, state, logLevel, wantsProgress } = seen;
      seen.progress({ progress: 1 });
      seen.log({ level: 'info', data: 'x' });
      const answer = await seen.ask({ method: 'roots/list' }, AbortSignal.abort());
      return {
        answer,
        same: [method, params, peer, signal, cancellation, answers, state, logLevel, wantsProgress],
      };
    },
  };
  const limited = limitService(service, { server: 's', limits: LIMITS });
  const { method, params, peer, signal, cancellation, answers, state, logLevel, wantsProgress } = given;
  const { same, answer } = await limited.handle(given);
  expect(answer).toEqual({ roots: [] });
  expect(
    (same as unknown[]).map(
      (value, n) =>
        value === [method, params, peer, signal, cancellation, answers, state, logLevel, wantsProgress][n],
    ),
  ).toEqual(Array(9).fill(true));
  expect(said).toEqual([{ progress: 1 }, { level: 'info', data: 'x' }, ['roots/list', true]]);
});

it.each([
  [{ maxConcurrent: 0 }, 'maxConcurrent must be a whole number from 1 on, got 0'],
  [{ maxQueue: -1 }, 'maxQueue must be a whole number from 0 on, got -1'],
  [{ maxListens: 1.5 }, 'maxListens must be a whole number from 1 on, got 1.5'],
])('limits that make no sense are refused: %j', (limits, message) => {
  const service = createServer({ name: 's', version: '1' });
  expect(() => limitService(service, { server: 's', limits })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTION', message }),
  );
});
