import { describe, expect, it } from 'vitest';
import { judgeServerRequest, type Revision } from '../../src/shapes/index.js';
import { REVISIONS, said } from '../support/shapes/said.js';

const LEGACY = REVISIONS.slice(0, 4);
const text = { type: 'text', text: 'hi' };
const ASK = { messages: [{ role: 'user', content: text }], maxTokens: 100 };

const saidOf = (method: string, params?: unknown, revision: Revision = '2025-11-25') =>
  said(judgeServerRequest(method, params, revision));
const sampling = (part: object, revision?: Revision) =>
  saidOf('sampling/createMessage', { ...ASK, ...part }, revision);

describe('what a server may ask', () => {
  it.each(LEGACY)('pings, roots and sampling are known in %s', (revision) => {
    expect(saidOf('ping', undefined, revision)).toEqual([]);
    expect(saidOf('roots/list', {}, revision)).toEqual([]);
    expect(saidOf('sampling/createMessage', ASK, revision)).toEqual([]);
  });

  it('nothing at all in 2026-07-28 (JRPC-013)', () => {
    expect(saidOf('ping', undefined, '2026-07-28')).toEqual([
      'method: expected no request from a server, got "ping"',
    ]);
  });

  it('nothing that clients ask, but whatever an extension invents', () => {
    expect(saidOf('tools/list')).toEqual([
      'method: expected a request of a server of 2025-11-25, got "tools/list"',
    ]);
    expect(saidOf('example/ask', { any: 1 })).toEqual([]);
    expect(saidOf('example/ask', { _meta: 1 })).toEqual(['params._meta: expected an object, got 1']);
  });

  it('after tasks, in 2025-11-25', () => {
    expect(saidOf('tasks/get', { taskId: 'a' })).toEqual([]);
    expect(saidOf('tasks/get', {})).toEqual(['params.taskId: expected a string, got nothing']);
    expect(saidOf('tasks/get', { taskId: 'a' }, '2025-06-18')).toEqual([
      'method: expected a request of a server of 2025-06-18, got "tasks/get"',
    ]);
  });
});

describe('sampling (SAMP-006)', () => {
  it('takes all that the specification knows', () => {
    expect(
      sampling({
        modelPreferences: { hints: [{ name: 'sonnet' }, {}], costPriority: 0, speedPriority: 1 },
        systemPrompt: 'Be brief.',
        includeContext: 'none',
        temperature: 0.7,
        stopSequences: ['.'],
        metadata: {},
        tools: [{ name: 'a', inputSchema: { type: 'object' } }],
        toolChoice: { mode: 'auto' },
      }),
    ).toEqual([]);
  });

  it.each<[object, string]>([
    [{ messages: undefined }, 'messages: expected an array, got nothing'],
    [{ maxTokens: undefined }, 'maxTokens: expected an integer, got nothing'],
    [{ maxTokens: 1.5 }, 'maxTokens: expected an integer, got 1.5'],
    [{ messages: [{ content: text }] }, 'messages[0].role: expected "user" or "assistant", got nothing'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content: expected an object, got nothing'],
    [
      { messages: [{ role: 'user', content: { type: 'resource' } }] },
      'messages[0].content.type: expected "text", "image", "audio", "tool_use" or "tool_result", got "resource"',
    ],
    [
      { modelPreferences: { costPriority: 2 } },
      'modelPreferences.costPriority: expected a number from 0 to 1, got 2',
    ],
    [
      { modelPreferences: { hints: ['sonnet'] } },
      'modelPreferences.hints[0]: expected an object, got "sonnet"',
    ],
    [
      { modelPreferences: { hints: [{ name: 1 }] } },
      'modelPreferences.hints[0].name: expected a string, got 1',
    ],
    [{ systemPrompt: [] }, 'systemPrompt: expected a string, got an array'],
    [{ includeContext: 'all' }, 'includeContext: expected "none", "thisServer" or "allServers", got "all"'],
    [{ temperature: 'hot' }, 'temperature: expected a number, got "hot"'],
    [{ stopSequences: '.' }, 'stopSequences: expected an array, got "."'],
    [{ metadata: 1 }, 'metadata: expected an object, got 1'],
    [{ tools: [{ name: 'a' }] }, 'tools[0].inputSchema: expected an object, got nothing'],
    [{ toolChoice: { mode: 'some' } }, 'toolChoice.mode: expected "auto", "required" or "none", got "some"'],
  ])('complains about %j', (part, complaint) => {
    expect(sampling(part)).toEqual([`params.${complaint}`]);
  });

  it('content came as an array with 2025-11-25, and sound with 2025-03-26', () => {
    const many = { messages: [{ role: 'user', content: [text, text] }] };
    const sound = {
      messages: [{ role: 'user', content: { type: 'audio', data: '', mimeType: 'audio/wav' } }],
    };
    expect(sampling(many)).toEqual([]);
    expect(sampling(many, '2025-06-18')).toEqual([
      'params.messages[0].content: expected an object, got an array',
    ]);
    expect(sampling(sound, '2025-03-26')).toEqual([]);
    expect(sampling(sound, '2024-11-05')).toEqual([
      'params.messages[0].content.type: expected "text" or "image", got "audio"',
    ]);
  });

  const use = { type: 'tool_use', id: 'u1', name: 'a', input: {} };
  const result = { type: 'tool_result', toolUseId: 'u1', content: [text] };

  it('results of tools come at once and alone (SAMP-007, SAMP-008)', () => {
    const messages = (second: unknown) => [
      { role: 'assistant', content: use },
      { role: 'user', content: second },
    ];
    expect(sampling({ messages: messages([result]) })).toEqual([]);
    expect(sampling({ messages: messages([result, text]) })).toEqual([
      'params.messages[1].content: expected results of tools alone, got other blocks among them',
    ]);
    expect(sampling({ messages: messages(text) })).toEqual([
      'params.messages[0].content: expected a tool_result for "u1" in the next message, got none',
    ]);
  });

  it.each<[object, string]>([
    [{ ...use, id: 1 }, 'id: expected a string, got 1'],
    [{ ...use, input: '{}' }, 'input: expected an object, got "{}"'],
    [{ ...result, toolUseId: undefined }, 'toolUseId: expected a string, got nothing'],
    [{ ...result, content: 'hi' }, 'content: expected an array, got "hi"'],
    [{ ...result, structuredContent: 1 }, 'structuredContent: expected an object, got 1'],
  ])('complains about a block %j', (block, complaint) => {
    expect(sampling({ messages: [{ role: 'user', content: block }] })).toContain(
      `params.messages[0].content.${complaint}`,
    );
  });
});
