import { small } from '../../support/suites/http-bases.js';
import type { AnyMutant } from '../../support/suites/mutant.js';
import { refuse, when, withHeaders } from './http-faults.js';

const modern = { base: small, options: { eras: ['modern'] } } as const;

export const httpOriginMutants: readonly AnyMutant[] = [
  {
    base: small,
    check: 'http-origin/foreign-refused',
    fault: 'lets every page in',
    era: 'legacy',
    proxy: () =>
      when(
        ({ headers }) => headers['origin'],
        (request) => withHeaders(request, { origin: undefined }),
      ),
  },
  {
    ...modern,
    check: 'http-origin/foreign-refused',
    fault: 'refuses foreign pages with 400',
    proxy: () =>
      when(
        ({ headers }) => headers['origin'],
        () => refuse(400),
      ),
  },
  {
    ...modern,
    check: 'http-origin/lookalike-refused',
    fault: 'looks only at the beginning of an origin',
    proxy: () =>
      when(
        ({ headers }) => headers['origin']?.startsWith('http://127.0.0.1'),
        (request) => withHeaders(request, { origin: undefined }),
      ),
  },
  {
    ...modern,
    check: 'http-origin/lookalike-refused',
    fault: 'looks for localhost anywhere in an origin',
    seen: /localhost/,
    proxy: () =>
      when(
        ({ headers }) => headers['origin']?.includes('localhost'),
        (request) => withHeaders(request, { origin: undefined }),
      ),
  },
  {
    base: small,
    check: 'http-origin/every-method',
    fault: 'lets every page end sessions',
    options: { eras: ['legacy'] },
    seen: /DELETE/,
    proxy: () =>
      when(
        ({ method }) => method === 'DELETE',
        (request) => withHeaders(request, { origin: undefined }),
      ),
  },
  {
    ...modern,
    check: 'http-origin/null-refused',
    fault: 'treats the origin null as no origin',
    proxy: () =>
      when(
        ({ headers }) => headers['origin'] === 'null',
        (request) => withHeaders(request, { origin: undefined }),
      ),
  },
  {
    ...modern,
    check: 'http-origin/own-served',
    fault: 'refuses every page',
    proxy: () =>
      when(
        ({ headers }) => headers['origin'],
        () => refuse(403),
      ),
  },
  {
    ...modern,
    check: 'http-origin/not-reflected',
    fault: 'lets every page read its answers',
    proxy: () => ({
      response: ({ headers }, request) => ({
        headers: { ...headers, 'access-control-allow-origin': request.headers['origin'] },
      }),
    }),
  },
  {
    ...modern,
    check: 'http-origin/foreign-host-refused',
    fault: 'answers to every name',
    proxy: () =>
      when(
        () => true,
        (request) => withHeaders(request, { host: 'localhost' }),
      ),
  },
  {
    ...modern,
    check: 'http-origin/loopback-only',
    fault: 'listens everywhere',
    tcp: () => ({ host: '0.0.0.0' }),
  },
];
