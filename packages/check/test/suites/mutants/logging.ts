import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answering, hiding } from '../../support/suites/altered.js';
import { asking, inEra, objectOf, telling, withParams } from '../../support/suites/asking-faults.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';

const MODERN = inEra('modern', ['test_tool_with_logging']);
const LEGACY = inEra('legacy', ['test_tool_with_logging']);
const MESSAGE = 'notifications/message';
const LEVEL = 'io.modelcontextprotocol/logLevel';

/** Logs that nobody asked for, or that cannot be read. */
export const loggingMutants: readonly AnyMutant[] = [
  ...[MODERN, LEGACY].flatMap((era) => [
    {
      ...era,
      check: 'logging/announced',
      fault: 'logs without announcing it',
      middle: hiding('logging'),
    },
    {
      ...era,
      check: 'logging/message-shape',
      fault: 'uses an unknown log level',
      seen: /verbose/,
      middle: logging(() => ({ level: 'verbose' })),
    },
    {
      ...era,
      check: 'logging/message-shape',
      fault: 'logs without data',
      seen: /no data/,
      middle: logging(() => ({ data: undefined })),
    },
    {
      ...era,
      check: 'logging/no-credentials',
      fault: 'logs the password it was given',
      seen: /a password/,
      middle: logging(() => ({ data: { message: 'signed in', password: 'correct horse' } })),
    },
    {
      ...era,
      check: 'logging/not-a-flood',
      fault: 'logs everything a hundred times',
      middle: telling((message, method) =>
        method === MESSAGE ? Array.from({ length: 250 }, () => message) : message,
      ),
    },
  ]),
  {
    ...MODERN,
    check: 'logging/none-without-level',
    fault: 'logs for requests without logLevel',
    middle: asking((params) => ({ ...params, _meta: { [LEVEL]: 'debug', ...objectOf(params['_meta']) } })),
  },
  {
    ...MODERN,
    check: 'logging/from-the-level-on',
    fault: 'logs everything for any logLevel',
    seen: /logged at info/,
    middle: atLevel(() => 'debug'),
  },
  {
    ...MODERN,
    check: 'logging/before-the-answer',
    fault: 'logs after the answer',
    seen: /after the answer/,
    middle: () => {
      const said: JsonObject[] = [];
      return {
        outgoing(message) {
          if (message['method'] === MESSAGE) said.push(message);
          return message['result'] === undefined ? message : [message, ...said.splice(0)];
        },
      };
    },
  },
  {
    ...MODERN,
    check: 'logging/before-the-answer',
    fault: 'logs on the streams of others',
    seen: /did not ask/,
    proxy: () => ({
      request({ json, method }) {
        if (method !== 'POST' || !json) return undefined;
        const params = objectOf(json['params']);
        const _meta = { [LEVEL]: 'debug', ...objectOf(params['_meta']) };
        return { body: Buffer.from(JSON.stringify({ ...json, params: { ...params, _meta } })) };
      },
    }),
  },
  {
    ...MODERN,
    check: 'logging/refuses-unknown-levels',
    fault: 'accepts any log level',
    middle: atLevel(() => 'info'),
  },
  {
    ...LEGACY,
    check: 'logging/refuses-unknown-levels',
    fault: 'uses another error code for levels',
    seen: /-32603/,
    middle: answering(({ method, params }) =>
      method === 'logging/setLevel' && params['level'] === 'loud'
        ? { error: { code: -32603, message: 'loud is no level' } }
        : undefined,
    ),
  },
  {
    ...MODERN,
    check: 'logging/knows-all-levels',
    fault: 'does not know alert',
    seen: /alert/,
    middle: atLevel((level) => (level === 'alert' ? 'none' : level)),
  },
  {
    ...LEGACY,
    check: 'logging/knows-all-levels',
    fault: 'says what the level was',
    seen: /before/,
    middle: answering(({ method }) =>
      method === 'logging/setLevel' ? { result: { before: 'info' } } : undefined,
    ),
  },
  {
    ...LEGACY,
    check: 'logging/from-the-set-level-on',
    fault: 'does not keep to the level that was set',
    seen: /info, and emergency/,
    middle: answering(({ method }) => (method === 'logging/setLevel' ? { result: {} } : undefined)),
  },
  {
    ...LEGACY,
    check: 'logging/from-the-set-level-on',
    fault: 'has one level for all sessions',
    seen: /another session/,
    proxy: () => {
      let level: unknown;
      return {
        request({ json }) {
          if (json?.['method'] === 'logging/setLevel') level = objectOf(json['params'])['level'];
          return undefined;
        },
        message: (message) => (message['method'] === MESSAGE && level === 'emergency' ? undefined : message),
      };
    },
  },
];

function logging(
  change: (params: Readonly<Record<string, unknown>>) => Record<string, unknown>,
): () => Middle {
  return telling((message, method) =>
    method === MESSAGE ? withParams(message, change(objectOf(message['params']))) : message,
  );
}

/** What the referee asks for becomes another level. */
function atLevel(change: (level: unknown) => unknown): () => Middle {
  return asking((params) => {
    const meta = objectOf(params['_meta']);
    return meta[LEVEL] === undefined
      ? params
      : { ...params, _meta: { ...meta, [LEVEL]: change(meta[LEVEL]) } };
  });
}
