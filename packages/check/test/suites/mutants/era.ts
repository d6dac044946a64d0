import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AnyMutant, Middle, StreamMutant } from '../../support/suites/mutant.js';
import { answersItself, errorFor, metaIn, paramsIn, resultFor, SOON } from './faults.js';

const isModern = (message: JsonObject) => metaIn(message)[META.protocolVersion] !== undefined;
const isCalled = (method: string) => (message: JsonObject) => message['method'] === method;
const isInitialize = isCalled('initialize');
const isDiscover = isCalled('server/discover');

/** Servers that are confused by two eras. */
export const eraMutants: readonly AnyMutant[] = [
  {
    check: 'era/initialize-after-modern',
    fault: 'does not answer initialize after modern requests',
    options: SOON,
    middle: afterThe(isDiscover, (message) => (isInitialize(message) ? undefined : message)),
  },
  {
    check: 'era/initialize-after-modern',
    fault: 'refuses everything once it has refused initialize',
    seen: /initialize was refused, and then server\/discover got/,
    middle: () => {
      let refused = false;
      return {
        incoming(message, io) {
          if (!refused) return message;
          io.reply(errorFor(message, -32600));
          return undefined;
        },
        outgoing(message) {
          refused ||= isRefusal(message, -32022);
          return message;
        },
      };
    },
  },
  {
    check: 'era/modern-after-initialize',
    fault: 'does not answer a probe after the handshake',
    options: SOON,
    middle: afterThe(isInitialize, (message) => (isDiscover(message) ? undefined : message)),
  },
  {
    check: 'era/modern-rules-after-initialize',
    fault: 'serves a modern request by the rules of the session',
    seen: /by the rules of the session/,
    middle: afterThe(isInitialize, (message) => {
      if (!isModern(message)) return message;
      const { _meta, ...params } = paramsIn(message);
      return { ...message, params };
    }),
  },
  {
    check: 'era/beside-a-session',
    fault: 'has no place for modern requests beside a session',
    proxy: () => ({
      request: ({ json }) => (json?.['id'] === 'beside' ? refusal(errorFor(json, -32600), 400) : undefined),
    }),
  },
  {
    check: 'era/failed-probe',
    fault: 'lets a failed probe decide the era',
    middle: afterThe(
      (message) => metaIn(message)[META.protocolVersion] === '2099-12-31',
      (message, io) => {
        if (!isInitialize(message)) return message;
        io.reply(errorFor(message, -32600));
        return undefined;
      },
    ),
  },
  {
    check: 'era/unknown-version',
    fault: 'refuses an unknown version with -32602',
    seen: /-32602/,
    middle: () => ({
      outgoing: (message) => (isRefusal(message, -32022) ? errorFor(message, -32602) : message),
    }),
  },
  {
    check: 'era/unknown-version',
    fault: 'does not name the requested version',
    seen: /data.requested is undefined/,
    middle: () => ({
      outgoing: (message) =>
        isRefusal(message, -32022)
          ? {
              ...message,
              error: { code: -32022, message: 'Unsupported', data: { supported: ['2026-07-28'] } },
            }
          : message,
    }),
  },
  {
    check: 'era/unknown-version',
    fault: 'remembers the unknown version',
    seen: /the next request/,
    middle: afterThe(
      (message) => metaIn(message)[META.protocolVersion] === '1900-01-01',
      (message, io) => {
        io.reply(errorFor(message, -32022));
        return undefined;
      },
    ),
  },
  {
    check: 'era/early-messages',
    fault: 'lets a ping decide the era',
    era: 'modern',
    middle: afterThe(
      (message) => message['id'] === 'early',
      (message, io) => {
        if (!isModern(message)) return message;
        io.reply(errorFor(message, -32601));
        return undefined;
      },
    ),
  },
  {
    check: 'era/no-opening',
    fault: 'serves requests without a handshake',
    middle: answersItself(
      (message) =>
        message['method'] === 'tools/list' && message['params'] === undefined && message['id'] === 1,
      (message) => resultFor(message, { tools: [] }),
    ),
  },
  {
    check: 'era/initialize-asks-modern',
    fault: 'agrees to a modern version in a handshake',
    seen: /2026-07-28/,
    middle: () => {
      let asked: unknown;
      return {
        incoming(message) {
          if (isInitialize(message)) asked = paramsIn(message)['protocolVersion'];
          return message;
        },
        outgoing: (message) =>
          changeResult(message, (result) =>
            result['protocolVersion'] === undefined ? result : { ...result, protocolVersion: asked },
          ),
      };
    },
  },
  {
    check: 'era/names-versions',
    fault: 'refuses initialize without its versions',
    seen: /-32601/,
    middle: answersItself(isInitialize, (message) => errorFor(message, -32601, 'Method not found')),
  },
  {
    check: 'era/refuses-initialize-with-400',
    fault: 'refuses initialize with status 200',
    seen: /HTTP 200/,
    proxy: () => ({
      request: ({ json }) =>
        json && isInitialize(json) ? refusal(errorFor(json, -32022, 'only 2026-07-28'), 200) : undefined,
    }),
  },
  {
    check: 'era/no-accidental-service',
    fault: 'serves a modern request, but supports only the legacy era',
    middle: () => ({
      incoming(message, io) {
        if (!isModern(message)) return message;
        if (isDiscover(message)) io.reply(errorFor(message, -32601));
        else io.reply(resultFor(message, { tools: [] }));
        return undefined;
      },
    }),
  },
  {
    check: 'era/probe-is-answered',
    fault: 'does not answer a probe',
    seen: /no answer/,
    middle: () => ({ incoming: (message) => (isDiscover(message) ? undefined : message) }),
  },
  ...['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map(forgetsSchemas),
  {
    check: 'era/speaks-2025-06-18',
    fault: 'leaves serverInfo out of the handshake',
    seen: /serverInfo/,
    middle: () => ({
      outgoing: (message) => changeResult(message, ({ serverInfo, ...rest }) => rest),
    }),
  },
  {
    check: 'era/supported-is-true',
    fault: 'lists a future version',
    seen: /2099-01-01/,
    middle: () => ({
      outgoing: (message) =>
        changeResult(message, (result) =>
          Array.isArray(result['supportedVersions'])
            ? { ...result, supportedVersions: ['2026-07-28', '2099-01-01'] }
            : result,
        ),
    }),
  },
  ...(['tools', 'resources', 'prompts'] as const).map(
    (kind): StreamMutant => ({
      check: `era/same-${kind}`,
      fault: `has fewer ${kind} in the legacy era`,
      seen: /only in the modern era/,
      middle: () => ({
        outgoing: (message) =>
          changeResult(message, (result) =>
            Array.isArray(result[kind]) && result['resultType'] === undefined
              ? { ...result, [kind]: result[kind].slice(1) }
              : result,
          ),
      }),
    }),
  ),
  {
    check: 'era/same-identity',
    fault: 'has another name in the legacy era',
    seen: /somebody else/,
    middle: () => ({
      outgoing: (message) =>
        changeResult(message, (result) =>
          result['serverInfo'] === undefined
            ? result
            : { ...result, serverInfo: { name: 'somebody else', version: '1.0.0' } },
        ),
    }),
  },
  {
    check: 'era/no-rounds-in-legacy',
    fault: 'asks a legacy client for input in a result',
    middle: () => ({
      outgoing: (message) =>
        changeResult(message, (result) =>
          Array.isArray(result['tools']) && result['resultType'] === undefined
            ? { ...result, resultType: 'input_required' }
            : result,
        ),
    }),
  },
];

/** A tool without an input schema, in sessions of one revision. */
function forgetsSchemas(revision: string): StreamMutant {
  return {
    check: `era/speaks-${revision}`,
    fault: 'forgets the schemas of its tools there',
    seen: /tools\/list: .*inputSchema/,
    middle: () => {
      let isThere = false;
      return {
        incoming(message) {
          if (isInitialize(message)) isThere = paramsIn(message)['protocolVersion'] === revision;
          return message;
        },
        outgoing: (message) =>
          changeResult(message, (result) =>
            isThere && Array.isArray(result['tools']) ? { ...result, tools: [{ name: 'bare' }] } : result,
          ),
      };
    },
  };
}

/** Passes everything on until a message fits; from the next one on, `change` decides. */
function afterThe(
  fits: (message: JsonObject) => boolean,
  change: NonNullable<Middle['incoming']>,
): () => Middle {
  return () => {
    let isAfter = false;
    return {
      incoming(message, io) {
        const next = isAfter ? change(message, io) : message;
        isAfter ||= fits(message);
        return next;
      },
    };
  };
}

function changeResult(message: JsonObject, change: (result: JsonObject) => JsonObject): JsonObject {
  return isJsonObject(message['result']) ? { ...message, result: change(message['result']) } : message;
}

function isRefusal(message: JsonObject, code: number): boolean {
  return isJsonObject(message['error']) && message['error']['code'] === code;
}

function refusal(message: JsonObject, status: number) {
  return {
    respond: { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(message) },
  };
}
