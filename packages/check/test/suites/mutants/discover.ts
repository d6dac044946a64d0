import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answering, changingResult, hiding } from '../../support/suites/altered.js';
import type { AnyMutant } from '../../support/suites/mutant.js';

const MODERN = { eras: ['modern'] } as const;
const LEGACY = { eras: ['legacy'] } as const;

const extending = (extensions: unknown) =>
  changingResult('server/discover', (result) => ({
    ...result,
    capabilities: { ...(result['capabilities'] as JsonObject), extensions },
  }));

const NOT_FOUND = { error: { code: -32601, message: 'Method not found' } };

export const discoverMutants: readonly AnyMutant[] = [
  {
    check: 'discover/again',
    fault: 'answers server/discover once',
    seen: /a repeated server\/discover/,
    options: MODERN,
    middle: () => {
      let count = 0;
      return answering(({ method }) =>
        method === 'server/discover' && ++count > 1
          ? { error: { code: -32600, message: 'Already discovered' } }
          : undefined,
      )();
    },
  },
  {
    check: 'discover/again',
    fault: 'changes its answer every other time',
    seen: /capabilities differs/,
    options: MODERN,
    middle: () => {
      let count = 0;
      return changingResult('server/discover', (result) =>
        ++count % 2 === 0 ? { ...result, capabilities: { tools: {} } } : result,
      )();
    },
  },
  {
    check: 'discover/again',
    fault: 'changes its answer once, after the first one',
    seen: /capabilities differs/,
    options: MODERN,
    middle: () => {
      let count = 0;
      return changingResult('server/discover', (result) =>
        ++count > 1 ? { ...result, capabilities: { tools: {} } } : result,
      )();
    },
  },
  {
    check: 'discover/not-needed',
    fault: 'waits for server/discover',
    seen: /as the first request/,
    options: MODERN,
    middle: () => {
      let isGreeted = false;
      return answering(({ method }) => {
        isGreeted ||= method === 'server/discover';
        return isGreeted ? undefined : { error: { code: -32600, message: 'Discover first' } };
      })();
    },
  },
  {
    check: 'discover/not-needed',
    fault: 'does not know a client at a URL that has not asked server/discover',
    seen: /as the first request/,
    options: MODERN,
    proxy: () => ({
      request: ({ json }) =>
        json?.['id'] === 'first'
          ? {
              respond: {
                status: 400,
                headers: { 'content-type': 'application/json' },
                body: '{"jsonrpc":"2.0","id":"first","error":{"code":-32600,"message":"Discover first"}}',
              },
            }
          : undefined,
    }),
  },
  {
    check: 'discover/identity-in-meta',
    fault: 'identifies itself outside of _meta',
    seen: /member serverInfo/,
    options: MODERN,
    middle: changingResult('server/discover', (result) => ({
      ...result,
      serverInfo: { name: 'demo', version: '1' },
    })),
  },
  {
    check: 'discover/identity-in-meta',
    fault: 'has no version',
    seen: /"name":"demo"/,
    options: MODERN,
    middle: changingResult('server/discover', (result) => ({
      ...result,
      _meta: { [META.serverInfo]: { name: 'demo' } },
    })),
  },
  {
    check: 'discover/extension-names',
    fault: 'has an extension without a prefix',
    seen: /"tasks"/,
    options: MODERN,
    middle: extending({ tasks: {} }),
  },
  {
    check: 'discover/extension-names',
    fault: 'has true instead of a settings object',
    seen: /com\.example\/tasks are true/,
    options: MODERN,
    middle: extending({ 'com.example/tasks': true }),
  },
];

/** A prompt and a resource, and nothing that the client was told of. */
const unannounced = (check: string, name: string): AnyMutant => ({
  check,
  fault: `serves ${name} and does not announce them`,
  seen: /a result with/,
  middle: hiding(name),
});

export const capabilityMutants: readonly AnyMutant[] = [
  unannounced('capabilities/prompts-gated', 'prompts'),
  unannounced('capabilities/resources-gated', 'resources'),
  {
    check: 'capabilities/prompts-gated',
    fault: 'answers -32602 to methods that it does not announce',
    seen: /-32602/,
    options: MODERN,
    middle: () => {
      const hidden = hiding('prompts')();
      return {
        ...hidden,
        incoming(message, io) {
          if (message['method'] !== 'prompts/list') return hidden.incoming?.(message, io);
          io.reply({ jsonrpc: '2.0', id: message['id'], error: { code: -32602, message: 'no' } });
          return undefined;
        },
      };
    },
  },
  {
    check: 'capabilities/completions-gated',
    fault: 'completes and does not announce it',
    seen: /a result with|-32602/,
    options: MODERN,
    middle: hiding('completions'),
  },
  {
    check: 'capabilities/prompts-answered',
    fault: 'announces prompts and has no list of them',
    seen: /-32601/,
    options: MODERN,
    middle: answering(({ method }) => (method === 'prompts/list' ? NOT_FOUND : undefined)),
  },
  {
    check: 'capabilities/resources-answered',
    fault: 'announces resources and has no list of them',
    seen: /-32601/,
    options: MODERN,
    middle: answering(({ method }) => (method === 'resources/list' ? NOT_FOUND : undefined)),
  },
  {
    check: 'capabilities/legacy-lists-answered',
    fault: 'announces prompts and has no list of them',
    seen: /prompts\/list/,
    options: LEGACY,
    middle: answering(({ method }) => (method === 'prompts/list' ? NOT_FOUND : undefined)),
  },
  {
    check: 'capabilities/templates-answered',
    fault: 'does not know resources/templates/list',
    seen: /-32601/,
    options: LEGACY,
    middle: answering(({ method }) => (method === 'resources/templates/list' ? NOT_FOUND : undefined)),
  },
  {
    check: 'capabilities/completions-answered',
    fault: 'announces completions and does not know them',
    seen: /-32601/,
    options: MODERN,
    middle: answering(({ method }) => (method === 'completion/complete' ? NOT_FOUND : undefined)),
  },
];
