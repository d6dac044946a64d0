import { describe, expect, it } from 'vitest';
import { ALICE, KEYS, openHouse } from '../../packages/gateway/test/support/secured-gateway.js';
import { openFar, withTools } from '../../packages/gateway/test/support/upstream.js';
import { open } from '../../packages/sdk/test/support/http-server.js';

const authServer = { authorizationServers: ['https://login.example'], resource: 'https://gw.example' };
const get = (headers: Record<string, string> = {}) => ({ method: 'GET', headers });

describe('S11: a stranger who tries names', () => {
  it.each([
    ['with the metadata of an authorization server', { protectedResource: authServer }],
    ['without', {}],
  ])('S11: is told the same for a server that is there and one that is not, %s', async (_with, endpoint) => {
    const far = await openFar(withTools('one'));
    const house = await openHouse([far.unit('taken'), far.unit('other')], { keys: KEYS, endpoint });
    const told = async (path: string, name: string, method: string) => {
      const { status, headers, text } = await house.ask(path.replace('NAME', name), { method });
      const { date: _date, ...rest } = headers;
      const challenge = { ...rest, 'content-length': undefined };
      return JSON.stringify({ status, challenge, text }).replaceAll(name, 'NAME');
    };
    for (const path of [
      ...['/mcp/NAME', '/servers/NAME/mcp', '/mcp/NAME/sse', '/mcp/NAME/message', '/servers/NAME/sse'],
      ...['/.well-known/oauth-protected-resource/mcp/NAME'],
      ...['/.well-known/oauth-protected-resource/servers/NAME/mcp'],
    ]) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS']) {
        const [taken, guessed] = [await told(path, 'taken', method), await told(path, 'guess', method)];
        expect([path, method, taken]).toEqual([path, method, guessed]);
      }
    }
  });
});

describe('S11: a page of another site that has its browser fetch without asking', () => {
  it.each(['/sse', '/status', '/metrics', '/mcp/a/sse'])('S11: is refused %s', async (path) => {
    const far = await openFar(withTools('one'));
    const house = await openHouse([far.unit('a')]);
    const { status } = await house.ask(
      path,
      get({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
    );
    expect(status).toBe(403);
  });

  it('S11: could not read the answer: it is no script, and not for other sites', async () => {
    const far = await openFar(withTools('one'));
    const house = await openHouse([far.unit('a')], { keys: KEYS, operators: ['key:alice'] });
    const unreadable = { 'x-content-type-options': 'nosniff', 'cross-origin-resource-policy': 'same-origin' };
    for (const path of ['/status', '/metrics', '/healthz', '/readyz']) {
      const { headers } = await house.ask(path, get(ALICE));
      expect(headers).toMatchObject(unreadable);
    }
    const stream = await open(house.at('/sse'), get({ ...ALICE, accept: 'text/event-stream' }));
    expect(stream.headers).toMatchObject(unreadable);
    stream.request.destroy();
  });
});
