import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { small } from '../../support/suites/http-bases.js';
import type { AnyMutant, ProxyHooks, ProxyRequest } from '../../support/suites/mutant.js';
import { argumentIn, nameIn, refuse, sentinel, when, withHeaders } from './http-faults.js';

const about = { base: small, options: { eras: ['modern'] } } as const;
const isMirror = (request: ProxyRequest) => nameIn(request) === 'mirror';

export const httpParamMutants: readonly AnyMutant[] = [
  {
    ...about,
    check: 'http-params/served',
    fault: 'does not decode Base64 in parameters',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-param-region']?.startsWith('=?base64?'),
        () => refuse(400),
      ),
  },
  {
    ...about,
    check: 'http-params/required',
    fault: 'does not miss a parameter header',
    proxy: () =>
      when(
        (request) => isMirror(request) && request.headers['mcp-param-region'] === undefined,
        (request) => withHeaders(request, { 'mcp-param-region': argumentIn(request, 'region') }),
      ),
  },
  {
    ...about,
    check: 'http-params/match-body',
    fault: 'does not compare parameter headers',
    proxy: () =>
      when(isMirror, (request) =>
        withHeaders(request, { 'mcp-param-region': argumentIn(request, 'region') }),
      ),
  },
  {
    ...about,
    check: 'http-params/none-for-null',
    fault: 'requires a header without an argument',
    proxy: () =>
      when(
        (request) => isMirror(request) && request.headers['mcp-param-region'] === undefined,
        () => refuse(400),
      ),
  },
  {
    ...about,
    check: 'http-params/integers-as-numbers',
    fault: 'compares numbers as texts',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-param-size']?.includes('.'),
        () => refuse(400),
      ),
  },
  {
    ...about,
    check: 'http-params/illegal-characters',
    fault: 'reads headers as Latin-1',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-param-region']?.includes('\u00e9'),
        (request) =>
          withHeaders(request, { 'mcp-param-region': sentinel(request.headers['mcp-param-region']!) }),
      ),
  },
  {
    ...about,
    check: 'http-params/illegal-characters',
    fault: 'reads headers as UTF-8',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-param-region']?.includes('\u00c3'),
        (request) => withHeaders(request, { 'mcp-param-region': sentinel(argumentIn(request, 'region')!) }),
      ),
  },
  {
    ...about,
    check: 'http-params/unknown-ignored',
    fault: 'refuses parameter headers that it does not know',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-param-isthmus-check'],
        () => refuse(400),
      ),
  },
  {
    ...about,
    check: 'http-params/no-secrets',
    fault: 'mirrors a password in a header',
    proxy: () => offering({ password: { type: 'string', 'x-mcp-header': 'Password' } }),
  },
];

/** Lists the tool with other arguments. */
function offering(properties: JsonObject): ProxyHooks {
  return {
    message(message) {
      const result = message['result'];
      if (!isJsonObject(result) || !Array.isArray(result['tools'])) return message;
      const tools = result['tools'].map((tool) =>
        tool.name === 'mirror' ? { ...tool, inputSchema: { type: 'object', properties } } : tool,
      );
      return { ...message, result: { ...result, tools } };
    },
  };
}
