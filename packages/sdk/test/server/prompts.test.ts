import { describe, expect, it } from 'vitest';
import { createServer, inputRequired, ProtocolError } from '../../src/index.js';
import { connectTo, ERAS, payload } from '../support/server.js';

const said = (words: string) => ({ role: 'user', content: { type: 'text', text: words } });
const ALL_REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

describe.each(ERAS)('prompts, %s era', (era) => {
  async function get(handler: () => unknown, description?: string, revision?: string) {
    const server = createServer({ name: 'prompts', version: '1' });
    server.prompt('it', { ...(description !== undefined && { description }) }, handler as () => string);
    await using peer = await connectTo(server, era, { ...(revision !== undefined && { revision }) });
    const answer = await peer.request('prompts/get', { name: 'it' });
    return answer.kind === 'result' ? payload(answer.result) : (answer as { error: { code: number } }).error;
  }

  it.each([
    ['a string', 'hi', { messages: [said('hi')] }],
    ['one message', said('hi'), { messages: [said('hi')] }],
    ['messages', [said('a'), said('b')], { messages: [said('a'), said('b')] }],
    ['no messages', [], { messages: [] }],
    [
      'a whole result',
      { messages: [said('a')], description: 'own' },
      { messages: [said('a')], description: 'own' },
    ],
  ])('may return %s', async (_what, returned, expected) => {
    expect(await get(() => returned)).toEqual(expected);
    expect(await get(async () => returned)).toEqual(expected);
  });

  it('carry the description of the definition, unless the result has its own', async () => {
    expect(await get(() => 'hi', 'Greets')).toMatchObject({ description: 'Greets' });
    expect(await get(() => ({ messages: [], description: 'own' }), 'Greets')).toMatchObject({
      description: 'own',
    });
  });

  it.each([
    ['nothing', undefined],
    ['a number', 5],
    ['a message without content', { role: 'user' }],
    ['a list with a hole', [null]],
    ['a bigint', [{ role: 'user', content: { type: 'text', text: 'a', n: 1n } }]],
  ])('that return %s are answered with -32603', async (_what, returned) => {
    expect(await get(() => returned)).toMatchObject({ code: -32603 });
    if (era === 'legacy') {
      for (const revision of ALL_REVISIONS)
        expect(await get(() => returned, undefined, revision)).toMatchObject({ code: -32603 });
    }
  });

  it('that throw are answered with -32603, or with the code they choose (PROMPT-006)', async () => {
    expect(
      await get(() => {
        throw new Error('no template');
      }),
    ).toEqual({ code: -32603, message: 'no template' });
    expect(await get(() => Promise.reject(new ProtocolError(4000, 'mine')))).toEqual({
      code: 4000,
      message: 'mine',
    });
  });

  it('check their arguments: unknown prompt, missing, not a string, not an object', async () => {
    const server = createServer({ name: 'prompts', version: '1' });
    server.prompt(
      'greet',
      { arguments: { who: { required: true }, how: {} } },
      ({ who, how }) => `${how} ${who}`,
    );
    await using peer = await connectTo(server, era);
    const refused: [string, object, string][] = [
      ['unknown', { name: 'nope' }, 'nope'],
      ['no name', {}, 'name'],
      ['missing', { name: 'greet' }, 'who'],
      ['missing among others', { name: 'greet', arguments: { how: 'hi' } }, 'who'],
      ['no string', { name: 'greet', arguments: { who: 7 } }, 'who'],
      ['no object', { name: 'greet', arguments: ['you'] }, 'arguments'],
      ['null', { name: 'greet', arguments: null }, 'arguments'],
    ];
    for (const [, params, word] of refused) {
      const error = await peer.error('prompts/get', params as Record<string, unknown>);
      expect(error.code).toBe(-32602);
      expect(error.message).toContain(word);
    }
    const result = await peer.result('prompts/get', { name: 'greet', arguments: { who: 'you' } });
    expect(payload(result)).toEqual({ messages: [said('undefined you')] });
  });

  it('may be named, and take arguments named, like what objects inherit', async () => {
    const NAMES = ['constructor', '__proto__', 'toString'];
    const server = createServer({ name: 'prompts', version: '1' });
    for (const name of NAMES) {
      const args = { [name]: {} };
      server.prompt(name, { arguments: args }, (given) => String((given as Record<string, unknown>)[name]));
      server.prompt(`needs ${name}`, { arguments: { [name]: { required: true } } }, (given) =>
        String((given as Record<string, unknown>)[name]),
      );
    }
    await using peer = await connectTo(server, era);
    const { prompts } = (await peer.result('prompts/list')) as {
      prompts: { name: string; arguments: object[] }[];
    };
    expect(prompts.map((prompt) => prompt.name)).toEqual(NAMES.flatMap((name) => [name, `needs ${name}`]));
    expect(prompts[2]?.arguments).toEqual([{ name: '__proto__' }]);
    for (const name of NAMES) {
      const given = { [name]: 'given' };
      const got = async (prompt: string, args: object) =>
        payload(await peer.result('prompts/get', { name: prompt, arguments: args }))['messages'];
      expect(await got(name, {})).toEqual([said('undefined')]);
      expect(await got(name, given)).toEqual([said('given')]);
      expect(await got(`needs ${name}`, given)).toEqual([said('given')]);
      expect((await peer.error('prompts/get', { name: `needs ${name}` })).code).toBe(-32602);
    }
  });

  it('are listed with their arguments in order, without their completers', async () => {
    const server = createServer({ name: 'prompts', version: '1' });
    server.prompt(
      'review',
      {
        title: 'Review',
        description: 'Reviews code',
        arguments: {
          zeta: { description: 'first', required: true, complete: () => [] },
          alpha: { title: 'Alpha', required: false },
        },
      },
      () => 'x',
    );
    await using peer = await connectTo(server, era);
    expect((await peer.result('prompts/list'))['prompts']).toEqual([
      {
        name: 'review',
        title: 'Review',
        description: 'Reviews code',
        arguments: [
          { name: 'zeta', description: 'first', required: true },
          { name: 'alpha', title: 'Alpha', required: false },
        ],
      },
    ]);
  });

  it('may ask first (PROMPT-005)', async () => {
    const server = createServer({ name: 'prompts', version: '1' });
    server.prompt('it', {}, (_args, ctx) =>
      ctx.answers?.['who']
        ? `for ${JSON.stringify(ctx.answers['who'])}`
        : inputRequired({
            requests: {
              who: {
                method: 'elicitation/create',
                params: { message: 'Who?', requestedSchema: { type: 'object', properties: {} } },
              },
            },
          }),
    );
    await using peer = await connectTo(server, era);
    const answer = await peer.converse('prompts/get', { name: 'it' }, () => ({
      action: 'accept',
      content: {},
    }));
    expect(answer.kind === 'result' && payload(answer.result)).toEqual({
      messages: [said('for {"action":"accept","content":{}}')],
    });
  });
});
