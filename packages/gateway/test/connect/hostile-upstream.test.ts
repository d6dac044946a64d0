import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Browser, callAs, questionIn } from '../support/connect-page.js';
import { company, companyHouse, remote } from '../support/personal-stage.js';

/** A server that answers every request with 401, and names whatever it likes. Its log has all that it received. */
async function hostile(
  answer: (path: string, origin: string) => { status: number; header?: string; body?: object },
) {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(`${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    request.resume();
    const { status, header, body } = answer(request.url ?? '', origin);
    if (header !== undefined) response.setHeader('www-authenticate', header);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `${origin}/mcp`, received };
}

describe('AUTH-G-011: a server that names addresses inside of the network for its login', () => {
  it.each([
    ['its metadata', 'http://169.254.169.254/latest/meta-data', undefined],
    ['its metadata, over https', 'https://10.0.0.1/internal', undefined],
    ['its authorization server', undefined, 'https://192.168.0.1'],
    ['its authorization server by an address in IPv6', undefined, 'https://[fd00::1]'],
  ])('learns nothing: %s', async (_what, metadata, issuer) => {
    const { url, received } = await hostile((path, origin) => {
      if (path.startsWith('/.well-known/oauth-protected-resource') && issuer !== undefined) {
        return { status: 200, body: { resource: `${origin}/mcp`, authorization_servers: [issuer] } };
      }
      if (path.startsWith('/.well-known')) return { status: 404 };
      const header = metadata === undefined ? 'Bearer' : `Bearer resource_metadata="${metadata}"`;
      return { status: 401, header };
    });
    const us = await company();
    const house = await companyHouse(us, [remote('issues', url, { mode: 'per-user' })]);
    const token = await us.tokenOf('alice');
    const question = questionIn(await callAs(house, '/mcp/issues', token, 'connect'));
    const browser = new Browser();
    const code = /code (\S+)\./.exec(question.message)![1]!;
    const end = await browser.send(await browser.send(await browser.open(question.url), { code }));
    expect(end.status).toBe(502);
    // The person is told that the address was refused, and it was not asked.
    expect(end.text).toMatch(/which is refused|neither https nor a loopback address/);
    expect(received.join('\n')).not.toContain(token);
    expect(received.join('\n')).not.toContain('refused');
  });
});
