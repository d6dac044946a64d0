import type { In } from '../../../src/client/view.js';
import {
  adding,
  allOf,
  fails,
  type Json,
  like,
  metaOf,
  never,
  paramsOf,
  saying,
  sayingOf,
} from '../../support/client/break.js';
import type { Mutant } from '../../support/client/mutant.js';

const META = 'io.modelcontextprotocol/';
const ANSWER = { jsonrpc: '2.0', id: 77, result: {} };

/** The answer to the question of that id, changed. */
const answering = (id: unknown, change: (message: Json) => Json | null) =>
  saying((message) =>
    message['method'] === undefined && message['id'] === id ? change(message) : undefined,
  );
const refusing = (id: unknown, code: number) =>
  answering(id, () => ({ jsonrpc: '2.0', id, error: { code, message: 'No' } }));
const renamed = (from: string, to: string) => (transcript: Parameters<ReturnType<typeof saying>>[0]) => ({
  ...transcript,
  entries: transcript.entries.map((entry) =>
    'text' in entry ? { ...entry, text: entry.text.replace(`"id":"${from}"`, `"id":"${to}"`) } : entry,
  ),
});

export const MESSAGES: readonly Mutant[] = [
  {
    check: 'messages/only-messages',
    fault: 'logs to the pipe',
    scenario: 'dual',
    over: 'stdio',
    breaking: adding('tools/list', (said) => [like(said, 'listing the tools …')]),
  },
  {
    check: 'messages/utf-8',
    fault: 'writes Latin-1',
    scenario: 'dual',
    breaking: (transcript) => ({
      ...transcript,
      entries: transcript.entries.map((entry) => (entry.kind === 'in' ? { ...entry, broken: true } : entry)),
    }),
  },
  {
    check: 'messages/jsonrpc',
    fault: 'leaves jsonrpc out of notifications',
    scenario: 'legacy-2025-11-25',
    breaking: sayingOf('notifications/initialized', ({ jsonrpc: _, ...rest }) => rest),
  },
  {
    check: 'messages/ids',
    fault: 'has null for an id',
    scenario: 'dual',
    breaking: sayingOf('tools/list', (message) => ({ ...message, id: null })),
  },
  {
    check: 'messages/ids-in-flight',
    fault: 'has the same id for all requests',
    scenario: 'round-parallel',
    over: 'stdio',
    breaking: sayingOf('tools/call', (message) => ({ ...message, id: 1 })),
  },
  {
    check: 'messages/ids-of-a-session',
    fault: 'uses an id again once it was answered',
    scenario: 'legacy-2025-11-25',
    breaking: sayingOf('tools/call', (message) => ({ ...message, id: 1 })),
  },
  {
    check: 'messages/no-batches',
    fault: 'sends arrays',
    scenario: 'dual',
    breaking: (transcript) => ({
      ...transcript,
      entries: transcript.entries.map((entry) =>
        entry.kind === 'in' ? { ...entry, text: `[${entry.text}]` } : entry,
      ),
    }),
  },
  {
    check: 'messages/no-answers-in-modern',
    fault: 'answers a modern server',
    scenario: 'modern-only',
    breaking: adding('tools/list', (said) => [like(said, ANSWER)]),
  },
  {
    check: 'messages/answers-no-notification',
    fault: 'answers an unknown notification with an error',
    scenario: 'unknown-notifications',
    over: 'stdio',
    breaking: adding(
      'tools/call',
      (said) => [like(said, { jsonrpc: '2.0', id: null, error: { code: -32601, message: 'Unknown' } })],
      'answered',
    ),
  },
  {
    check: 'messages/meta-protocol-version',
    fault: 'says its version only once',
    scenario: 'modern-only',
    breaking: paramsOf('tools/call', ({ _meta, ...rest }) => rest),
  },
  {
    check: 'messages/meta-client-capabilities',
    fault: 'declares nothing',
    scenario: 'modern-only',
    breaking: metaOf(({ [`${META}clientCapabilities`]: _, ...rest }) => rest),
  },
  {
    check: 'messages/meta-client-info',
    fault: 'does not say who it is',
    scenario: 'modern-only',
    breaking: metaOf(({ [`${META}clientInfo`]: _, ...rest }) => rest),
  },
  {
    check: 'messages/meta-keys',
    fault: 'makes up a reserved key',
    scenario: 'modern-only',
    breaking: metaOf((meta) => ({ ...meta, [`${META}mine`]: 1 })),
  },
  {
    check: 'messages/progress-tokens',
    fault: 'has fractions for tokens',
    scenario: 'modern-only',
    first: metaOf((meta) => ({ ...meta, progressToken: 1 })),
    breaking: metaOf((meta) => ({ ...meta, progressToken: 1.5 })),
  },
  {
    check: 'messages/progress-tokens',
    fault: 'has the same token for two requests at once',
    scenario: 'out-of-order',
    over: 'stdio',
    first: paramsOf('tools/list', (params) => ({
      ...params,
      _meta: { ...(params['_meta'] as Json), progressToken: 1 },
    })),
    breaking: metaOf((meta) => ({ ...meta, progressToken: 'one' })),
  },
  {
    check: 'messages/initialize-first',
    fault: 'does without a handshake',
    scenario: 'legacy-asks',
    breaking: allOf(never('initialize'), never('server/discover')),
  },
  {
    check: 'messages/initialize-params',
    fault: 'has no name',
    scenario: 'legacy-2025-11-25',
    breaking: paramsOf('initialize', ({ clientInfo, ...rest }) => rest),
  },
  {
    check: 'messages/initialized',
    fault: 'forgets notifications/initialized',
    scenario: 'legacy-2025-11-25',
    breaking: never('notifications/initialized'),
  },
  {
    check: 'messages/waits-for-initialize',
    fault: 'lists the tools while it shakes hands',
    scenario: 'legacy-2025-11-25',
    over: 'stdio',
    breaking: adding('initialize', (said) => [like(said, { jsonrpc: '2.0', id: 50, method: 'tools/list' })]),
  },
  {
    check: 'messages/initialize-not-cancelled',
    fault: 'cancels the handshake',
    scenario: 'legacy-2025-11-25',
    over: 'stdio',
    breaking: adding(
      'initialize',
      (said: In) => [
        like(said, {
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: (JSON.parse(said.text) as Json)['id'] },
        }),
      ],
      'answered',
    ),
  },
  {
    check: 'messages/negotiated-only',
    fault: 'asks a server with tools for prompts',
    scenario: 'legacy-2025-11-25',
    breaking: sayingOf('tools/list', (message) => ({ ...message, method: 'prompts/list' })),
  },
  {
    check: 'messages/modern-vocabulary',
    fault: 'pings a modern server',
    scenario: 'modern-only',
    breaking: sayingOf('tools/list', (message) => ({ ...message, method: 'ping' })),
  },
  {
    check: 'messages/discover-params',
    fault: 'asks server/discover with more than _meta',
    scenario: 'modern-only',
    breaking: paramsOf('server/discover', (params) => ({ ...params, cursor: 'x' })),
  },
  { check: 'messages/ping', fault: 'refuses ping', breaking: refusing('ping', -32601) },
  {
    check: 'messages/answers',
    fault: 'does not answer at all',
    breaking: answering('ping', () => null),
    over: 'stdio',
  },
  {
    check: 'messages/answers',
    fault: 'makes a string of a number',
    breaking: answering(7, (message) => ({ ...message, id: '7' })),
  },
  {
    check: 'messages/answers',
    fault: 'answers with both a result and an error',
    breaking: answering('ping', (message) => ({ ...message, error: { code: 1, message: 'x' } })),
  },
  {
    check: 'messages/honest-capabilities',
    fault: 'declares sampling and refuses it',
    breaking: refusing('sample', -32601),
  },
  {
    check: 'messages/elicitation-result',
    fault: 'answers a form with yes',
    breaking: answering('form', (message) => ({ ...message, result: { action: 'yes' } })),
  },
  {
    check: 'messages/elicitation-result',
    fault: 'declines with content',
    breaking: answering('form', (message) => ({ ...message, result: { action: 'decline', content: {} } })),
  },
  {
    check: 'messages/undeclared-mode',
    fault: 'refuses pages with -32601',
    breaking: refusing('page', -32601),
  },
  {
    check: 'messages/undeclared-roots',
    fault: 'invents roots',
    first: allOf(renamed('roots', 'roots-undeclared'), refusing('roots-undeclared', -32601)),
    breaking: answering('roots-undeclared', (message) => ({
      ...message,
      error: undefined,
      result: { roots: [] },
    })),
  },
  {
    check: 'messages/undeclared-sampling-tools',
    fault: 'samples without the tools',
    breaking: answering('sample-tools', ({ error, ...message }) => ({
      ...message,
      result: { role: 'assistant' },
    })),
  },
  {
    check: 'messages/roots-are-files',
    fault: 'has a web page for a root',
    breaking: answering('roots', (message) => ({
      ...message,
      result: { roots: [{ uri: 'https://example.com' }] },
    })),
  },
  { check: 'messages/unknown-elicitation', fault: 'breaks at what it does not know', breaking: fails },
  {
    check: 'messages/pages-not-fetched',
    fault: 'looks at the page',
    breaking: (transcript) => ({
      ...transcript,
      entries: [
        ...transcript.entries,
        { kind: 'head', at: 0, life: 0, exchange: 99, method: 'GET', path: '/login', headers: {} },
      ],
    }),
  },
  {
    check: 'messages/no-tasks',
    fault: 'makes a task of every call',
    scenario: 'legacy-2025-11-25',
    breaking: paramsOf('tools/call', (params) => ({ ...params, task: { ttl: 1000 } })),
  },
  { check: 'messages/unknown-request', fault: 'refuses with -32603', breaking: refusing('unknown', -32603) },
  {
    check: 'messages/capability-shapes',
    fault: 'declares true',
    scenario: 'modern-only',
    breaking: metaOf((meta) => ({ ...meta, [`${META}clientCapabilities`]: { roots: true } })),
  },
  {
    check: 'messages/capability-shapes',
    fault: 'declares roots.listChanged in the modern era',
    scenario: 'modern-only',
    breaking: metaOf((meta) => ({
      ...meta,
      [`${META}clientCapabilities`]: { roots: { listChanged: true } },
    })),
  },
  {
    check: 'messages/capability-shapes',
    fault: 'names an extension without a prefix',
    scenario: 'modern-only',
    breaking: metaOf((meta) => ({ ...meta, [`${META}clientCapabilities`]: { extensions: { tasks: {} } } })),
  },
];
