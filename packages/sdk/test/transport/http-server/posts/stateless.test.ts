import { describe, expect, it } from 'vitest';
import { createServer, inputRequired, type ServeOptions } from '../../../../src/index.js';
import {
  ask,
  initialize,
  legacy,
  legacyCall,
  legacyRequest,
  modernCall,
  plainServer,
  serveHttp,
  within,
} from '../../../support/http-server.js';

describe("legacy: 'stateless'", () => {
  const stateless = () => serveHttp(plainServer(), { legacy: 'stateless' });

  it('answers a legacy call without a session, whatever the replica', async () => {
    const replicas = [await stateless(), await stateless()];
    for (const { url } of replicas) {
      const { status, headers, json } = await ask(
        url,
        legacy(legacyCall(1, 'echo', { text: 'hi' }), { 'mcp-protocol-version': '2025-06-18' }),
      );
      expect(status).toBe(200);
      expect(json).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: 'hi' }] } });
      expect(headers).not.toHaveProperty('mcp-session-id');
    }
  });

  it('answers initialize without an id for a session (SESS-001), and forgets it', async () => {
    const { url, served } = await stateless();
    const { headers, json } = await ask(url, legacy(initialize(1, '2025-06-18')));
    expect(json.result).toMatchObject({ protocolVersion: '2025-06-18' });
    expect(headers).not.toHaveProperty('mcp-session-id');
    const ready = await ask(url, legacy({ jsonrpc: '2.0', method: 'notifications/initialized' }));
    expect([ready.status, ready.text]).toEqual([202, '']);
    expect(served.connections).toBe(0);
  });

  it('takes a missing version header for 2025-03-26 (LHTTP-025)', async () => {
    const server = plainServer();
    server.tool('revision', {}, (_args, ctx) => ctx.peer.revision);
    const { url } = await serveHttp(server, { legacy: 'stateless' });
    const revision = async (headers: Record<string, string>) =>
      (await ask(url, legacy(legacyCall(1, 'revision'), headers))).json.result?.content[0].text;
    expect(await revision({})).toBe('2025-03-26');
    expect(await revision({ 'mcp-protocol-version': '2025-11-25' })).toBe('2025-11-25');
  });

  it('refuses a version header that is not a revision with 400 (LHTTP-026)', async () => {
    for (const eras of [['legacy'], ['legacy', 'modern']] as ServeOptions['eras'][]) {
      const { url } = await serveHttp(plainServer(), { legacy: 'stateless' }, { eras: eras! });
      const { status } = await ask(
        url,
        legacy(legacyCall(1, 'echo', { text: 'x' }), { 'mcp-protocol-version': '1900-01-01' }),
      );
      expect({ eras, status }).toEqual({ eras, status: 400 });
    }
  });

  it('has no GET and no DELETE (405), and ignores a session id', async () => {
    const { url } = await stateless();
    for (const method of ['GET', 'DELETE']) {
      const { status, headers } = await ask(url, {
        method,
        headers: { accept: 'text/event-stream', 'mcp-session-id': 'x' },
      });
      expect([status, headers.allow]).toEqual([405, 'POST']);
    }
    const answer = await ask(url, legacy(legacyRequest(1, 'ping'), { 'mcp-session-id': 'old' }));
    expect(answer.json.result).toEqual({});
  });

  it('sends progress on the stream of the call', async () => {
    const { url } = await stateless();
    const { messages } = await ask(url, legacy(legacyCall(1, 'steps', {}, { progressToken: 1 })));
    expect(messages.map(({ method, id }) => method ?? id)).toEqual([
      'notifications/progress',
      'notifications/progress',
      1,
    ]);
  });

  it('answers every request of a batch (JRPC-017)', async () => {
    const { url } = await stateless();
    const { status, messages, text } = await within(
      5000,
      'the batch',
      ask(url, legacy([legacyCall(1, 'echo', { text: 'one' }), legacyCall(2, 'echo', { text: 'two' })])),
    );
    expect(status).toBe(200);
    expect(text.startsWith('[')).toBe(true);
    expect(messages.map(({ id, result }) => [id, result.content[0].text]).sort()).toEqual([
      [1, 'one'],
      [2, 'two'],
    ]);
  });

  it('tells a tool that would ask that this client cannot be asked', async () => {
    const server = createServer({ name: 'curious', version: '1' });
    server.tool('ask', {}, async (_args, ctx) => {
      await ctx.elicit({ message: '?', requestedSchema: { type: 'object', properties: {} } });
      return 'never';
    });
    const { url } = await serveHttp(server, { legacy: 'stateless' });
    const { json } = await within(15_000, 'the answer', ask(url, legacy(legacyCall(1, 'ask'))));
    expect(json.result).toMatchObject({ isError: true });
    expect(json.result?.content[0].text).toContain('elicitation');
  });

  it('never mixes up callers with the same id, and a client may use any id', async () => {
    const { url } = await stateless();
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, n) => ask(url, legacy(legacyCall(1, 'echo', { text: `n${n}` })))),
    );
    expect(answers.map(({ json }) => json.result?.content[0].text)).toEqual(
      Array.from({ length: 50 }, (_, n) => `n${n}`),
    );
    const odd = await within(
      5000,
      'the answer',
      ask(url, legacy(legacyCall('isthmus:handshake', 'echo', { text: 'mine' }))),
    );
    expect(odd.json).toMatchObject({ id: 'isthmus:handshake' });
  });

  it('serves modern clients as ever', async () => {
    const { url } = await stateless();
    expect((await ask(url, modernCall(1, 'echo', { text: 'x' }))).json.result?.resultType).toBe('complete');
  });
});

describe('two replicas of a server', () => {
  const stateKey = Buffer.alloc(32, 7).toString('base64url');
  const CLIENT = { capabilities: { elicitation: {} } };
  const FORM = {
    method: 'elicitation/create',
    params: {
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    },
  } as const;

  function replica() {
    const server = createServer({ name: 'replica', version: '1' });
    server.tool('replay', {}, (_args, ctx) => {
      const rounds = (ctx.state as { rounds: number } | undefined)?.rounds ?? 0;
      if (rounds === 2) return `after ${rounds} rounds: ${JSON.stringify(ctx.answers)}`;
      return inputRequired({ requests: { who: FORM }, state: { rounds: rounds + 1 } });
    });
    server.tool('parked', {}, async (_args, ctx) => {
      const answer = await ctx.elicit(FORM.params as never);
      return JSON.stringify(answer);
    });
    return server;
  }

  const retry = (id: number, tool: string, result: { requestState?: string; inputRequests: object }) => {
    const keys = Object.keys(result.inputRequests);
    const answer = { action: 'accept', content: { name: 'Ada' } };
    return modernCall(
      id,
      tool,
      {},
      {
        ...CLIENT,
        params: {
          requestState: result.requestState,
          inputResponses: Object.fromEntries(keys.map((key) => [key, answer])),
        },
      },
    );
  };

  it('with a shared key continue each other’s replay rounds (STATE-003)', async () => {
    const [a, b] = [
      await serveHttp(replica(), {}, { stateKey }),
      await serveHttp(replica(), {}, { stateKey }),
    ];
    const first = await ask(a.url, modernCall(1, 'replay', {}, CLIENT));
    expect([first.status, first.json.result?.resultType]).toEqual([200, 'input_required']);
    const second = await ask(b.url, retry(2, 'replay', first.json.result));
    expect(second.json.result?.resultType).toBe('input_required');
    const third = await ask(a.url, retry(3, 'replay', second.json.result));
    expect(third.json.result?.content[0].text).toBe(
      'after 2 rounds: {"who":{"action":"accept","content":{"name":"Ada"}}}',
    );
  });

  it('say honestly that a parked round is not theirs, and the owner still has it', async () => {
    const [a, b] = [
      await serveHttp(replica(), {}, { stateKey }),
      await serveHttp(replica(), {}, { stateKey }),
    ];
    const first = await ask(a.url, modernCall(1, 'parked', {}, CLIENT));
    expect(first.json.result?.resultType).toBe('input_required');
    const lost = await ask(b.url, retry(2, 'parked', first.json.result));
    expect(lost.json.error).toMatchObject({ code: -32602, message: expect.stringContaining('requestState') });
    const found = await ask(a.url, retry(3, 'parked', first.json.result));
    expect(found.json.result?.content[0].text).toBe('{"action":"accept","content":{"name":"Ada"}}');
  });

  it('without a shared key refuse each other’s rounds (MRTR-010)', async () => {
    const [a, b] = [await serveHttp(replica()), await serveHttp(replica())];
    const first = await ask(a.url, modernCall(1, 'replay', {}, CLIENT));
    const refused = await ask(b.url, retry(2, 'replay', first.json.result));
    expect(refused.json.error?.code).toBe(-32602);
  });

  it('wake a parked round once: the same state again is refused (MRTR-013)', async () => {
    const { url } = await serveHttp(replica());
    const first = await ask(url, modernCall(1, 'parked', {}, CLIENT));
    const again = retry(2, 'parked', first.json.result);
    const answers = await Promise.all([ask(url, again), ask(url, again), ask(url, again)]);
    expect(answers.filter(({ json }) => json.result !== undefined)).toHaveLength(1);
    expect(answers.filter(({ json }) => json.error?.code === -32602)).toHaveLength(2);
    expect((await ask(url, again)).json.error?.code).toBe(-32602);
  });

  it('refuse a state that was altered, that is for other arguments, or another caller’s (MRTR-009 … MRTR-012)', async () => {
    const { url } = await serveHttp(
      replica(),
      { authenticate: (request) => request.header('authorization') },
      { stateKey },
    );
    const as = (name: string, given: ReturnType<typeof modernCall>) => ({
      ...given,
      headers: { ...given.headers, authorization: name },
    });
    const first = await ask(url, as('ada', modernCall(1, 'replay', {}, CLIENT)));
    const { result } = first.json;
    const state = result.requestState as string;
    const altered = {
      ...result,
      requestState: `${state.slice(0, -3)}${state.endsWith('AAA') ? 'BBB' : 'AAA'}`,
    };
    expect((await ask(url, as('ada', retry(2, 'replay', altered)))).json.error?.code).toBe(-32602);
    expect((await ask(url, as('bob', retry(3, 'replay', result)))).json.error?.code).toBe(-32602);
    expect((await ask(url, as('ada', retry(4, 'parked', result)))).json.error?.code).toBe(-32602);
    expect((await ask(url, as('ada', retry(5, 'replay', result)))).json.result?.resultType).toBe(
      'input_required',
    );
  });

  it('end a parked handler when the client hangs up on the retry, not between two rounds', async () => {
    const { url, served } = await serveHttp(replica());
    const first = await ask(url, modernCall(1, 'parked', {}, CLIENT));
    // The connection of the first round is long gone; the handler sleeps.
    expect(served.connections).toBe(0);
    const second = await ask(url, retry(2, 'parked', first.json.result));
    expect(second.json.result?.content[0].text).toContain('Ada');
  });
});
