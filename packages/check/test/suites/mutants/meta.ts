import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answering, changing, changingResult, type Passing } from '../../support/suites/altered.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

const MODERN = { eras: ['modern'] } as const;

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

/** Fills in what is missing in a request, as if it had been said before. */
const filling =
  (fill: (meta: JsonObject) => JsonObject): (() => Middle) =>
  () => ({
    incoming(message) {
      if (message['id'] === undefined || message['method'] === 'initialize') return message;
      const params = isJsonObject(message['params']) ? message['params'] : {};
      const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
      return { ...message, params: { ...params, _meta: fill(meta) } };
    },
  });

const USUAL = { [META.protocolVersion]: '2026-07-28', [META.clientCapabilities]: {} };

const metaOf = ({ params }: Passing): JsonObject => (isJsonObject(params['_meta']) ? params['_meta'] : {});
const clientOf = (request: Passing): unknown => metaOf(request)[META.clientInfo];

export const metaMutants: readonly AnyMutant[] = [
  {
    check: 'meta/missing-version',
    fault: 'remembers the version of the connection',
    seen: /a result with/,
    options: MODERN,
    middle: filling((meta) => ({ ...USUAL, ...meta })),
  },
  {
    check: 'meta/missing-capabilities',
    fault: 'treats missing capabilities as empty ones',
    seen: /a result with/,
    options: MODERN,
    middle: filling((meta) => ({ [META.clientCapabilities]: {}, ...meta })),
  },
  {
    check: 'meta/missing-everything',
    fault: 'serves a request without _meta',
    seen: /a result with/,
    options: MODERN,
    middle: filling((meta) => (Object.keys(meta).length === 0 ? USUAL : meta)),
  },
  {
    check: 'meta/missing-everything',
    fault: 'answers a request without _meta with an internal error',
    seen: /-32603/,
    options: MODERN,
    middle: answering((request) =>
      Object.keys(metaOf(request)).length === 0 && request.method !== 'initialize'
        ? { error: { code: -32603, message: 'Cannot read properties of undefined' } }
        : undefined,
    ),
  },
  {
    check: 'meta/client-info-optional',
    fault: 'insists on clientInfo',
    seen: /-32602/,
    options: MODERN,
    middle: answering((request) =>
      clientOf(request) === undefined
        ? { error: { code: -32602, message: 'clientInfo is missing' } }
        : undefined,
    ),
  },
  {
    check: 'meta/client-info-changes-nothing',
    fault: 'has no tools for strangers',
    seen: /somebody-else/,
    options: MODERN,
    middle: changing((answer, request) => {
      const client = clientOf(request);
      const isStranger = isJsonObject(client) && client['name'] === 'somebody-else';
      return request.method === 'tools/list' && isStranger
        ? { ...answer, result: { ...COMPLETE, tools: [] } }
        : undefined;
    }),
  },
  {
    check: 'meta/client-info-malformed',
    fault: 'does not answer if clientInfo is a string',
    seen: /nothing/,
    options: { ...MODERN, patience: { answerMs: 500, quietMs: 100 } },
    middle: () => ({
      incoming(message) {
        const meta = isJsonObject(message['params']) ? message['params']['_meta'] : undefined;
        return isJsonObject(meta) && typeof meta[META.clientInfo] === 'string' ? undefined : message;
      },
    }),
  },
];

const versionOf = (request: Passing): unknown => metaOf(request)[META.protocolVersion];
const refusal = (data: unknown) => ({
  error: { code: -32022, message: 'Unsupported protocol version', data },
});
const DISCOVERED = {
  ...COMPLETE,
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
};
const deaf = (isWelcome: (version: unknown) => boolean) =>
  answering((request) =>
    request.method === 'server/discover' && isWelcome(versionOf(request))
      ? { result: DISCOVERED }
      : undefined,
  );

export const versionMutants: readonly AnyMutant[] = [
  {
    check: 'versions/unknown-refused',
    fault: 'answers server/discover in any version',
    seen: /a result with/,
    options: MODERN,
    middle: deaf((version) => version !== '2026-07-28'),
  },
  {
    check: 'versions/unknown-refused',
    fault: 'refuses a version with -32602',
    seen: /-32602/,
    options: MODERN,
    middle: answering((request) =>
      versionOf(request) === '1900-01-01' ? { error: { code: -32602, message: 'bad version' } } : undefined,
    ),
  },
  {
    check: 'versions/future-refused',
    fault: 'accepts later versions',
    seen: /2999-12-31/,
    options: MODERN,
    middle: deaf((version) => String(version) > '2026-07-28'),
  },
  {
    check: 'versions/old-refused',
    fault: 'accepts 2025-06-18 in _meta without the legacy era',
    seen: /2025-06-18/,
    middle: answering((request) => {
      if (request.method === 'initialize') return { error: { code: -32601, message: 'Method not found' } };
      return versionOf(request) === '2025-06-18' ? { result: DISCOVERED } : undefined;
    }),
  },
  {
    check: 'versions/refusal-tells',
    fault: 'does not name the requested version',
    seen: /requested is undefined/,
    options: MODERN,
    middle: answering((request) =>
      versionOf(request) === '1900-01-01' ? refusal({ supported: ['2026-07-28'] }) : undefined,
    ),
  },
  {
    check: 'versions/refusal-tells',
    fault: 'lists its versions in one string',
    seen: /supported is "2026-07-28"/,
    options: MODERN,
    middle: answering((request) =>
      versionOf(request) === '1900-01-01'
        ? refusal({ supported: '2026-07-28', requested: '1900-01-01' })
        : undefined,
    ),
  },
  {
    check: 'versions/every-request',
    fault: 'looks at the version of server/discover only',
    seen: /after one that was served/,
    options: MODERN,
    middle: answering((request) =>
      request.method === 'tools/list' && versionOf(request) !== '2026-07-28'
        ? { result: { ...COMPLETE, tools: [] } }
        : undefined,
    ),
  },
  {
    check: 'versions/every-request',
    fault: 'is offended by one bad version for good',
    seen: /after one that was refused/,
    options: MODERN,
    middle: () => {
      let isOffended = false;
      return answering((request) => {
        isOffended ||= versionOf(request) === '1900-01-01';
        return isOffended ? refusal({ supported: ['2026-07-28'], requested: '1900-01-01' }) : undefined;
      })();
    },
  },
  {
    check: 'versions/malformed-refused',
    fault: 'accepts a number as a version',
    seen: /a result with/,
    options: MODERN,
    middle: deaf((version) => typeof version === 'number'),
  },
  {
    check: 'versions/listed-are-served',
    fault: 'lists a version that it does not serve',
    seen: /2027-01-01/,
    options: MODERN,
    middle: changingResult('server/discover', (result) => ({
      ...result,
      supportedVersions: ['2026-07-28', '2027-01-01'],
    })),
  },
  {
    check: 'versions/lists-agree',
    fault: 'has two lists of versions',
    seen: /the error lists 2026-07-28, 2027-01-01/,
    options: MODERN,
    middle: answering((request) =>
      versionOf(request) === '1900-01-01'
        ? refusal({ supported: ['2026-07-28', '2027-01-01'], requested: '1900-01-01' })
        : undefined,
    ),
  },
];
