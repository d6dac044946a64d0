import { describe, expect, it } from 'vitest';
import type { LogEntry } from '../../src/index.js';
import { failure, hostOf, program, puppet, settle, tool } from '../support/host-sharing.js';

type SharedHost = ReturnType<typeof hostOf>;

/** A conversation, and the logs that it got. */
function heardBy(host: SharedHost, name: string) {
  const heard: unknown[] = [];
  const onLog = ({ data }: LogEntry) => void heard.push(data);
  return { client: host.conversation('it', { name, onLog }), heard };
}

/** The log lines that the host told of, and whose they were. */
function told(host: SharedHost): (readonly [string | undefined, unknown])[] {
  return host.seen.flatMap((event) =>
    event.kind === 'log' ? [[event.conversation, event.entry.data] as const] : [],
  );
}

const ownerless = (host: SharedHost) =>
  told(host).flatMap(([who, data]) => (who === undefined ? [data] : []));

describe('a log of a legacy server', () => {
  it('belongs to the only conversation that has a call in flight', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const server = await greet(stage, a.client, b.client);
    const call = a.client.callTool('work');
    const request = await server.next();
    server.log('info', 'of a');
    server.say(request, 'done');
    await call;
    expect([a.heard, b.heard]).toEqual([['of a'], []]);
    expect(ownerless(host)).toEqual([]);
  });

  it('is the host’s, as an event that names nobody, when two have', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const calls = [a.client.callTool('work'), b.client.callTool('work')];
    const server = await stage;
    const requests = [await server.next(), await server.next()];
    server.log('error', 'whose?');
    for (const request of requests) server.say(request, 'done');
    await Promise.all(calls);
    expect([a.heard, b.heard]).toEqual([[], []]);
    expect(told(host)).toEqual([[undefined, 'whose?']]);
  });

  it('is the host’s when two are there and both are at rest', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const server = await greet(stage, a.client, b.client);
    server.log('error', 'by the way');
    while (told(host).length === 0) await settle(1);
    expect(told(host)).toEqual([[undefined, 'by the way']]);
    expect([a.heard, b.heard]).toEqual([[], []]);
  });

  it('is told to the host with the name of the conversation, where that is known', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const server = await greet(stage, a.client, b.client);
    const call = a.client.callTool('work');
    const request = await server.next();
    server.log('info', 'of a');
    server.say(request, 'done');
    await call;
    expect(told(host)).toEqual([['a', 'of a']]);
  });

  it('goes to the call that wants it', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const server = await greet(stage, a.client, b.client);
    const own: unknown[] = [];
    const call = a.client.callTool('work', {}, { onLog: ({ data }) => void own.push(data) });
    const request = await server.next();
    server.log('info', 'of the call');
    server.say(request, 'done');
    await call;
    expect([own, a.heard, b.heard]).toEqual([['of the call'], [], []]);
  });

  it('of a call that was given up reaches no other conversation', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const server = await greet(stage, a.client, b.client);
    const over = new AbortController();
    const given = failure(a.client.callTool('work', {}, { signal: over.signal }));
    await server.next();
    over.abort();
    await given;
    await server.expect('notifications/cancelled');
    const call = b.client.callTool('work');
    const request = await server.next();
    server.log('error', 'a secret of a');
    server.say(request, 'done');
    await call;
    await a.client.close();
    server.log('error', 'another secret of a');
    await server.roundTrip(b.client);
    expect(b.heard).toEqual([]);
    expect(told(host)).toEqual([
      [undefined, 'a secret of a'],
      [undefined, 'another secret of a'],
    ]);
  });
});

describe('the level of a legacy session (LOG-010)', () => {
  it('is the most talkative that anybody wants, and goes back when that one leaves', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => heardBy(host, name).client);
    const first = a!.setLogLevel('error');
    const server = await stage;
    const set = async () => {
      const request = await server.expect('logging/setLevel');
      server.answer(request, {});
      return request.params.level;
    };
    expect(await set()).toBe('error');
    await first;
    const second = b!.setLogLevel('debug');
    expect(await set()).toBe('debug');
    await second;
    await c!.setLogLevel('warning');
    expect(await server.roundTrip(a!)).toEqual([]);
    await b!.close();
    expect(await set()).toBe('warning');
    await c!.close();
    expect(await set()).toBe('error');
  });

  it('is filtered for each: nobody hears more than it wanted because another wanted more', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b, c] = [heardBy(host, 'a'), heardBy(host, 'b'), heardBy(host, 'c')];
    const setting = a.client.setLogLevel('debug');
    const server = await stage;
    server.answer(await server.expect('logging/setLevel'), {});
    await setting;
    await b.client.setLogLevel('error');
    for (const { client } of [a, b, c]) {
      const call = client.callTool('work');
      const request = await server.next();
      for (const level of ['debug', 'info', 'error']) server.log(level, level);
      server.say(request, 'done');
      await call;
    }
    expect([a.heard, b.heard]).toEqual([['debug', 'info', 'error'], ['error']]);
    // Whoever wanted nothing in particular gets what servers tell by default, not what another asked for.
    expect(c.heard).toEqual(['info', 'error']);
  });

  it('is filtered for the one that stays, until the server has heard that the other left', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const setting = a.client.setLogLevel('debug');
    const server = await stage;
    server.answer(await server.expect('logging/setLevel'), {});
    await setting;
    await b.client.setLogLevel('error');
    const call = b.client.callTool('work');
    const request = await server.next();
    await a.client.close();
    server.log('debug', 'too much');
    server.log('error', 'wanted');
    expect((await server.expect('logging/setLevel')).params.level).toBe('error');
    server.say(request, 'done');
    await call;
    expect(b.heard).toEqual(['wanted']);
  });

  it('is filtered for the one that stays also when that never chose a level', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const setting = a.client.setLogLevel('debug');
    const server = await stage;
    server.answer(await server.expect('logging/setLevel'), {});
    await setting;
    const call = b.client.callTool('work');
    const request = await server.next();
    await a.client.close();
    server.log('debug', 'too much');
    server.log('info', 'as by default');
    server.say(request, 'done');
    await call;
    expect(b.heard).toEqual(['as by default']);
  });

  it('fails for all who wait for it when the server refuses it', async () => {
    const { definition, stage } = await puppet('legacy');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a').client, heardBy(host, 'b').client];
    const server = await greet(stage, a, b);
    const setting = [failure(a.setLogLevel('debug')), failure(b.setLogLevel('debug'))];
    for (const outcome of setting) outcome.catch(() => {});
    for (let refused = 0; refused < 2; refused += 1) {
      const [request] = (await server.roundTrip(a)).filter(({ method }) => method === 'logging/setLevel');
      if (request) server.refuse(request, -32602, 'no');
    }
    expect(await Promise.all(setting)).toMatchObject([{ code: -32602 }, { code: -32602 }]);
  });
});

describe('logs of a modern server', () => {
  const LEVEL = 'io.modelcontextprotocol/logLevel';

  it('are asked for by each call for itself, never by one conversation for another (LOG-002)', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a').client, heardBy(host, 'b').client];
    const setting = a.setLogLevel('debug');
    const calls = [
      () => a.callTool('one'),
      () => a.callTool('two', {}, { logLevel: 'error' }),
      () => b.callTool('three'),
      () => b.callTool('four', {}, { logLevel: 'warning' }),
    ];
    await setting;
    const levels: unknown[] = [];
    for (const make of calls) {
      const call = make();
      const server = await stage;
      const request = await server.next();
      levels.push(request.params._meta[LEVEL]);
      server.say(request, 'done');
      await call;
    }
    expect(levels).toEqual(['debug', 'error', undefined, 'warning']);
  });

  it('belong to the only call that asked for them', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const own: unknown[] = [];
    const calls = [
      a.client.callTool('one', {}, { logLevel: 'info', onLog: ({ data }) => void own.push(data) }),
      b.client.callTool('two'),
    ];
    const server = await stage;
    const requests = [await server.next(), await server.next()];
    server.log('info', 'of a');
    for (const request of requests) server.say(request, 'done');
    await Promise.all(calls);
    expect([own, a.heard, b.heard]).toEqual([['of a'], [], []]);
  });

  it('are the host’s, as events that name nobody, when two conversations asked for them', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const calls = [a, b].map(({ client }) => client.callTool('work', {}, { logLevel: 'info' }));
    const server = await stage;
    const requests = [await server.next(), await server.next()];
    server.log('info', 'whose?');
    for (const request of requests) server.say(request, 'done');
    await Promise.all(calls);
    expect([a.heard, b.heard]).toEqual([[], []]);
    expect(told(host)).toEqual([[undefined, 'whose?']]);
  });

  it('of a call that was given up reach no other conversation', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const over = new AbortController();
    const given = failure(a.client.callTool('work', {}, { signal: over.signal, logLevel: 'info' }));
    const server = await stage;
    await server.next();
    over.abort();
    await given;
    await server.expect('notifications/cancelled');
    const call = b.client.callTool('work', {}, { logLevel: 'info' });
    const request = await server.next();
    server.log('info', 'a secret of a');
    server.say(request, 'done');
    await call;
    expect(b.heard).toEqual([]);
    expect(told(host)).toEqual([[undefined, 'a secret of a']]);
  });
});

describe.each([
  { name: 'v1', file: 'server-asks-whoever-calls.mjs' },
  { name: 'v2', file: 'server-asks-in-rounds.mjs' },
])('a server of the official SDK $name', ({ file }) => {
  it('logs for each conversation what that wants', async () => {
    const host = hostOf(program(file));
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    await a.client.setLogLevel('debug');
    await b.client.setLogLevel('warning');
    for (const { client } of [a, b]) {
      for (const level of ['debug', 'error']) {
        expect(await tool(client.callTool('log', { text: level, level }))).toBe('logged');
      }
    }
    expect([a.heard, b.heard]).toEqual([['debug', 'error'], ['error']]);
  });

  it('logs for nobody while two conversations have calls in flight', async () => {
    const host = hostOf(program(file));
    const [a, b] = [heardBy(host, 'a'), heardBy(host, 'b')];
    const calls = [a, b].map(async ({ client }, at) => {
      await client.setLogLevel('debug');
      await client.callTool('log', { text: String(at), level: 'info', of: 2 });
    });
    await Promise.all(calls);
    const known = [...a.heard, ...b.heard];
    // The second line may come when only its own call is left, and then it must be that one’s.
    expect(a.heard).not.toContain('1');
    expect(b.heard).not.toContain('0');
    expect([...ownerless(host), ...known].sort()).toEqual(['0', '1']);
    expect(ownerless(host).length).toBeGreaterThanOrEqual(1);
  });
});

/** Lets two conversations speak once, so that both are there. */
async function greet(
  stage: Awaited<ReturnType<typeof puppet>>['stage'],
  ...clients: ReturnType<SharedHost['conversation']>[]
) {
  const calls = clients.map((client) => client.callTool('hello'));
  const server = await stage;
  for (const _ of calls) server.say(await server.next(), 'hello');
  await Promise.all(calls);
  return server;
}
