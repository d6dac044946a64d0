import { describe, expect, it } from 'vitest';
import { judgeFrame } from './support/judge.js';
import { memberProblems, PLAIN } from './support/known-members.js';
import { KINDS, NOTIFICATIONS, REQUESTS, RESULTS, VARIANTS } from './support/members-by-revision.js';
import type { Json, Revision } from './support/revision.js';

const REVISIONS: readonly Revision[] = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28'];

describe('the judge itself', () => {
  const problems = (revision: Revision, frame: Json, asked?: string) =>
    judgeFrame({ jsonrpc: '2.0', ...frame }, asked, revision);
  const answer = (result: Json) => ({ id: 1, result });
  const tool = (more: Json) => answer({ tools: [{ name: 'a', inputSchema: { type: 'object' }, ...more }] });
  const resource = (more: Json) => answer({ resources: [{ uri: 'a://b', name: 'b', ...more }] });
  const said = (block: Json) => answer({ content: [block] });
  const text = (more: Json) => said({ type: 'text', text: 'a', ...more });
  const initialized = (capabilities: Json, info: Json = {}) =>
    answer({ protocolVersion: 'any', capabilities, serverInfo: { name: 'a', version: '1', ...info } });
  const media = { data: 'AAAA', mimeType: 'audio/wav' };
  const progress = { progressToken: 1, progress: 1 };
  const sampling = (content: unknown) => ({
    id: 1,
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content }], maxTokens: 1 },
  });
  const form = (field: Json) => ({
    id: 1,
    method: 'elicitation/create',
    params: { message: 'm', requestedSchema: { type: 'object', properties: { field } } },
  });

  it.each<[what: string, birth: Revision, frame: Json, asked?: string]>([
    ['annotations of a tool', '2025-03-26', tool({ annotations: { readOnlyHint: true } }), 'tools/list'],
    ['the title of a tool', '2025-06-18', tool({ title: 'A' }), 'tools/list'],
    ['_meta of a tool', '2025-06-18', tool({ _meta: {} }), 'tools/list'],
    ['an output schema', '2025-06-18', tool({ outputSchema: { type: 'object' } }), 'tools/list'],
    ['icons of a tool', '2025-11-25', tool({ icons: [{ src: 'https://a.b' }] }), 'tools/list'],
    ['icons of a resource', '2025-11-25', resource({ icons: [] }), 'resources/list'],
    [
      'lastModified',
      '2025-06-18',
      resource({ annotations: { lastModified: '2026-01-01T00:00:00Z' } }),
      'resources/list',
    ],
    ['_meta of a block', '2025-06-18', text({ _meta: {} }), 'tools/call'],
    [
      '_meta of contents',
      '2025-06-18',
      answer({ contents: [{ uri: 'a://b', text: 'a', _meta: {} }] }),
      'resources/read',
    ],
    ['audio', '2025-03-26', said({ type: 'audio', ...media }), 'tools/call'],
    ['a resource link', '2025-06-18', said({ type: 'resource_link', uri: 'a://b', name: 'b' }), 'tools/call'],
    ['structured content', '2025-06-18', answer({ content: [], structuredContent: {} }), 'tools/call'],
    [
      'the title of an argument',
      '2025-06-18',
      answer({ prompts: [{ name: 'a', arguments: [{ name: 'b', title: 'B' }] }] }),
      'prompts/list',
    ],
    ['the completions capability', '2025-03-26', initialized({ completions: {} }), 'initialize'],
    ['the title of the server', '2025-06-18', initialized({}, { title: 'A' }), 'initialize'],
    ['the description of the server', '2025-11-25', initialized({}, { description: 'A' }), 'initialize'],
    [
      'a message with progress',
      '2025-03-26',
      { method: 'notifications/progress', params: { ...progress, message: 'm' } },
    ],
    ['a request for audio', '2025-03-26', sampling({ type: 'audio', ...media })],
    ['several blocks in a sampling message', '2025-11-25', sampling([{ type: 'text', text: 'a' }])],
    ['a form', '2025-06-18', form({ type: 'string' })],
    ['a default text', '2025-11-25', form({ type: 'string', default: 'a' })],
    ['a multiple choice', '2025-11-25', form({ type: 'array', items: { type: 'string', enum: ['a'] } })],
  ])('knows that %s came with %s', (_what, birth, frame, asked) => {
    for (const revision of REVISIONS.filter((one) => one !== '2026-07-28')) {
      const found = problems(revision, frame, asked);
      if (revision >= birth) expect({ revision, found }).toEqual({ revision, found: [] });
      else expect(found.join()).toMatch(/came with|is no SamplingBlock/);
    }
  });

  it.each<[what: string, frame: Json, asked?: string]>([
    ['resultType', answer({ tools: [], resultType: 'complete' }), 'tools/list'],
    ['cache hints', answer({ tools: [], ttlMs: 0, cacheScope: 'private' }), 'tools/list'],
    ['resultType of an empty result', answer({ resultType: 'complete' }), 'ping'],
    [
      'the name of the server in _meta',
      text({ _meta: { 'io.modelcontextprotocol/serverInfo': {} } }),
      'tools/call',
    ],
    ['structured content that is no object', answer({ content: [], structuredContent: [1] }), 'tools/call'],
    ['the answer to a discovery', answer({}), 'server/discover'],
    [
      'an acknowledgement',
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
    ],
  ])('lets no legacy revision have %s', (_what, frame, asked) => {
    for (const revision of REVISIONS.filter((one) => one !== '2026-07-28')) {
      expect({ revision, found: problems(revision, frame, asked) }).not.toEqual({ revision, found: [] });
    }
  });

  it.each<[what: string, frame: Json, asked?: string]>([
    ['a tool', tool({ nmae: 'a' }), 'tools/list'],
    ['tool annotations', tool({ annotations: { readonly: true } }), 'tools/list'],
    ['an icon', tool({ icons: [{ src: 'https://a.b', size: 1 }] }), 'tools/list'],
    ['a resource', resource({ text: 'a' }), 'resources/list'],
    ['a block', text({ mimeType: 'text/plain' }), 'tools/call'],
    ['a result', answer({ content: [], structured: {} }), 'tools/call'],
    ['the capabilities', initialized({ tools: { changed: true } }), 'initialize'],
    ['progress', { method: 'notifications/progress', params: { ...progress, percent: 1 } }],
    ['a field of a form', form({ type: 'string', pattern: 'a' })],
    ['the frame', { ...answer({ content: [] }), note: 'a' }, 'tools/call'],
    ['the error', { id: 1, error: { code: 1, message: 'a', stack: 'b' } }],
  ])('finds in %s what no revision knows', (_what, frame, asked) => {
    expect(memberProblems({ jsonrpc: '2.0', ...frame }, asked, '2025-11-25')).toEqual([
      expect.stringMatching(/ is unknown$/),
    ]);
  });

  it('has a table that names nothing it does not have', () => {
    const kinds = Object.values(VARIANTS).map(({ kinds }) => kinds);
    const text = JSON.stringify([RESULTS, REQUESTS, NOTIFICATIONS, kinds, KINDS]);
    const named = Array.from(text.matchAll(/[\w/]!?:(\w+)/g), ([, one]) => one!);
    expect(named.length).toBeGreaterThan(100);
    expect(named.filter((name) => !(name in KINDS || name in VARIANTS || name in PLAIN))).toEqual([]);
  });

  it('finds messages that the revision does not have', () => {
    const field = form({ type: 'string' });
    expect(problems('2025-03-26', field)).toEqual([
      'elicitation/create came with 2025-06-18, not in 2025-03-26',
    ]);
    expect(problems('2026-07-28', field)).toEqual([
      'elicitation/create went with 2026-07-28, not in 2026-07-28',
    ]);
    expect(problems('2026-07-28', answer({ resultType: 'complete' }), 'ping')).toContain(
      'answers what was not to be asked: ping went with 2026-07-28, not in 2026-07-28',
    );
    expect(problems('2025-11-25', { method: 'notifications/subscriptions/acknowledged' })).toContain(
      'notifications/subscriptions/acknowledged came with 2026-07-28, not in 2025-11-25',
    );
  });

  it('demands what the modern revision added', () => {
    expect(problems('2026-07-28', answer({ tools: [] }), 'tools/list')).toEqual([
      'result.resultType is missing',
      'result.ttlMs is missing',
      'result.cacheScope is missing',
    ]);
    const complete = { tools: [], resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
    expect(problems('2026-07-28', answer(complete), 'tools/list')).toEqual([]);
    for (const wrong of [{ resultType: 'done' }, { ttlMs: -1 }, { ttlMs: 0.5 }, { cacheScope: 'shared' }]) {
      expect(problems('2026-07-28', answer({ ...complete, ...wrong }), 'tools/list')).toHaveLength(1);
    }
  });

  it('looks into the rounds of the modern revision', () => {
    const round = (inputRequests: Json, asked = 'tools/call') =>
      problems('2026-07-28', answer({ resultType: 'input_required', inputRequests }), asked);
    const page = { mode: 'url', message: 'm', url: 'https://a.b' };
    expect(round({ a: { method: 'roots/list' } })).toEqual([]);
    expect(round({ a: { method: 'elicitation/create', params: page } })).toEqual([]);
    expect(round({ a: { method: 'roots/list' } }, 'tools/list')).toEqual([
      'tools/list cannot be answered with input_required (MRTR-001)',
    ]);
    expect(round({ a: { method: 'ping' } })).toContain(
      'result.inputRequests.a: InputRequest ping is unknown',
    );
    expect(round({ a: { method: 'elicitation/create', params: { ...page, elicitationId: 'b' } } })).toEqual([
      'result.inputRequests.a.params: PageParams elicitationId went with 2026-07-28, not in 2026-07-28',
    ]);
    expect(round({ a: { method: 'sampling/createMessage', params: { messages: [] } } })).toContain(
      'result.inputRequests.a.params.maxTokens is missing',
    );
    expect(problems('2026-07-28', answer({ resultType: 'input_required' }), 'tools/call')).toHaveLength(1);
  });

  it('finds values of the wrong type', () => {
    for (const revision of REVISIONS) {
      const wrong = (frame: Json, asked?: string) => expect(problems(revision, frame, asked)).not.toEqual([]);
      const page = revision === '2026-07-28' && { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
      const listed = (item: Json) => answer({ resources: [item], ...page });
      expect(problems(revision, listed({ uri: 'a://b', name: 'b' }), 'resources/list')).toEqual([]);
      wrong(listed({ uri: 'no uri', name: 'b' }), 'resources/list');
      wrong(listed({ uri: 'a://b', name: 'b', size: 'big' }), 'resources/list');
      wrong(listed({ uri: 'a://b', name: 'b', annotations: { audience: ['all'] } }), 'resources/list');
      wrong(listed({ uri: 'a://b', name: 'b', annotations: { priority: 2 } }), 'resources/list');
      wrong({ method: 'notifications/message', params: { level: 'loud', data: 1 } });
      wrong({ method: 'notifications/progress', params: { progressToken: 1, progress: '1' } });
      wrong({ id: null, result: {} }, 'ping');
      wrong({ id: 1, error: { code: 'a', message: 'b' } });
    }
  });
});
