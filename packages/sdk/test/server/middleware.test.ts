import { describe, expect, it } from 'vitest';
import { createServer, type Middleware, ProtocolError } from '../../src/index.js';
import { callTool, connectTo, ERAS, payload, text } from '../support/server.js';

function serverWith(...middlewares: unknown[]) {
  const server = createServer({ name: 'middleware', version: '1' });
  server.tool('echo', {}, (args) => JSON.stringify(args));
  server.tool('fail', {}, () => {
    throw new Error('tool failed');
  });
  server.tool('refuse', {}, () => {
    throw new ProtocolError(4001, 'refused');
  });
  server.prompt('p', {}, () => 'x');
  for (const middleware of middlewares) server.use(middleware as Middleware);
  return server;
}

describe.each(ERAS)('middleware, %s era', (era) => {
  it('wraps in order of registration: the first one is the outermost', async () => {
    const seen: string[] = [];
    const named =
      (name: string): Middleware =>
      async (call, next) => {
        seen.push(`${name} > ${call.method}`);
        const result = await next();
        seen.push(`${name} <`);
        return result;
      };
    await using peer = await connectTo(serverWith(named('outer'), named('inner')), era);
    expect(await callTool(peer, 'echo', { a: 1 })).toEqual(text('{"a":1}'));
    expect(seen).toEqual(['outer > tools/call', 'inner > tools/call', 'inner <', 'outer <']);
  });

  it('sees every method of the server, and who calls', async () => {
    const seen: string[] = [];
    const watch: Middleware = (call, next) => {
      seen.push(`${call.peer.era} ${call.method}`);
      return next();
    };
    await using peer = await connectTo(serverWith(watch), era);
    await peer.result('tools/list');
    await peer.result('prompts/get', { name: 'p' });
    await peer.error('tools/call', { name: 'nope' });
    expect(seen).toEqual([`${era} tools/list`, `${era} prompts/get`, `${era} tools/call`]);
  });

  it('may answer by itself, and change a result', async () => {
    const cached: Middleware = async (call, next) =>
      call.params['name'] === 'echo' ? { content: [{ type: 'text', text: 'cached' }] } : next();
    const stamp: Middleware = async (_call, next) => ({ ...(await next()), stamped: true });
    await using peer = await connectTo(serverWith(stamp, cached), era);
    expect(await callTool(peer, 'echo')).toEqual({ ...text('cached'), stamped: true });
  });

  it('may refuse: a thrown ProtocolError keeps its code, another error is -32603', async () => {
    const guard = (thrown: unknown) => async () => {
      throw thrown;
    };
    await using coded = await connectTo(
      serverWith(guard(new ProtocolError(4003, 'not you', { why: 'x' }))),
      era,
    );
    expect(await coded.error('tools/list')).toEqual({ code: 4003, message: 'not you', data: { why: 'x' } });
    await using plain = await connectTo(serverWith(guard(new Error('oops'))), era);
    expect(await plain.error('tools/list')).toEqual({ code: -32603, message: 'oops' });
    const sync = () => {
      throw new Error('at once');
    };
    await using atOnce = await connectTo(serverWith(sync), era);
    expect(await atOnce.error('tools/list')).toEqual({ code: -32603, message: 'at once' });
  });

  it('sees failures: a tool error as a result, a protocol error as a rejection', async () => {
    const seen: unknown[] = [];
    const watch: Middleware = async (_call, next) => {
      try {
        const result = await next();
        seen.push(result['isError']);
        return result;
      } catch (error) {
        seen.push((error as ProtocolError).code);
        throw error;
      }
    };
    await using peer = await connectTo(serverWith(watch), era);
    await callTool(peer, 'fail');
    await peer.error('tools/call', { name: 'refuse' });
    await peer.error('tools/call', { name: 'nope' });
    expect(seen).toEqual([true, 4001, -32602]);
  });

  it.each([
    ['nothing', async (_call: unknown, next: () => Promise<object>) => void (await next())],
    ['null', async () => null],
    ['a string', async () => 'done'],
    ['a list', async () => []],
    ['nothing, at once', () => undefined],
  ])('that returns %s is a fault of the server, answered as one', async (_what, middleware) => {
    await using peer = await connectTo(serverWith(middleware), era);
    for (const method of ['tools/list', 'prompts/list'])
      expect(await peer.error(method)).toMatchObject({
        code: -32603,
        message: expect.stringMatching(/no result/),
      });
    expect(await peer.error('tools/call', { name: 'echo' })).toMatchObject({ code: -32603 });
  });

  it('may be a plain function that returns a result or a thenable', async () => {
    const result = text('plain');
    for (const middleware of [() => result, () => ({ then: (ok: (value: object) => void) => ok(result) })]) {
      await using peer = await connectTo(serverWith(middleware), era);
      expect(await callTool(peer, 'echo')).toEqual(result);
    }
  });

  it('may try again: next() runs the rest anew', async () => {
    let tries = 0;
    const server = createServer({ name: 'middleware', version: '1' });
    server.tool('flaky', {}, () => {
      tries += 1;
      if (tries < 3) throw new ProtocolError(4500, 'not yet');
      return `after ${tries}`;
    });
    server.use(async (_call, next) => {
      for (let left = 5; ; left -= 1) {
        try {
          return await next();
        } catch (error) {
          if (left === 0) throw error;
        }
      }
    });
    await using peer = await connectTo(server, era);
    expect(await callTool(peer, 'flaky')).toEqual(text('after 3'));
  });

  it('added while serving takes part from the next call on', async () => {
    const server = serverWith();
    await using peer = await connectTo(server, era);
    expect(payload(await peer.result('tools/list'))).not.toHaveProperty('late');
    server.use(async (_call, next) => ({ ...(await next()), late: true }));
    expect(payload(await peer.result('tools/list'))).toHaveProperty('late', true);
  });

  it('surrounds the whole of a call that asks the user, once', async () => {
    let entered = 0;
    const server = createServer({ name: 'middleware', version: '1' });
    server.tool('ask', {}, async (_args, ctx) => (await ctx.roots()).map((root) => root.uri).join());
    server.use((_call, next) => {
      entered += 1;
      return next();
    });
    await using peer = await connectTo(server, era);
    const answer = await peer.converse('tools/call', { name: 'ask' }, () => ({
      roots: [{ uri: 'file:///a' }],
    }));
    expect(answer).toMatchObject({ result: text('file:///a') });
    expect(entered).toBe(1);
  });
});
