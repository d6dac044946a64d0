import { describe, expect, it } from 'vitest';
import { judgeResult, type Revision } from '../../src/shapes/index.js';
import { REVISIONS, said, saidOf } from '../support/shapes/said.js';

const LEGACY = REVISIONS.slice(0, 4);

describe('how a conversation opens', () => {
  const initialize = {
    protocolVersion: '2025-11-25',
    capabilities: { tools: { listChanged: true }, logging: {}, resources: { subscribe: false } },
    serverInfo: { name: 'a', version: '1' },
  };

  it.each(LEGACY)('a handshake in %s (INIT-003)', (revision) => {
    expect(said(judgeResult('initialize', { ...initialize, protocolVersion: revision }, revision))).toEqual(
      [],
    );
    expect(said(judgeResult('initialize', {}, revision))).toEqual([
      'result.protocolVersion: expected a string, got nothing',
      'result.capabilities: expected an object, got nothing',
      'result.serverInfo: expected an object, got nothing',
    ]);
  });

  it.each<[object, string]>([
    [{ serverInfo: { name: 'a' } }, 'serverInfo.version: expected a string, got nothing'],
    [{ serverInfo: { name: 1, version: '1' } }, 'serverInfo.name: expected a string, got 1'],
    [
      { serverInfo: { name: 'a', version: '1', websiteUrl: 'example.com' } },
      'serverInfo.websiteUrl: expected a URI (RFC 3986), got "example.com"',
    ],
    [{ instructions: {} }, 'instructions: expected a string, got an object'],
    [{ capabilities: { tools: true } }, 'capabilities.tools: expected an object, got true'],
    [
      { capabilities: { tools: { listChanged: 'yes' } } },
      'capabilities.tools.listChanged: expected a boolean, got "yes"',
    ],
    [
      { capabilities: { resources: { subscribe: 1 } } },
      'capabilities.resources.subscribe: expected a boolean, got 1',
    ],
    [
      { capabilities: { experimental: { x: true } } },
      'capabilities.experimental.x: expected an object, got true',
    ],
    [{ capabilities: { tasks: { list: true } } }, 'capabilities.tasks.list: expected an object, got true'],
  ])('complains about %j', (part, complaint) => {
    expect(said(judgeResult('initialize', { ...initialize, ...part }, '2025-11-25'))).toEqual([
      `result.${complaint}`,
    ]);
  });

  it('discovery (DISC-003)', () => {
    const found = { supportedVersions: ['2026-07-28'], capabilities: {} };
    expect(saidOf('server/discover', found)).toEqual([]);
    expect(said(judgeResult('server/discover', {}, '2026-07-28'))).toEqual([
      'result.resultType: expected "complete", got nothing',
      'result.ttlMs: expected an integer of 0 or more, got nothing',
      'result.cacheScope: expected "public" or "private", got nothing',
      'result.supportedVersions: expected an array, got nothing',
      'result.capabilities: expected an object, got nothing',
    ]);
    expect(saidOf('server/discover', { ...found, supportedVersions: '2026-07-28' })).toEqual([
      'result.supportedVersions: expected an array, got "2026-07-28"',
    ]);
  });

  it('extensions have a prefix and settings (VER-020, VER-023)', () => {
    const found = (extensions: object) =>
      saidOf('server/discover', { supportedVersions: [], capabilities: { extensions } });
    expect(found({ 'io.modelcontextprotocol/tasks': {} })).toEqual([]);
    expect(found({ tasks: {} })).toEqual([
      'result.capabilities.extensions: expected keys with a prefix such as "com.example/name", got "tasks"',
    ]);
    expect(found({ 'com.example/a': true })).toEqual([
      'result.capabilities.extensions["com.example/a"]: expected an object, got true',
    ]);
  });
});

describe('what all results have', () => {
  it.each(REVISIONS)('a result is an object in %s (JRPC-007)', (revision) => {
    expect(said(judgeResult('any/method', [], revision))[0]).toBe('result: expected an object, got an array');
    expect(said(judgeResult('ping', { resultType: 'complete' }, revision))).toEqual([]);
  });

  it('a type, from 2026-07-28 on (RTYPE-001)', () => {
    expect(said(judgeResult('any/method', {}, '2025-11-25'))).toEqual([]);
    expect(said(judgeResult('any/method', {}, '2026-07-28'))).toEqual([
      'result.resultType: expected "complete", got nothing',
    ]);
    expect(saidOf('tools/call', { content: [], resultType: 'banana' })).toEqual([
      'result.resultType: expected "complete", "input_required" or "task", got "banana"',
    ]);
    expect(saidOf('tools/call', { content: [], resultType: 'constructor' })).toHaveLength(1);
  });

  it('who answered, by name and version (META-010)', () => {
    expect(
      saidOf('tools/list', { tools: [], _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'a' } } }),
    ).toEqual(['result._meta["io.modelcontextprotocol/serverInfo"].version: expected a string, got nothing']);
  });

  it.each<[object, string]>([
    [{ ttlMs: -1 }, 'ttlMs: expected an integer of 0 or more, got -1'],
    [{ ttlMs: 0.5 }, 'ttlMs: expected an integer of 0 or more, got 0.5'],
    [{ ttlMs: '0' }, 'ttlMs: expected an integer of 0 or more, got "0"'],
    [{ cacheScope: 'shared' }, 'cacheScope: expected "public" or "private", got "shared"'],
    [{ nextCursor: null }, 'nextCursor: expected a string, got null'],
    [{ tools: {} }, 'tools: expected an array, got an object'],
  ])('complains about a list with %j (CACHE-003, CACHE-004)', (part, complaint) => {
    expect(saidOf('tools/list', { tools: [], ...part })).toEqual([`result.${complaint}`]);
  });

  it.each([
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'server/discover',
  ])('%s says how long it may be kept (CACHE-001)', (method) => {
    expect(said(judgeResult(method, { resultType: 'complete' }, '2026-07-28'))).toEqual(
      expect.arrayContaining([
        'result.ttlMs: expected an integer of 0 or more, got nothing',
        'result.cacheScope: expected "public" or "private", got nothing',
      ]),
    );
  });
});

describe('method by method', () => {
  it.each<[string, object, string, Revision?]>([
    ['tools/call', {}, 'content: expected an array, got nothing'],
    ['tools/call', { content: [], isError: 'no' }, 'isError: expected a boolean, got "no"'],
    [
      'tools/call',
      { content: [], structuredContent: [] },
      'structuredContent: expected an object, got an array',
      '2025-11-25',
    ],
    [
      'tools/call',
      { content: [], structuredContent: null },
      'structuredContent: expected an object, got null',
      '2025-06-18',
    ],
    ['prompts/get', {}, 'messages: expected an array, got nothing'],
    ['prompts/get', { messages: [], description: 1 }, 'description: expected a string, got 1'],
    [
      'prompts/get',
      { messages: [{ role: 'system', content: { type: 'text', text: '' } }] },
      'messages[0].role: expected "user" or "assistant", got "system"',
    ],
    [
      'prompts/get',
      { messages: [{ role: 'user', content: [] }] },
      'messages[0].content: expected an object, got an array',
    ],
    [
      'prompts/get',
      {
        messages: [{ role: 'user', content: { type: 'resource', resource: { uri: 'test://a', text: '' } } }],
      },
      'messages[0].content.resource.mimeType: expected a media type, got nothing',
    ],
    ['resources/read', {}, 'contents: expected an array, got nothing'],
    ['completion/complete', {}, 'completion: expected an object, got nothing'],
    ['completion/complete', { completion: {} }, 'completion.values: expected an array, got nothing'],
    [
      'completion/complete',
      { completion: { values: [1] } },
      'completion.values[0]: expected a string, got 1',
    ],
    [
      'completion/complete',
      { completion: { values: Array(101).fill('a') } },
      'completion.values: expected 100 items or fewer, got 101',
    ],
    [
      'completion/complete',
      { completion: { values: [], total: 1.5 } },
      'completion.total: expected an integer of 0 or more, got 1.5',
    ],
    [
      'completion/complete',
      { completion: { values: [], hasMore: 0 } },
      'completion.hasMore: expected a boolean, got 0',
    ],
    ['subscriptions/listen', {}, '_meta: expected an object, got nothing'],
    [
      'subscriptions/listen',
      { _meta: { 'io.modelcontextprotocol/subscriptionId': null } },
      '_meta["io.modelcontextprotocol/subscriptionId"]: expected a string or an integer, got null',
    ],
  ])('%s complains about %j', (method, result, complaint, revision) => {
    expect(saidOf(method, result, revision)).toContain(`result.${complaint}`);
  });

  it('structured content may be any value in 2026-07-28 (TOOL-015)', () => {
    for (const structuredContent of [null, 0, 'a', [], {}])
      expect(saidOf('tools/call', { content: [], structuredContent })).toEqual([]);
  });

  it('100 completions are fine (COMP-004)', () => {
    expect(
      saidOf('completion/complete', {
        completion: { values: Array(100).fill('a'), total: 500, hasMore: true },
      }),
    ).toEqual([]);
  });
});

describe('interim results (MRTR)', () => {
  const asks = (part: object, method = 'tools/call') =>
    said(judgeResult(method, { resultType: 'input_required', ...part }, '2026-07-28'));

  it('ask, keep state, or both (MRTR-004)', () => {
    expect(asks({ requestState: '' })).toEqual([]);
    expect(asks({ inputRequests: { a: { method: 'roots/list' } } }, 'prompts/get')).toEqual([]);
    expect(asks({})).toEqual(['result: expected inputRequests, requestState or both, got neither']);
    expect(asks({ requestState: {} })).toEqual(['result.requestState: expected a string, got an object']);
  });

  it('come from three methods only (MRTR-003)', () => {
    expect(asks({ requestState: 'a' }, 'resources/read')).toEqual([]);
    expect(asks({ requestState: 'a', completion: { values: [] } }, 'completion/complete')).toEqual([
      'result.resultType: expected "complete", got "input_required"',
    ]);
  });

  it('are not to be kept (CACHE-002)', () => {
    expect(asks({ requestState: 'a', ttlMs: 5, cacheScope: 'public' }, 'resources/read')).toEqual([
      'result.ttlMs: expected nothing, got 5',
      'result.cacheScope: expected nothing, got "public"',
    ]);
  });

  it('hold questions without an envelope (MRTR-006)', () => {
    expect(asks({ inputRequests: { a: { jsonrpc: '2.0', id: 1, method: 'roots/list' } } })).toEqual([
      'result.inputRequests.a.jsonrpc: expected nothing, got "2.0"',
      'result.inputRequests.a.id: expected nothing, got 1',
    ]);
    expect(asks({ inputRequests: { a: { method: 'ping' } } })).toEqual([
      'result.inputRequests.a.method: expected "elicitation/create", "sampling/createMessage" or "roots/list", got "ping"',
    ]);
    expect(asks({ inputRequests: { a: { method: 'elicitation/create' } } })).toEqual([
      'result.inputRequests.a.params: expected an object, got nothing',
    ]);
    expect(asks({ inputRequests: [] })).toEqual(['result.inputRequests: expected an object, got an array']);
  });
});
