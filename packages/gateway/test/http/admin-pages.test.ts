import { describe, expect, it } from 'vitest';
import { ask } from '../../../sdk/test/support/http-server.js';
import { openGateway } from '../support/open-gateway.js';
import { socketUnit } from '../support/server-definitions.js';
import { openFar, withTools } from '../support/upstream.js';

const PAGES = ['/healthz', '/health', '/livez', '/ping', '/readyz', '/ready', '/status', '/metrics'];
const INSIDE = ['/status', '/metrics'];

async function opened(options = {}) {
  const far = await openFar(withTools('one'));
  const gateway = await openGateway([far.unit('a')], {
    metrics: async () => ({ type: 'text/plain; version=0.0.4', text: 'up 1\n' }),
    ...options,
  });
  await gateway.gateway.unit('a').start();
  return gateway;
}

describe('the pages for operators', () => {
  it('are read with GET, are always fresh, and say what they are', async () => {
    const { get } = await opened();
    for (const path of PAGES) {
      const { status, headers } = await get(path);
      expect([path, status, headers['cache-control']]).toEqual([path, 200, 'no-store']);
    }
    expect((await get('/status')).headers['content-type']).toBe('application/json');
    const metrics = await get('/metrics');
    expect([metrics.headers['content-type'], metrics.text]).toEqual(['text/plain; version=0.0.4', 'up 1\n']);
    expect((await get('/healthz?from=a-probe')).status).toBe(200);
    expect((await get('/readyz/')).status).toBe(200);
  });

  it('have the status and no body for HEAD', async () => {
    const { at } = await opened();
    for (const path of PAGES) {
      const head = await ask(at(path), { method: 'HEAD' });
      expect([path, head.status, head.text, head.headers['cache-control']]).toEqual([
        path,
        200,
        '',
        'no-store',
      ]);
    }
  });

  it('are there to be read, and for nothing else', async () => {
    const { at } = await opened();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      for (const path of PAGES) {
        const { status, headers } = await ask(at(path), { method, body: method === 'POST' ? '{}' : '' });
        expect([method, path, status, headers.allow]).toEqual([method, path, 405, 'GET, HEAD']);
      }
    }
  });
});

describe('a page of another site that has rebound its name to this machine', () => {
  it.each(INSIDE)('gets nothing of %s', async (path) => {
    const { at } = await opened();
    for (const headers of [
      { host: 'evil.example' },
      { host: 'evil.example:8080' },
      { origin: 'http://evil.example' },
      { origin: 'null' },
    ]) {
      const refused = await ask(at(path), { method: 'GET', headers });
      expect([refused.status, refused.text.includes('"a"'), refused.text.includes('up 1')]).toEqual([
        403,
        false,
        false,
      ]);
    }
    for (const host of ['localhost', '127.0.0.1:1', '[::1]']) {
      expect((await ask(at(path), { method: 'GET', headers: { host } })).status, host).toBe(200);
    }
  });

  it('is told no names by /readyz', async () => {
    const { at } = await openGateway([socketUnit('secret-project', 'unix:/nowhere/s')]);
    const mine = await ask(at('/readyz'), { method: 'GET' });
    expect([mine.status, JSON.parse(mine.text)]).toEqual([
      503,
      { ready: false, waitingFor: ['secret-project'] },
    ]);
    const theirs = await ask(at('/readyz'), { method: 'GET', headers: { host: 'evil.example' } });
    expect(theirs.text).not.toContain('secret-project');
  });
});

describe('with authentication', () => {
  const endpoint = {
    authenticate: async (request: { header(name: string): string | undefined }) =>
      request.header('x-key') === 'right' ? 'ada' : undefined,
  };

  it.each(INSIDE)('%s is for those who say who they are', async (path) => {
    const { at } = await opened({ endpoint, operators: ['ada'] });
    expect((await ask(at(path), { method: 'GET' })).status).toBe(401);
    expect((await ask(at(path), { method: 'HEAD' })).status).toBe(401);
    expect((await ask(at(path), { method: 'GET', headers: { 'x-key': 'right' } })).status).toBe(200);
  });

  it('/healthz and /readyz are for everybody, and name nobody', async () => {
    const { at } = await openGateway([socketUnit('secret-project', 'unix:/nowhere/s')], { endpoint });
    expect((await ask(at('/healthz'), { method: 'GET' })).status).toBe(200);
    const ready = await ask(at('/readyz'), { method: 'GET' });
    expect([ready.status, JSON.parse(ready.text)]).toEqual([503, { ready: false, waitingFor: 1 }]);
  });
});
