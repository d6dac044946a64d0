import { setTimeout as sleep } from 'node:timers/promises';
import { type } from 'arktype';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Context, createServer, inputRequired, jsonSchema } from '../../src/index.js';
import {
  ALL_CAPABILITIES,
  connectTo,
  ERAS,
  LEGACY,
  MODERN,
  payload,
  type Respond,
  settle,
  text,
} from '../support/server.js';

/** One tool, one call; questions are answered by `respond`. */
async function run(
  era: (typeof ERAS)[number],
  handler: (ctx: Context) => unknown,
  options: { respond?: Respond; capabilities?: Record<string, unknown>; revision?: string } = {},
) {
  const server = createServer({ name: 'context', version: '1' });
  server.tool('it', {}, (_args, ctx) => handler(ctx) as string);
  await using peer = await connectTo(server, era, options);
  const answer = await peer.converse('tools/call', { name: 'it' }, options.respond ?? (() => ({})));
  if (answer.kind === 'result') return payload(answer.result);
  return (answer as { error: { code: number; message: string; data?: unknown } }).error;
}

describe.each(ERAS)('what a handler knows, %s era', (era) => {
  it('the peer, the era and the request', async () => {
    const server = createServer({ name: 'context', version: '1' });
    let seen: unknown;
    server.tool('it', {}, (_args, ctx) => {
      seen = { era: ctx.era, peer: ctx.peer, name: ctx.params['name'], aborted: ctx.signal.aborted };
      return 'x';
    });
    await using peer = await connectTo(server, era);
    const info = { name: 'raw', version: '1' };
    const meta = era === 'modern' ? { 'io.modelcontextprotocol/clientInfo': info } : {};
    await peer.request('tools/call', { name: 'it' }, meta);
    expect(seen).toEqual({
      era,
      name: 'it',
      aborted: false,
      peer: {
        era,
        revision: era === 'modern' ? MODERN : LEGACY,
        info,
        capabilities: ALL_CAPABILITIES,
        principal: undefined,
      },
    });
  });

  it('that the client cancelled; nothing more is sent', async () => {
    const server = createServer({ name: 'context', version: '1' });
    let reason: unknown;
    let ended = false;
    server.tool('it', {}, async (_args, ctx) => {
      await sleep(5000, undefined, { signal: ctx.signal }).catch(() => {});
      reason = ctx.signal.reason;
      ctx.progress(1);
      ended = true;
      return 'too late';
    });
    await using peer = await connectTo(server, era);
    let answered = false;
    const requestId = peer.nextId;
    peer.request('tools/call', { name: 'it' }, { progressToken: 'p' }).then(
      () => {
        answered = true;
      },
      () => {},
    );
    await settle();
    peer.notify('notifications/cancelled', { requestId, reason: 'changed my mind' });
    while (!ended) await settle();
    await settle();
    expect(reason).toMatchObject({ code: 'CANCELLED', message: 'changed my mind' });
    expect(answered).toBe(false);
    expect(peer.notifications).toEqual([]);
  });

  it('that the connection died', async () => {
    const server = createServer({ name: 'context', version: '1' });
    let aborted = false;
    server.tool('it', {}, async (_args, ctx) => {
      await sleep(5000, undefined, { signal: ctx.signal }).catch(() => {
        aborted = true;
      });
      return 'x';
    });
    await using peer = await connectTo(server, era, { options: { graceMs: 0 } });
    peer.request('tools/call', { name: 'it' }).catch(() => {});
    await settle();
    peer.close();
    for (let turn = 0; turn < 50 && !aborted; turn += 1) await settle();
    expect(aborted).toBe(true);
  });
});

describe.each(ERAS)('progress and logs, %s era', (era) => {
  async function notifications(handler: (ctx: Context) => void, meta: Record<string, unknown>) {
    const server = createServer({ name: 'context', version: '1' });
    server.tool('it', {}, (_args, ctx) => {
      handler(ctx);
      return 'done';
    });
    await using peer = await connectTo(server, era);
    if (era === 'legacy' && meta['level']) await peer.result('logging/setLevel', { level: meta['level'] });
    const { level, ...rest } = meta;
    if (era === 'modern' && level) rest['io.modelcontextprotocol/logLevel'] = level;
    const answer = await peer.request('tools/call', { name: 'it' }, rest);
    expect(answer).toMatchObject({ result: text('done') });
    await settle();
    return peer.notifications.map(({ method, params }) => ({ method, params }));
  }
  const progress = (params: object) => ({ method: 'notifications/progress', params });
  const message = (params: object) => ({ method: 'notifications/message', params });

  it('progress is sent when the client asked, and only rises', async () => {
    const report = (ctx: Context) => {
      ctx.progress(0, 10);
      ctx.progress(0);
      ctx.progress(5, 10, 'half');
      ctx.progress(4);
      ctx.progress(Number.NaN);
      ctx.progress(10);
    };
    expect(await notifications(report, { progressToken: 0 })).toEqual([
      progress({ progressToken: 0, progress: 0, total: 10 }),
      progress({ progressToken: 0, progress: 5, total: 10, message: 'half' }),
      progress({ progressToken: 0, progress: 10 }),
    ]);
    expect(await notifications(report, {})).toEqual([]);
  });

  it('numbers that JSON has no word for are left out', async () => {
    const report = (ctx: Context) => {
      ctx.progress(1, Number.POSITIVE_INFINITY);
      ctx.progress(Number.POSITIVE_INFINITY);
      ctx.progress(2);
    };
    expect(await notifications(report, { progressToken: 'p' })).toEqual([
      progress({ progressToken: 'p', progress: 1 }),
      progress({ progressToken: 'p', progress: 2 }),
    ]);
  });

  it('logs reach those who asked, from their level on', async () => {
    const log = (ctx: Context) => {
      ctx.log('debug', 'fine');
      ctx.log('warning', { disk: 'nearly full' }, 'storage');
      ctx.log('error', ['a', 1]);
    };
    expect(await notifications(log, { level: 'warning' })).toEqual([
      message({ level: 'warning', data: { disk: 'nearly full' }, logger: 'storage' }),
      message({ level: 'error', data: ['a', 1] }),
    ]);
    if (era === 'modern') expect(await notifications(log, {})).toEqual([]);
  });

  it('logging never makes a call fail', async () => {
    const cycle: Record<string, unknown> = {};
    cycle['self'] = cycle;
    const log = (ctx: Context) => {
      ctx.log('info', 10n);
      ctx.log('info', cycle);
      ctx.log('info', undefined);
      ctx.log('info', 'after');
    };
    const sent = await notifications(log, { level: 'debug' });
    expect(sent.at(-1)).toEqual(message({ level: 'info', data: 'after' }));
    for (const each of sent) expect(each.params).toHaveProperty('data');
  });
});

describe.each(ERAS)('questions, %s era', (era) => {
  const accept =
    (content: object): Respond =>
    () => ({ action: 'accept', content });
  const form = z.object({ colour: z.enum(['red', 'blue']), often: z.boolean().default(false) });

  it('a form by schema: the question is flat JSON Schema, the answer is checked and complete', async () => {
    let asked: unknown;
    const outcome = await run(
      era,
      async (ctx) => JSON.stringify(await ctx.elicit({ message: 'Which colour?', schema: form })),
      {
        respond: (question) => {
          asked = question;
          return { action: 'accept', content: { colour: 'red' } };
        },
      },
    );
    expect(outcome).toEqual(text('{"action":"accept","content":{"colour":"red","often":false}}'));
    expect(asked).toMatchObject({
      method: 'elicitation/create',
      params: {
        mode: 'form',
        message: 'Which colour?',
        requestedSchema: {
          type: 'object',
          properties: {
            colour: { type: 'string', enum: ['red', 'blue'] },
            often: { type: 'boolean', default: false },
          },
          required: ['colour'],
        },
      },
    });
  });

  it.each([
    ['arktype', type({ n: 'number' })],
    [
      'JSON Schema',
      jsonSchema<{ n: number }>({ type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }),
    ],
  ])('a form by %s', async (_library, schema) => {
    const ask = async (ctx: Context) => JSON.stringify(await ctx.elicit({ message: 'n?', schema }));
    expect(await run(era, ask, { respond: accept({ n: 1 }) })).toEqual(
      text('{"action":"accept","content":{"n":1}}'),
    );
    expect(await run(era, ask, { respond: accept({ n: 'one' }) })).toMatchObject({ code: -32602 });
  });

  it('a form written by hand', async () => {
    const ask = async (ctx: Context) =>
      JSON.stringify(
        await ctx.elicit({
          message: 'Name?',
          requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        }),
      );
    expect(await run(era, ask, { respond: accept({ name: 'Ann' }) })).toEqual(
      text('{"action":"accept","content":{"name":"Ann"}}'),
    );
    expect(await run(era, ask, { respond: accept({}) })).toMatchObject({
      code: -32602,
      message: expect.stringContaining('name'),
    });
  });

  it.each(['decline', 'cancel'])('the user may %s (ELIC-024)', async (action) => {
    const ask = async (ctx: Context) => JSON.stringify(await ctx.elicit({ message: '?', schema: form }));
    expect(await run(era, ask, { respond: () => ({ action }) })).toEqual(text(`{"action":"${action}"}`));
  });

  it.each<[string, Record<string, unknown>]>([
    ['an unknown action', { action: 'maybe' }],
    ['no action', {}],
    ['content that is no object', { action: 'accept', content: 'red' }],
  ])('an answer with %s is refused', async (_what, answer) => {
    const ask = async (ctx: Context) => JSON.stringify(await ctx.elicit({ message: '?', schema: form }));
    expect(await run(era, ask, { respond: () => answer })).toMatchObject({ code: -32602 });
  });

  it('a page to visit', async () => {
    let asked: { params: Record<string, unknown> } | undefined;
    const outcome = await run(
      era,
      async (ctx) =>
        (await ctx.elicit({ mode: 'url', message: 'Sign in', url: 'https://example.com/in' })).action,
      {
        respond: (question) => {
          asked = question;
          return { action: 'accept' };
        },
      },
    );
    expect(outcome).toEqual(text('accept'));
    expect(asked?.params).toMatchObject({ mode: 'url', message: 'Sign in', url: 'https://example.com/in' });
    // ELIC-007, ELIC-025
    expect(typeof asked?.params['elicitationId']).toBe(era === 'legacy' ? 'string' : 'undefined');
  });

  it.each<[string, z.ZodType]>([
    ['a nested object', z.object({ a: z.object({ b: z.string() }) })],
    ['a list of objects', z.object({ a: z.array(z.object({})) })],
    ['a root that is no object', z.string()],
  ])('a form with %s cannot be asked, and says so here (ELIC-006)', async (_what, schema) => {
    const asked: unknown[] = [];
    const outcome = await run(
      era,
      async (ctx) => JSON.stringify(await ctx.elicit({ message: '?', schema })),
      {
        respond: (question) => {
          asked.push(question);
          return { action: 'cancel' };
        },
      },
    );
    expect(asked).toEqual([]);
    expect(outcome).toMatchObject({ isError: true });
  });

  it('choices by arktype are choices', async () => {
    const schema = type({ colour: "'red'|'blue'" });
    const ask = async (ctx: Context) => JSON.stringify(await ctx.elicit({ message: '?', schema }));
    expect(await run(era, ask, { respond: accept({ colour: 'red' }) })).toEqual(
      text('{"action":"accept","content":{"colour":"red"}}'),
    );
    expect(await run(era, ask, { respond: accept({ colour: 'green' }) })).toMatchObject({ code: -32602 });
  });

  it('a form holds only keywords that forms know', async () => {
    let asked: unknown;
    const schema = z.object({ mail: z.email(), age: z.int().min(0).max(150) });
    await run(era, async (ctx) => JSON.stringify(await ctx.elicit({ message: '?', schema })), {
      respond: (question) => {
        asked = question.params['requestedSchema'];
        return { action: 'cancel' };
      },
    });
    expect(asked).toEqual({
      type: 'object',
      properties: {
        mail: { type: 'string', format: 'email' },
        age: { type: 'integer', minimum: 0, maximum: 150 },
      },
      required: ['mail', 'age'],
    });
  });

  it('the model and the roots', async () => {
    const outcome = await run(
      era,
      async (ctx) => {
        const said = await ctx.sample({ messages: [], maxTokens: 10 });
        const roots = await ctx.roots();
        return JSON.stringify([said.model, roots]);
      },
      {
        respond: ({ method }) =>
          method === 'roots/list'
            ? { roots: [{ uri: 'file:///a' }] }
            : { role: 'assistant', model: 'm', content: { type: 'text', text: 'hi' } },
      },
    );
    expect(outcome).toEqual(text('["m",[{"uri":"file:///a"}]]'));
  });

  it('one after another, and several at once', async () => {
    const ask = (ctx: Context, message: string) =>
      ctx.elicit({ message, requestedSchema: { type: 'object', properties: {} } });
    const asked: unknown[] = [];
    const outcome = await run(
      era,
      async (ctx) => {
        await ask(ctx, 'first');
        await Promise.all([ask(ctx, 'second'), ask(ctx, 'third')]);
        return 'all';
      },
      {
        respond: ({ params }) => {
          asked.push(params['message']);
          return { action: 'accept', content: {} };
        },
      },
    );
    expect(outcome).toEqual(text('all'));
    expect(asked).toEqual(['first', 'second', 'third']);
  });

  it.each<[string, (ctx: Context) => Promise<unknown>, Record<string, unknown>]>([
    ['forms', (ctx) => ctx.elicit({ message: '?', schema: form }), { elicitation: { url: {} } }],
    [
      'pages',
      (ctx) => ctx.elicit({ mode: 'url', message: '?', url: 'https://example.com' }),
      { elicitation: {} },
    ],
    ['samples', (ctx) => ctx.sample({ messages: [], maxTokens: 1 }), {}],
    ['roots', (ctx) => ctx.roots(), {}],
  ])('are not put to a client that cannot answer them: %s (ELIC-003)', async (_what, ask, capabilities) => {
    const outcome = await run(era, async (ctx) => JSON.stringify(await ask(ctx)), { capabilities });
    if (era === 'modern') expect(outcome).toMatchObject({ code: -32021, data: { requiredCapabilities: {} } });
    else expect(outcome).toMatchObject({ isError: true });
  });

  it('a handler can survive the lack of a capability', async () => {
    const outcome = await run(era, (ctx) => ctx.roots().then(String, () => 'no roots then'), {
      capabilities: {},
    });
    expect(outcome).toEqual(text('no roots then'));
  });

  it('inputRequired: the handler runs again with the answers and its state', async () => {
    let runs = 0;
    const outcome = await run(
      era,
      (ctx) => {
        runs += 1;
        const step = (ctx.state as { step?: number } | undefined)?.step ?? 0;
        if (step === 2) return `done ${JSON.stringify(ctx.answers)}`;
        return inputRequired({ requests: { roots: { method: 'roots/list' } }, state: { step: step + 1 } });
      },
      { respond: () => ({ roots: [{ uri: `file:///${runs}` }] }) },
    );
    expect(outcome).toEqual(text('done {"roots":{"roots":[{"uri":"file:///2"}]}}'));
    expect(runs).toBe(3);
  });

  it('inputRequired with state alone: the handler runs again', async () => {
    let runs = 0;
    const outcome = await run(era, (ctx) => {
      runs += 1;
      return ctx.state === undefined ? inputRequired({ state: { poll: 1 } }) : `run ${runs}`;
    });
    expect(outcome).toEqual(text('run 2'));
  });

  it('inputRequired with nothing in it is a fault, not an endless round', async () => {
    const outcome = await run(era, () => inputRequired({}));
    expect(outcome).toMatchObject({ code: -32603 });
  });

  it('questions cannot be asked from where the protocol has none', async () => {
    const server = createServer({ name: 'context', version: '1' });
    server.prompt(
      'p',
      {
        arguments: { a: { complete: async (_value, _others, ctx) => [String((await ctx.roots()).length)] } },
      },
      () => 'x',
    );
    await using peer = await connectTo(server, era);
    const params = { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: '' } };
    const answer = await peer.converse('completion/complete', params, () => ({ roots: [] }));
    if (era === 'modern') expect(answer).toMatchObject({ kind: 'error', error: { code: -32603 } });
    else expect(answer).toMatchObject({ kind: 'result' });
  });

  it('may be destructured', async () => {
    const outcome = await run(
      era,
      async ({ roots, log, progress, elicit, sample }) => {
        log('info', 'x');
        progress(1);
        return [(await roots()).length, typeof elicit, typeof sample].join();
      },
      { respond: () => ({ roots: [] }) },
    );
    expect(outcome).toEqual(text('0,function,function'));
  });
});

describe('legacy revisions get questions they can understand', () => {
  const form = z.object({ a: z.string() });

  it('2025-06-18 knows no mode', async () => {
    let asked: Record<string, unknown> = {};
    await run('legacy', async (ctx) => JSON.stringify(await ctx.elicit({ message: '?', schema: form })), {
      revision: '2025-06-18',
      respond: ({ params }) => {
        asked = params;
        return { action: 'cancel' };
      },
    });
    expect(asked).not.toHaveProperty('mode');
    expect(asked).toMatchObject({ message: '?', requestedSchema: { type: 'object' } });
  });

  it('2025-03-26 knows no elicitation at all', async () => {
    const outcome = await run(
      'legacy',
      async (ctx) => JSON.stringify(await ctx.elicit({ message: '?', schema: form })),
      {
        revision: '2025-03-26',
      },
    );
    expect(outcome).toMatchObject({ isError: true });
  });
});
