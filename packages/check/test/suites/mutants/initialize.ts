import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answering, changing, changingResult } from '../../support/suites/altered.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

const LEGACY = { eras: ['legacy'] } as const;

/** The version that `initialize` is answered with. */
const choosing = (choose: (asked: string) => string): (() => Middle) =>
  changingResult('initialize', (result, params) => ({
    ...result,
    protocolVersion: choose(String(params['protocolVersion'])),
  }));

export const initializeMutants: readonly AnyMutant[] = [
  {
    check: 'initialize/version-echoed',
    fault: 'chooses the version before the one that it was asked for',
    seen: /asked for 2025-06-18 it chose 2025-03-26, and asked for 2025-03-26 it chose 2024-11-05/,
    options: LEGACY,
    middle: choosing((asked) =>
      asked === '2025-06-18' ? '2025-03-26' : asked === '2025-03-26' ? '2024-11-05' : asked,
    ),
  },
  {
    check: 'initialize/unknown-version',
    fault: 'refuses what it does not know',
    seen: /-32602/,
    options: LEGACY,
    middle: answering(({ method, params }) =>
      method === 'initialize' && params['protocolVersion'] === '1900-01-01'
        ? { error: { code: -32602, message: 'Unsupported' } }
        : undefined,
    ),
  },
  {
    check: 'initialize/unknown-version',
    fault: 'agrees to anything',
    seen: /"1900-01-01"/,
    options: LEGACY,
    middle: choosing((asked) => asked),
  },
  {
    check: 'initialize/newest-offered',
    fault: 'offers its oldest version',
    seen: /it chose 2024-11-05/,
    options: LEGACY,
    middle: choosing((asked) => (asked.startsWith('2025') ? asked : '2024-11-05')),
  },
  {
    check: 'initialize/ping-before-initialized',
    fault: 'answers nothing before initialized',
    seen: /ping before/,
    options: LEGACY,
    middle: () => {
      let isReady = false;
      return {
        incoming(message, io) {
          isReady ||= message['method'] === 'notifications/initialized';
          if (isReady || message['method'] === 'initialize') return message;
          io.reply({ jsonrpc: '2.0', id: message['id'], error: { code: -32600, message: 'Not yet' } });
          return undefined;
        },
      };
    },
  },
  {
    check: 'initialize/nothing-asked-early',
    fault: 'asks for roots at once',
    seen: /roots\/list/,
    options: LEGACY,
    middle: changing((answer, { method }) =>
      method === 'initialize' ? [answer, { jsonrpc: '2.0', id: 'roots', method: 'roots/list' }] : undefined,
    ),
  },
  {
    check: 'initialize/request-before',
    fault: 'refuses initialize after a request that came too early',
    seen: /initialize after tools\/list was answered with error/,
    options: LEGACY,
    middle: () => {
      let isSpoilt = false;
      return answering(({ method, id }) => {
        isSpoilt ||= id === 'early';
        return isSpoilt && method === 'initialize'
          ? { error: { code: -32600, message: 'Too late' } }
          : undefined;
      })();
    },
  },
  {
    check: 'initialize/twice',
    fault: 'does not answer a second initialize',
    seen: /nothing/,
    options: { ...LEGACY, patience: { answerMs: 500 } },
    middle: () => {
      let count = 0;
      return {
        incoming: (message) => (message['method'] === 'initialize' && ++count > 1 ? undefined : message),
      };
    },
  },
];

const first = (result: JsonObject, member: string, change: JsonObject): JsonObject => {
  const [head, ...rest] = result[member] as JsonObject[];
  return { ...result, [member]: [{ ...head, ...change }, ...rest] };
};

const misshapen = (
  method: string,
  seen: RegExp,
  fault: string,
  change: (result: JsonObject) => JsonObject,
): AnyMutant => ({
  check: `shapes/${method.replaceAll('/', '-')}`,
  fault,
  seen,
  options: { eras: [method === 'server/discover' ? 'modern' : 'legacy'] },
  middle: changingResult(method, change),
});

export const shapeMutants: readonly AnyMutant[] = [
  misshapen('server/discover', /capabilities\.tools/, 'says true for a capability', (result) => ({
    ...result,
    capabilities: { ...(result['capabilities'] as JsonObject), tools: true },
  })),
  misshapen('initialize', /serverInfo\.version: expected a string/, 'has no version', (result) => ({
    ...result,
    serverInfo: { name: 'demo' },
  })),
  misshapen('initialize', /instructions: expected a string/, 'has a list of instructions', (result) => ({
    ...result,
    instructions: ['one', 'two'],
  })),
  misshapen('tools/list', /inputSchema/, 'has a tool without a schema', (result) =>
    first(result, 'tools', { inputSchema: undefined }),
  ),
  misshapen('prompts/list', /prompts\[0\]\.name/, 'has a prompt without a name', (result) =>
    first(result, 'prompts', { name: undefined }),
  ),
  misshapen('prompts/get', /role/, 'speaks for the system', (result) =>
    first(result, 'messages', { role: 'system' }),
  ),
  misshapen('resources/list', /resources\[0\]\.name/, 'has a resource without a name', (result) =>
    first(result, 'resources', { name: undefined }),
  ),
  misshapen(
    'resources/templates/list',
    /resourceTemplates\[0\]\.name/,
    'has a template without a name',
    (result) => first(result, 'resourceTemplates', { name: undefined }),
  ),
  misshapen('resources/read', /base64/, 'sends bytes as they are', (result) =>
    first(result, 'contents', { text: undefined, blob: 'ÿØ' }),
  ),
  {
    check: 'shapes/notifications',
    fault: 'reports progress as text',
    seen: /progress: expected a number/,
    options: LEGACY,
    middle: () => ({
      outgoing: (message) =>
        message['method'] === 'notifications/progress' && isJsonObject(message['params'])
          ? { ...message, params: { ...message['params'], progress: 'half' } }
          : message,
    }),
  },
  {
    check: 'shapes/media-types',
    fault: 'uses "text" as a media type',
    seen: /mimeType/,
    options: LEGACY,
    middle: changingResult('resources/list', (result) => first(result, 'resources', { mimeType: 'text' })),
  },
];

export const stateMutants: readonly AnyMutant[] = [
  {
    check: 'state/side-by-side',
    fault: 'mixes up answers to requests that come at once',
    seen: /together with others/,
    options: { eras: ['modern'] },
    middle: () => {
      const waiting: JsonObject[] = [];
      const asked = new Set<unknown>();
      return {
        incoming(message) {
          asked.add(message['id']);
          return message;
        },
        outgoing(message) {
          if (message['id'] === undefined) return message;
          waiting.push(message);
          if (waiting.length < asked.size) return undefined;
          const all = waiting.splice(0);
          asked.clear();
          return all.map((each, index) => ({ ...each, id: all[(index + 1) % all.length]!['id'] }));
        },
      };
    },
  },
  {
    check: 'state/after-errors',
    fault: 'has enough after three errors',
    seen: /after three errors/,
    options: LEGACY,
    middle: () => {
      let errors = 0;
      return answering(({ method }) => {
        if (method.startsWith('isthmus_check/')) errors += 1;
        return errors >= 3 && method === 'ping' ? { error: { code: -32603, message: 'Enough' } } : undefined;
      })();
    },
  },
];
