import { describe, expect, it } from 'vitest';
import { type Completer, createServer } from '../../src/index.js';
import { connectTo, ERAS, payload, type RawPeer } from '../support/server.js';

const words = (count: number) => Array.from({ length: count }, (_, n) => `w${n}`);

function serverWith(complete: Completer) {
  const server = createServer({ name: 'completions', version: '1' });
  server.prompt('p', { arguments: { word: { complete }, plain: {} } }, () => 'x');
  server.resourceTemplate('x://{word}/{plain}', { name: 't', complete: { word: complete } }, () => 'x');
  return server;
}

const PROMPT = { type: 'ref/prompt', name: 'p' };
const TEMPLATE = { type: 'ref/resource', uri: 'x://{word}/{plain}' };

async function complete(peer: RawPeer, ref: object, value = '', more: object = {}) {
  const params = { ref, argument: { name: 'word', value }, ...more };
  return payload(await peer.result('completion/complete', params))['completion'];
}

describe.each(ERAS)('completions, %s era', (era) => {
  it.each([
    ['a prompt', PROMPT],
    ['a resource template', TEMPLATE],
  ])('of %s: the completer gets what was typed', async (_what, ref) => {
    await using peer = await connectTo(
      serverWith((value) => ['par', 'pas', 'qua'].filter((word) => word.startsWith(value))),
      era,
    );
    expect(await complete(peer, ref, 'pa')).toEqual({ values: ['par', 'pas'], total: 2, hasMore: false });
    expect(await complete(peer, ref, 'z')).toEqual({ values: [], total: 0, hasMore: false });
  });

  it.each([
    [0, 0, false],
    [99, 99, false],
    [100, 100, false],
    [101, 100, true],
    [500, 100, true],
  ])('of %i suggestions %i are sent, more: %s (COMP-004)', async (found, sent, hasMore) => {
    await using peer = await connectTo(
      serverWith(() => words(found)),
      era,
    );
    expect(await complete(peer, PROMPT)).toEqual({ values: words(sent), total: found, hasMore });
  });

  it('the completer may know better how many there are', async () => {
    await using peer = await connectTo(
      serverWith(async () => ({ values: words(3), total: 1000 })),
      era,
    );
    expect(await complete(peer, PROMPT)).toEqual({ values: words(3), total: 1000, hasMore: true });
    await using other = await connectTo(
      serverWith(() => ({ values: words(3), hasMore: true })),
      era,
    );
    expect(await complete(other, PROMPT)).toMatchObject({ values: words(3), hasMore: true });
    await using both = await connectTo(
      serverWith(() => ({ values: words(200), total: 150, hasMore: false })),
      era,
    );
    expect((await complete(both, PROMPT)) as { values: [] }).toMatchObject({ values: words(100) });
  });

  it('the completer sees the arguments chosen so far (COMP-003)', async () => {
    await using peer = await connectTo(
      serverWith((value, others) => [`${value}:${JSON.stringify(others)}`]),
      era,
    );
    expect(await complete(peer, PROMPT, 'a')).toMatchObject({ values: ['a:{}'] });
    const context = { context: { arguments: { plain: 'x' } } };
    expect(await complete(peer, PROMPT, 'a', context)).toMatchObject({ values: ['a:{"plain":"x"}'] });
  });

  it('an argument that was not chosen is undefined, whatever its name', async () => {
    await using peer = await connectTo(
      serverWith((_value, others) => [typeof others['constructor']]),
      era,
    );
    expect(await complete(peer, PROMPT)).toMatchObject({ values: ['undefined'] });
  });

  it('arguments chosen so far that are not strings never reach the completer as strings', async () => {
    await using peer = await connectTo(
      serverWith((_value, others) => [typeof others['plain']]),
      era,
    );
    const answer = await peer.request('completion/complete', {
      ref: PROMPT,
      argument: { name: 'word', value: '' },
      context: { arguments: { plain: 7 } },
    });
    if (answer.kind === 'error') expect(answer.error.code).toBe(-32602);
    else expect(answer).toMatchObject({ result: { completion: { values: ['undefined'] } } });
  });

  it('an argument without a completer has no suggestions', async () => {
    await using peer = await connectTo(
      serverWith(() => ['x']),
      era,
    );
    for (const name of ['plain', 'unknown', 'constructor', '__proto__']) {
      const result = await peer.result('completion/complete', { ref: PROMPT, argument: { name, value: '' } });
      expect(result['completion']).toMatchObject({ values: [], hasMore: false });
    }
  });

  it.each<[string, object]>([
    [
      'an unknown prompt',
      { ref: { type: 'ref/prompt', name: 'nope' }, argument: { name: 'word', value: '' } },
    ],
    [
      'an unknown template',
      { ref: { type: 'ref/resource', uri: 'y://' }, argument: { name: 'word', value: '' } },
    ],
    ['an unknown kind', { ref: { type: 'ref/tool', name: 'p' }, argument: { name: 'word', value: '' } }],
    ['no ref', { argument: { name: 'word', value: '' } }],
    ['no argument', { ref: PROMPT }],
    ['an argument without value', { ref: PROMPT, argument: { name: 'word' } }],
    ['a value that is no string', { ref: PROMPT, argument: { name: 'word', value: 7 } }],
  ])('%s: -32602 (COMP-005)', async (_what, params) => {
    await using peer = await connectTo(
      serverWith(() => []),
      era,
    );
    expect((await peer.error('completion/complete', params as Record<string, unknown>)).code).toBe(-32602);
  });

  it('a completer that fails or gives nonsense is answered with -32603', async () => {
    for (const bad of [
      () => {
        throw new Error('index is down');
      },
      async () => Promise.reject(new Error('index is down')),
      () => undefined,
      () => [1n],
    ]) {
      await using peer = await connectTo(serverWith(bad as unknown as Completer), era);
      const params = { ref: PROMPT, argument: { name: 'word', value: '' } };
      expect((await peer.error('completion/complete', params)).code).toBe(-32603);
    }
  });

  it('a server without completers does not offer them (COMP-001)', async () => {
    const server = createServer({ name: 'completions', version: '1' });
    server.prompt('p', { arguments: { word: {} } }, () => 'x');
    expect(server.capabilities()).not.toHaveProperty('completions');
    await using peer = await connectTo(server, era);
    const params = { ref: PROMPT, argument: { name: 'word', value: '' } };
    expect((await peer.error('completion/complete', params)).code).toBe(-32601);
    expect(serverWith(() => []).capabilities()).toHaveProperty('completions');
  });
});
