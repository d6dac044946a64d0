import { createServer } from '@isthmus/sdk';
import { expect, it } from 'vitest';
import {
  ask,
  initialize,
  legacy,
  legacyRequest,
  modern,
  openSession,
  serveHttp,
} from '../../packages/sdk/test/support/http-server.js';

it('P7: a stateless endpoint promises a legacy client no subscribe and no listChanged, and refuses to subscribe', async () => {
  const { url } = await serveHttp(rich(), { legacy: 'stateless' });
  const { json } = await ask(url, legacy(initialize(1)));
  expect(json.result.capabilities).toEqual({
    logging: {},
    tools: {},
    prompts: {},
    resources: {},
  });
  const subscribe = legacyRequest(2, 'resources/subscribe', { uri: 'note:///a' });
  const refusal = await ask(url, legacy(subscribe, { 'mcp-protocol-version': '2025-11-25' }));
  expect(refusal.json.error).toEqual({ code: -32601, message: 'Method not found: resources/subscribe' });
});

it('P7: sessions, and modern clients of a stateless endpoint, are promised both: there they arrive', async () => {
  const withSessions = await serveHttp(rich());
  const { json } = await ask(withSessions.url, legacy(initialize(1)));
  expect(json.result.capabilities).toMatchObject({
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
  });
  const session = await openSession(withSessions.url);
  const subscribed = await session.post(legacyRequest(2, 'resources/subscribe', { uri: 'note:///a' }));
  expect(subscribed.json.result).toEqual({});
  const stateless = await serveHttp(rich(), { legacy: 'stateless' });
  const discovery = await ask(stateless.url, modern(1, 'server/discover'));
  expect(discovery.json.result.capabilities).toMatchObject({
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
  });
});

function rich() {
  const server = createServer({ name: 'rich', version: '1' });
  server.tool('t', {}, () => 'x');
  server.prompt('p', {}, () => 'x');
  server.resource('note:///a', { name: 'a' }, () => 'x');
  return server;
}
