import { small, smallModern } from '../../support/suites/http-bases.js';
import type { AnyMutant } from '../../support/suites/mutant.js';
import { methodOf, nameIn, paramsIn, refuse, status, when, withHeaders, withJson } from './http-faults.js';

const about = { base: small, options: { eras: ['modern'] } } as const;
const VERSION = 'io.modelcontextprotocol/protocolVersion';

export const httpHeaderMutants: readonly AnyMutant[] = [
  {
    ...about,
    check: 'http-headers/version-required',
    fault: 'takes the version from the body alone',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-protocol-version'] === undefined,
        (request) => withHeaders(request, { 'mcp-protocol-version': '2026-07-28' }),
      ),
  },
  {
    base: smallModern,
    check: 'http-headers/version-required',
    fault: 'treats a missing version as a malformed request',
    seen: /-32600/,
    proxy: () =>
      when(
        (request) =>
          methodOf(request) === 'server/discover' && request.headers['mcp-protocol-version'] === undefined,
        () => refuse(400, -32600),
      ),
  },
  {
    ...about,
    check: 'http-headers/method-required',
    fault: 'takes the method from the body alone',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-method'] === undefined,
        (request) => withHeaders(request, { 'mcp-method': String(methodOf(request)) }),
      ),
  },
  {
    ...about,
    check: 'http-headers/name-required',
    fault: 'takes the name from the body alone',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-name'] === undefined,
        (request) => withHeaders(request, { 'mcp-name': nameIn(request) }),
      ),
  },
  {
    ...about,
    check: 'http-headers/version-matches-body',
    fault: 'ignores the version in the body',
    proxy: () =>
      when(
        (request) => paramsIn(request)['_meta'],
        (request) => {
          const params = paramsIn(request);
          const meta = { ...(params['_meta'] as object), [VERSION]: request.headers['mcp-protocol-version'] };
          return withJson({ ...request.json, params: { ...params, _meta: meta } });
        },
      ),
  },
  {
    ...about,
    check: 'http-headers/body-matches-version',
    fault: 'ignores the version in the header',
    proxy: () =>
      when(
        (request) => request.headers['mcp-protocol-version'] === '2999-01-01',
        (request) => withHeaders(request, { 'mcp-protocol-version': '2026-07-28' }),
      ),
  },
  {
    ...about,
    check: 'http-headers/body-matches-version',
    fault: 'compares the header with the body in server/discover only',
    seen: /tools\/list/,
    proxy: () =>
      when(
        (request) => methodOf(request) !== 'server/discover' && request.headers['mcp-protocol-version'],
        (request) => withHeaders(request, { 'mcp-protocol-version': '2026-07-28' }),
      ),
  },
  {
    ...about,
    check: 'http-headers/method-matches-body',
    fault: 'never looks at Mcp-Method',
    proxy: () =>
      when(methodOf, (request) => withHeaders(request, { 'mcp-method': String(methodOf(request)) })),
  },
  {
    ...about,
    check: 'http-headers/name-matches-body',
    fault: 'never looks at Mcp-Name',
    proxy: () => when(nameIn, (request) => withHeaders(request, { 'mcp-name': nameIn(request) })),
  },
  {
    ...about,
    check: 'http-headers/unsupported-version',
    fault: 'sends -32022 with status 200',
    seen: /HTTP 200 with error -32022/,
    proxy: () => status(400, 200),
  },
  {
    ...about,
    check: 'http-headers/meta-required',
    fault: 'sends -32602 with status 200',
    seen: /HTTP 200 with error -32602/,
    proxy: () => status(400, 200),
  },
  {
    ...about,
    check: 'http-headers/names-in-any-case',
    fault: 'finds headers in one spelling only',
    proxy: () =>
      when(
        ({ names }) => names.includes('MCP-METHOD'),
        () => refuse(400),
      ),
  },
  {
    ...about,
    check: 'http-headers/values-keep-their-case',
    fault: 'compares values without regard to case',
    proxy: () =>
      when(
        () => true,
        (request) => withHeaders(request, { 'mcp-method': request.headers['mcp-method']?.toLowerCase() }),
      ),
  },
  {
    ...about,
    check: 'http-headers/blanks-around-values',
    fault: 'keeps white space around a value',
    tcp: () => ({
      // What is no method of ours does not match the body any more.
      incoming: (bytes) => bytes.toString('latin1').replace(/mcp-method: {2,}/, 'mcp-method: _'),
    }),
  },
  {
    ...about,
    check: 'http-headers/name-in-base64',
    fault: 'does not decode Base64',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-name']?.startsWith('=?base64?'),
        () => refuse(400),
      ),
  },
  {
    ...about,
    check: 'http-headers/name-in-broken-base64',
    fault: 'ignores what it cannot decode',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-name']?.includes('!'),
        (request) => withHeaders(request, { 'mcp-name': nameIn(request) }),
      ),
  },
  {
    ...about,
    check: 'http-headers/base64-is-exact',
    fault: 'skips characters that are not Base64',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-name']?.startsWith('=?base64?'),
        (request) => withHeaders(request, { 'mcp-name': request.headers['mcp-name']!.replaceAll('!', '') }),
      ),
  },
  {
    ...about,
    check: 'http-headers/base64-marker-in-lower-case',
    fault: 'reads the marker in any case',
    proxy: () =>
      when(
        ({ headers }) => headers['mcp-name']?.startsWith('=?BASE64?'),
        (request) =>
          withHeaders(request, { 'mcp-name': request.headers['mcp-name']!.replace('BASE64', 'base64') }),
      ),
  },
];
