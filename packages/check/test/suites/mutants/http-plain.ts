import { small } from '../../support/suites/http-bases.js';
import type { AnyMutant } from '../../support/suites/mutant.js';
import { answering, fallingOn, respond, when } from './http-faults.js';

const about = { base: small, options: { eras: ['modern'] } } as const;
const STACK =
  'SyntaxError: Unexpected end of JSON input\n    at JSON.parse (<anonymous>)\n    at read (/srv/app/server.js:12:34)';

export const httpPlainMutants: readonly AnyMutant[] = [
  {
    ...about,
    check: 'http-plain/other-methods',
    fault: 'serves PUT like POST',
    proxy: () =>
      when(
        ({ method }) => method === 'PUT',
        () => ({ method: 'POST' }),
      ),
  },
  {
    ...about,
    check: 'http-plain/allow-with-405',
    fault: 'sends 405 without Allow',
    proxy: () => ({ response: ({ headers }) => ({ headers: { ...headers, allow: undefined } }) }),
  },
  {
    ...about,
    check: 'http-plain/head-and-options',
    fault: 'fails on OPTIONS',
    proxy: () =>
      when(
        ({ method }) => method === 'OPTIONS',
        () => respond(500),
      ),
  },
  {
    ...about,
    check: 'http-plain/trace-refused',
    fault: 'gives back what TRACE sends',
    proxy: () =>
      when(
        ({ method }) => method === 'TRACE',
        ({ headers }) => respond(200, JSON.stringify(headers), 'message/http'),
      ),
  },
  {
    ...about,
    check: 'http-plain/unknown-path',
    fault: 'is everywhere',
    proxy: () =>
      when(
        () => true,
        () => ({ url: '/mcp' }),
      ),
  },
  {
    ...about,
    check: 'http-plain/no-stack-traces',
    fault: 'shows its stack',
    proxy: () =>
      when(
        ({ method, json }) => method === 'POST' && !json,
        () => respond(400, STACK, 'text/plain'),
      ),
  },
  {
    ...about,
    check: 'http-plain/no-header-injection',
    fault: 'writes what it was sent into its headers',
    proxy: () => ({
      response: ({ headers }, request) => {
        const line = decodeURIComponent(request.headers['mcp-protocol-version'] ?? '').split('\r\n')[1];
        const [name, value] = line?.split(': ') ?? [];
        return name === undefined ? undefined : { headers: { ...headers, [name]: value } };
      },
    }),
  },
  {
    ...about,
    check: 'http-plain/header-flood',
    fault: 'serves no requests after a flood of headers',
    tcp: () => fallingOn((bytes) => bytes.includes('x-isthmus-')),
  },
  {
    ...about,
    check: 'http-wire/unfinished-body',
    fault: 'reads one body after the other',
    tcp: () => {
      let isBusy = false;
      return {
        connected: () => !isBusy,
        incoming(bytes) {
          isBusy ||= bytes.includes('1099511627776');
          return bytes;
        },
      };
    },
  },
  {
    ...about,
    check: 'http-wire/chunked-body',
    fault: 'wants to know the length before',
    tcp: () =>
      answering('transfer-encoding: chunked', 'HTTP/1.1 411 Length Required\r\ncontent-length: 0\r\n\r\n'),
  },
  {
    ...about,
    check: 'http-wire/chunked-body',
    fault: 'decodes every chunk by itself',
    seen: /came back changed/,
    tcp: () => ({
      outgoing: (bytes) =>
        bytes.toString('latin1').includes('\u00f0\u009f\u00a6\u009e')
          ? Buffer.from(bytes.toString('latin1').replace('\u00f0\u009f\u00a6\u009e', '????'), 'latin1')
          : bytes,
    }),
  },
  {
    ...about,
    check: 'http-wire/expect-continue',
    fault: 'waits for a body that waits for it',
    tcp: () => ({ incoming: (bytes) => (bytes.includes('100-continue') ? undefined : bytes) }),
  },
  {
    ...about,
    check: 'http-wire/pipelined',
    fault: 'loses the second request',
    tcp: () => ({
      incoming(bytes) {
        const second = bytes.indexOf('POST ', 1);
        return second > 0 ? bytes.subarray(0, second) : bytes;
      },
    }),
  },
  {
    ...about,
    check: 'http-wire/after-a-refusal',
    fault: 'hangs after a refusal',
    tcp: () => {
      const refused = new WeakSet<object>();
      return {
        incoming: (bytes, referee) => (refused.has(referee) ? undefined : bytes),
        outgoing(bytes, referee) {
          if (bytes.includes('HTTP/1.1 400')) refused.add(referee);
          return bytes;
        },
      };
    },
  },
  {
    ...about,
    check: 'http-wire/host-required',
    fault: 'does not miss Host',
    tcp: () => ({
      incoming: (bytes) =>
        bytes.includes('POST ') && !/^host:/im.test(bytes.toString('latin1'))
          ? bytes.toString('latin1').replace('HTTP/1.1\r\n', 'HTTP/1.1\r\nhost: localhost\r\n')
          : bytes,
    }),
  },
  {
    ...about,
    check: 'http-wire/old-http',
    fault: 'sends chunks to HTTP/1.0',
    tcp: () =>
      answering('HTTP/1.0\r\n', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'),
  },
  {
    ...about,
    check: 'http-wire/ambiguous-length',
    fault: 'takes the first of two lengths',
    seen: /two Content-Length/,
    tcp: () => ({
      incoming: (bytes) => bytes.toString('latin1').replace('Content-Length: 5\r\n', ''),
    }),
  },
  {
    ...about,
    check: 'http-wire/ambiguous-length',
    fault: 'overlooks Transfer-Encoding beside a length',
    seen: /Transfer-Encoding/,
    tcp: () => ({
      incoming: (bytes) => bytes.toString('latin1').replace('transfer-encoding: chunked\r\n', ''),
    }),
  },
  {
    ...about,
    check: 'http-wire/not-http',
    fault: 'falls over bytes that are not HTTP',
    tcp: () => fallingOn((bytes) => bytes[0] === 0x16),
  },
];
