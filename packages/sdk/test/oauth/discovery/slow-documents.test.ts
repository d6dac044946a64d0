/** AUTH-C-024: a document of a login has a time limit, from the connection to its last byte. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { addressRule } from '../../../src/oauth/discovery/addresses.js';
import { createOAuthHttp, outageOf } from '../../../src/oauth/discovery/oauth-http.js';

it.each<[string, (response: ServerResponse) => void, RegExp]>([
  ['never answers', () => {}, /no answer within 200 ms/],
  // On a busy machine the time may be over before the first byte.
  ['sends one byte after the other', drip, /its answer ended early|no answer within 200 ms/],
])('a server that %s', async (_, answer, why) => {
  const server = createServer((_request, response) => answer(response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/document`);
  const http = createOAuthHttp({ rule: addressRule({ server: url, allowPrivate: false }), timeoutMs: 200 });
  const failure: unknown = await http.send(url, { method: 'GET' }).catch((error: unknown) => error);
  expect(String(failure)).toMatch(why);
  // It says nothing about the login: the same request may work later.
  expect(outageOf(failure)).toBeDefined();
});

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 10);
  response.on('close', () => clearInterval(timer));
}
