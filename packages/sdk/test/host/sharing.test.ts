import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Answers, ElicitResult, ProgressUpdate } from '../../src/index.js';
import { elicitation, failure, gate, hostOf, program, puppet, tool } from '../support/host-sharing.js';
import { isAlive } from '../support/process.js';

const SERVERS = [
  { name: 'the official SDK v1', file: 'server-asks-whoever-calls.mjs', era: 'legacy' },
  { name: 'the official SDK v2', file: 'server-asks-in-rounds.mjs', era: 'modern' },
] as const;

describe.each(SERVERS)('one process of $name', ({ file, era }) => {
  it('gives each of twenty conversations its own answer, though they come in reverse', async () => {
    const host = hostOf(program(file));
    const conversations = Array.from({ length: 20 }, () => host.conversation('it'));
    const said = await Promise.all(
      conversations.map((each, at) => tool(each.callTool('echo', { text: `said by ${at}`, of: 20 }))),
    );
    expect(said).toEqual(Array.from({ length: 20 }, (_, at) => `said by ${at}`));
    const { servers, processes } = await host.status();
    expect(processes).toBe(1);
    expect(servers['it']).toMatchObject({ conversations: 20, restarts: 0, inFlight: 0 });
    expect(new Set(conversations.map((each) => each.era))).toEqual(new Set([era]));
  });

  it('brings progress to the call that it belongs to, of equal calls in two conversations', async () => {
    const host = hostOf(program(file));
    const seen: Record<string, (string | undefined)[]> = { a: [], b: [] };
    await Promise.all(
      ['a', 'b'].map((text) =>
        host
          .conversation('it')
          .callTool(
            'steps',
            { text, of: 2 },
            { onProgress: ({ message }: ProgressUpdate) => void seen[text]!.push(message) },
          ),
      ),
    );
    expect(seen).toEqual({ a: ['a 1', 'a 2', 'a 3'], b: ['b 1', 'b 2', 'b 3'] });
  });

  it('has a call cancelled in one conversation, and leaves the equal one of the other alone', async () => {
    const host = hostOf(program(file));
    const [a, b, c] = [host.conversation('it'), host.conversation('it'), host.conversation('it')];
    const over = new AbortController();
    const given = failure(a.callTool('wait', { text: 'a' }, { signal: over.signal }));
    let isPending = true;
    const kept = failure(b.callTool('wait', { text: 'b' })).finally(() => {
      isPending = false;
    });
    await heard(host, 'waiting a', 'waiting b');
    over.abort();
    expect(await given).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    await heard(host, 'cancelled a');
    expect(await tool(c.callTool('cancelled'))).toBe('a');
    expect(isPending).toBe(true);
    await b.close();
    expect(await kept).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    await heard(host, 'cancelled b');
    expect(await tool(c.callTool('cancelled'))).toBe('a b');
  });

  it('outlives each conversation, also the last, and serves the next one', async () => {
    const host = hostOf(program(file));
    const first = host.conversation('it');
    await first.callTool('echo', { text: 'one' });
    const { pid } = (await host.status()).servers['it']!.processes[0]!;
    await first.close();
    await first.close();
    expect(isAlive(pid!)).toBe(true);
    expect((await host.status()).servers['it']).toMatchObject({ conversations: 0, state: 'ready' });
    const second = host.conversation('it');
    expect(await tool(second.callTool('echo', { text: 'two' }))).toBe('two');
    expect((await host.status()).servers['it']!.processes[0]!.pid).toBe(pid);
    await expect(first.callTool('echo', { text: 'three' })).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
      sent: 'no',
    });
  });
});

describe.each(['legacy', 'modern'] as const)('a %s process shared by two conversations', (era) => {
  it('sees no id twice, whatever the conversations do (JRPC-004, JRPC-005)', async () => {
    const { definition, stage } = await puppet(era);
    const host = hostOf(definition);
    const conversations = [host.conversation('it'), host.conversation('it')];
    const calls = conversations.flatMap((each) => [each.callTool('echo'), each.callTool('echo')]);
    const server = await stage;
    const ids: unknown[] = [];
    for (const _ of calls) {
      const request = await server.next();
      ids.push(request.id);
      server.say(request, String(request.id));
    }
    await Promise.all(calls);
    expect(new Set(ids).size).toBe(4);
  });

  it('sees no progress token twice, though both chose the same (PROG-002)', async () => {
    const { definition, stage } = await puppet(era);
    const host = hostOf(definition);
    const seen: string[] = [];
    const call = (who: string) =>
      host
        .conversation('it')
        .request(
          'tools/call',
          { name: 'echo', _meta: { progressToken: 1 } },
          { onProgress: ({ message }) => void seen.push(`${who} ${message}`) },
        );
    const calls = [call('a'), call('b')];
    const server = await stage;
    const requests = [await server.next(), await server.next()];
    const tokens = requests.map(({ params }) => params._meta.progressToken);
    expect(tokens[0]).not.toBe(tokens[1]);
    server.send(...[1, 0].map((at) => report(tokens[at], `to ${at}`)));
    for (const request of requests) server.say(request, 'done');
    await Promise.all(calls);
    expect(seen).toEqual(['b to 1', 'a to 0']);
  });

  it('brings no progress of one to another, though a token of its own looks like an id of the other', async () => {
    const { definition, stage } = await puppet(era);
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const seen: unknown[] = [];
    const victim = a.callTool('slow', {}, { onProgress: (update) => void seen.push(update) });
    const server = await stage;
    const slow = await server.next();
    const other = b.request('tools/call', { name: 'echo', _meta: { progressToken: slow.id! } });
    const echo = await server.next();
    const token = echo.params._meta?.progressToken;
    if (token !== undefined) server.send(report(token, 'of b'));
    server.say(echo, 'done');
    await other;
    server.say(slow, 'done');
    await victim;
    expect(seen).toEqual([]);
  });

  it('is told of the calls of a conversation that ends, and of no others (CANC-001, CANC-016)', async () => {
    const { definition, stage } = await puppet(era);
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const given = [failure(a.callTool('one')), failure(a.callTool('two'))];
    const server = await stage;
    const requests = [await server.next(), await server.next()];
    const kept = b.callTool('three');
    const other = await server.next();
    await a.close();
    expect(await Promise.all(given)).toMatchObject([
      { code: 'CANCELLED', sent: 'maybe' },
      { code: 'CANCELLED', sent: 'maybe' },
    ]);
    const told = [await server.next(), await server.next()];
    expect(told.map(({ method, params }) => [method, params.requestId])).toEqual(
      requests.map(({ id }) => ['notifications/cancelled', id]),
    );
    server.say(other, 'kept');
    expect(await tool(kept)).toBe('kept');
    expect(await server.roundTrip(b)).toEqual([]);
  });

  it('may answer a cancelled call late: nobody gets the answer (CANC-009, CANC-010)', async () => {
    const { definition, stage } = await puppet(era);
    const host = hostOf(definition);
    const [a, b] = [host.conversation('it'), host.conversation('it')];
    const over = new AbortController();
    const given = failure(a.callTool('echo', {}, { signal: over.signal }));
    const server = await stage;
    const request = await server.next();
    const kept = b.callTool('echo');
    const other = await server.next();
    over.abort();
    expect(await given).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    await server.expect('notifications/cancelled');
    server.say(request, 'for a');
    server.say(other, 'for b');
    expect(await tool(kept)).toBe('for b');
  });
});

describe('a conversation that ends between two rounds of a modern call', () => {
  it('calls off the question and makes no further round; the round of the other goes on (MRTR-014, MRTR-022)', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const signals: AbortSignal[] = [];
    const both = gate();
    const answer = gate<ElicitResult>();
    const elicit: Answers['elicit'] = (_question, { signal }) => {
      signals.push(signal);
      if (signals.length === 2) both.open();
      return answer.promise;
    };
    const [a, b] = [
      host.conversation('it', { answers: { elicit } }),
      host.conversation('it', { answers: { elicit } }),
    ];
    const given = failure(a.callTool('ask'));
    const kept = b.callTool('ask');
    const server = await stage;
    const { id: _id, ...question } = elicitation(0, 'Well?') as Record<string, unknown>;
    for (const requestState of ['of a', 'of b']) {
      const inputRequests = { it: question };
      server.answer(await server.next(), { resultType: 'input_required', inputRequests, requestState });
    }
    await both.promise;
    await a.close();
    expect(await given).toMatchObject({ code: 'CANCELLED', sent: 'maybe' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
    answer.open({ action: 'decline' });
    const again = await server.expect('tools/call');
    expect(again.params).toMatchObject({
      requestState: 'of b',
      inputResponses: { it: { action: 'decline' } },
    });
    server.say(again, 'done');
    expect(await tool(kept)).toBe('done');
    expect(await server.roundTrip(b)).toEqual([]);
  });
});

describe('who a conversation is', () => {
  it('travels with each request to a modern server: its own name and its own capabilities', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const a = host.conversation('it', {
      info: { name: 'alpha', version: '1' },
      answers: { elicit: () => ({ action: 'decline' }) },
    });
    const b = host.conversation('it', {
      info: { name: 'beta', version: '2' },
      answers: { roots: [] },
    });
    const calls = [a.callTool('echo'), b.callTool('echo')];
    const server = await stage;
    const metas: unknown[] = [];
    for (const _ of calls) {
      const request = await server.next();
      metas.push(request.params._meta);
      server.say(request, 'done');
    }
    await Promise.all(calls);
    expect(metas).toEqual([
      {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'alpha', version: '1' },
        'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
      },
      {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'beta', version: '2' },
        'io.modelcontextprotocol/clientCapabilities': { roots: {} },
      },
    ]);
  });

  it('never reaches the server by its principal', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const call = host.conversation('it', { principal: 'ada@example.com', name: 'chat 7' }).callTool('echo');
    const server = await stage;
    const request = await server.next();
    expect(JSON.stringify([server.opening, request])).not.toMatch(/ada@example|chat 7/);
    server.say(request, 'done');
    await call;
  });

  it('is not its name: two of one name have their own processes where each is to have one', async () => {
    const host = hostOf(program('server-asks-whoever-calls.mjs', [], { processes: 'per-conversation' }));
    const a = host.conversation('it', { name: 'chat' });
    const b = host.conversation('it', { name: 'chat' });
    const pids = [await tool(a.callTool('pid')), await tool(b.callTool('pid'))];
    expect(pids[0]).not.toBe(pids[1]);
    await a.close();
    expect(await tool(b.callTool('pid'))).toBe(pids[1]);
  });
});

describe('what a modern server allows to keep', () => {
  it.each(['private', 'public'])(
    'is kept for each conversation by itself when it is %s (CACHE-014)',
    async (cacheScope) => {
      const { definition, stage } = await puppet('modern');
      const host = hostOf(definition);
      const [a, b] = ['ada', 'bob'].map((principal) => host.conversation('it', { principal }));
      const first = a!.readResource('memo://1');
      const server = await stage;
      const keep = { ttlMs: 60_000, cacheScope };
      const contents = (text: string) => ({ contents: [{ uri: 'memo://1', text }], ...keep });
      server.answer(await server.expect('resources/read'), contents('for ada'));
      expect((await first).contents).toEqual([{ uri: 'memo://1', text: 'for ada' }]);
      const second = b!.readResource('memo://1');
      server.answer(await server.expect('resources/read'), contents('for bob'));
      expect((await second).contents).toEqual([{ uri: 'memo://1', text: 'for bob' }]);
      expect((await a!.readResource('memo://1')).contents).toEqual([{ uri: 'memo://1', text: 'for ada' }]);
      expect((await b!.readResource('memo://1')).contents).toEqual([{ uri: 'memo://1', text: 'for bob' }]);
      expect(await server.roundTrip(a!)).toEqual([]);
    },
  );

  it('is not even shared by two conversations of one principal', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    for (const text of ['one', 'two']) {
      const read = host.conversation('it', { principal: 'ada' }).readResource('memo://1');
      const server = await stage;
      server.answer(await server.expect('resources/read'), {
        contents: [{ uri: 'memo://1', text }],
        ttlMs: 60_000,
        cacheScope: 'private',
      });
      expect((await read).contents).toEqual([{ uri: 'memo://1', text }]);
    }
  });

  it('is not kept when it is private and its owner is unknown', async () => {
    const { definition, stage } = await puppet('modern');
    const host = hostOf(definition);
    const a = host.conversation('it');
    for (const text of ['one', 'two']) {
      const read = a.readResource('memo://1');
      const server = await stage;
      server.answer(await server.expect('resources/read'), {
        contents: [{ uri: 'memo://1', text }],
        ttlMs: 60_000,
        cacheScope: 'private',
      });
      expect((await read).contents).toEqual([{ uri: 'memo://1', text }]);
    }
  });
});

function report(progressToken: unknown, message: string): object {
  return { method: 'notifications/progress', params: { progressToken, progress: 1, message } };
}

/** Settles when the server has written all these to stderr. */
async function heard(host: ReturnType<typeof hostOf>, ...lines: string[]): Promise<void> {
  const said = () =>
    host.seen
      .flatMap((event) => (event.kind === 'stderr' ? event.text : []))
      .join('')
      .split('\n');
  while (!lines.every((line) => said().includes(line))) await turn();
}
