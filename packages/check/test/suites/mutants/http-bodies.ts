import { small } from '../../support/suites/http-bases.js';
import type { AnyMutant, ProxyRequest } from '../../support/suites/mutant.js';
import { answering, fallingOn, respond, when, withHeaders } from './http-faults.js';

const modern = { base: small, options: { eras: ['modern'] } } as const;
const legacy = { base: small, options: { eras: ['legacy'] } } as const;
const isArray = ({ body }: ProxyRequest) => body.toString().startsWith('[');
const isPost = ({ method }: ProxyRequest) => method === 'POST';

export const httpBodyMutants: readonly AnyMutant[] = [
  {
    ...modern,
    check: 'http-body/not-json',
    fault: 'shows an error page for what is not JSON',
    proxy: () =>
      when(
        (request) => isPost(request) && !request.json,
        () => respond(400, '<h1>Error</h1>', 'text/html'),
      ),
  },
  {
    ...legacy,
    check: 'http-body/not-a-message',
    fault: 'answers -32700 to every invalid body',
    proxy: () =>
      when(
        ({ json, body }) => json?.['hello'] || body.toString() === '42',
        () => respond(400, { jsonrpc: '2.0', error: { code: -32700, message: 'Parse error' } }),
      ),
  },
  {
    ...modern,
    check: 'http-body/empty',
    fault: 'fails on an empty body',
    proxy: () =>
      when(
        (request) => isPost(request) && request.body.length === 0,
        () => respond(500),
      ),
  },
  {
    ...modern,
    check: 'http-body/batch-refused',
    fault: 'still serves batches',
    proxy: () => when(isArray, () => respond(200, [{ jsonrpc: '2.0', id: 'one', result: {} }])),
  },
  {
    ...modern,
    check: 'http-body/large',
    fault: 'fails on a large body',
    tcp: () =>
      answering('content-length: 1677', 'HTTP/1.1 500 Oh\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'),
  },
  {
    ...modern,
    check: 'http-body/large',
    fault: 'serves no requests after a large body',
    tcp: () => fallingOn((bytes) => bytes.includes('content-length: 1677')),
  },
  {
    ...modern,
    check: 'http-body/charset',
    fault: 'accepts only one spelling of application/json',
    proxy: () =>
      when(
        ({ headers }) => headers['content-type']?.includes(';'),
        () => respond(415),
      ),
  },
  {
    ...legacy,
    check: 'http-body/other-type-refused',
    fault: 'does not look at the content type',
    proxy: () => when(isPost, (request) => withHeaders(request, { 'content-type': 'application/json' })),
  },
  {
    ...modern,
    check: 'http-body/invalid-utf-8',
    fault: 'fails on bytes that are not UTF-8',
    proxy: () =>
      when(
        ({ body }) => body.includes(0xff),
        () => respond(500),
      ),
  },
];
