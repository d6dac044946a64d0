import { request } from 'node:http';
import { createServer, memory } from '@isthmus/sdk';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { AccessControl } from '../../src/access/access.js';
import type { AccessLevel, RouteName } from '../../src/contract.js';
import { openConsoleServer } from '../../src/http/console-server.js';
import { ROUTE_RULES } from '../../src/http/route-table.js';
import type { Handlers } from '../../src/http/router.js';
import { inspect } from '../support/inspected.js';

/** A request as no `fetch` would send it. */
function send(
  origin: string,
  path: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(origin);
    const asked = request({ hostname, port, path, method, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          text: Buffer.concat(chunks).toString(),
          headers: response.headers,
        }),
      );
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

const opened = () => inspect((tap) => memory(createServer({ name: 'a', version: '1' }), {}, { tap }));

describe('pages of others', () => {
  it('cannot reach anything by a name of their own (DNS rebinding)', async () => {
    const { console, client } = await opened();
    for (const path of ['/', '/console/', '/console/api/hello']) {
      const headers = { host: 'evil.example:80', 'isthmus-key': client.key };
      expect((await send(console.origin, path, { headers })).status).toBe(403);
    }
  });

  it.each([
    [{ origin: 'https://evil.example' }],
    [{ origin: 'null' }],
    [{ origin: 'http://127.0.0.1:1' }],
    [{ 'sec-fetch-site': 'cross-site' }],
    [{ 'sec-fetch-site': 'same-site' }],
    [{ 'sec-fetch-site': 'none' }],
  ])('cannot use the API, even with the key: %o', async (headers) => {
    const { console, client } = await opened();
    const { host } = new URL(console.origin);
    const asked = { method: 'POST', headers: { host, 'isthmus-key': client.key, ...headers } };
    const answer = await send(console.origin, '/console/api/calls', asked);
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  it('cannot send a form, and get no cookie that a browser would send for them', async () => {
    const { console, client } = await opened();
    const { host } = new URL(console.origin);
    const form = { host, 'isthmus-key': client.key, 'content-type': 'text/plain' };
    const sent = { method: 'POST', headers: form, body: '{"method":"ping","params":"{}"}' };
    expect((await send(console.origin, '/console/api/calls', sent)).status).toBe(415);
    const page = await send(console.origin, '/console/', { headers: { host } });
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(page.headers['x-frame-options']).toBe('DENY');
    expect(page.headers['content-security-policy']).toContain("trusted-types 'none'");
    expect(page.text).not.toContain(client.key);
    // The browser asks first before it sends our header elsewhere. There is nothing that allows it.
    const asks = { host, origin: 'https://evil.example', 'access-control-request-headers': 'isthmus-key' };
    const preflight = await send(console.origin, '/console/api/hello', { method: 'OPTIONS', headers: asks });
    expect(preflight.status).toBe(403);
  });

  it('cannot fill the memory with a body', async () => {
    const { console, client } = await opened();
    const headers = {
      host: new URL(console.origin).host,
      'isthmus-key': client.key,
      'content-type': 'application/json',
    };
    const body = JSON.stringify({ method: 'ping', params: '<'.repeat(5 * 1024 * 1024) });
    expect((await send(console.origin, '/console/api/calls', { method: 'POST', headers, body })).status).toBe(
      413,
    );
  });
});

describe('the levels of a key', () => {
  it('decide about every route, and only the routes of access answer without a key', async () => {
    const access = new AccessControl();
    const names = Object.keys(ROUTE_RULES) as RouteName[];
    const reached: RouteName[] = [];
    const handlers = Object.fromEntries(
      names.filter((name) => name !== 'POST enter').map((name) => [name, () => void reached.push(name)]),
    ) as Handlers;
    const server = await openConsoleServer({ access, guardsPayloads: true, handlers });
    const ask = async (name: RouteName, key: string) => {
      const [method, path] = name.split(' ') as [string, string];
      const headers = { host: new URL(server.origin).host, 'isthmus-key': key };
      const { status } = await send(server.origin, `/console/api/${path.replace(/:\w+/g, '1')}`, {
        method,
        headers,
      });
      return status;
    };
    try {
      for (const name of names)
        expect([name, await ask(name, 'wrong')]).toEqual([name, name === 'POST enter' ? 404 : 401]);
      expect(reached).toEqual([]);
      const sets: AccessLevel[][] = [['look'], ['look', 'act'], ['look', 'act', 'record']];
      for (const levels of sets) {
        for (const name of names.filter((each) => each !== 'POST enter')) {
          const { key } = await access.enter({ link: access.mintLink({ who: 'ada', levels }) });
          const { level, hasPayloads } = ROUTE_RULES[name];
          // Their handlers look whose call it is.
          const decidesItself = name.startsWith('GET calls/:id') || name === 'GET frames/:seq';
          const may =
            levels.includes(level as AccessLevel) &&
            (!hasPayloads || decidesItself || levels.includes('record'));
          expect([name, levels, await ask(name, key)]).toEqual([name, levels, may ? 204 : 403]);
        }
      }
    } finally {
      await server.close();
    }
  });
});

describe('a link', () => {
  it('works once, and its second use is told', async () => {
    const told: string[] = [];
    const access = new AccessControl({ onSecondUse: (who) => told.push(who) });
    const link = access.mintLink({ who: 'you', levels: ['look'] });
    await access.enter({ link });
    await expect(access.enter({ link })).rejects.toMatchObject({ status: 401, code: 'LINK_USED' });
    expect(told).toEqual(['you']);
  });

  it('is too old after a minute, and its key after an hour without use or twelve hours in all', async () => {
    const clock = new FakeClock();
    const access = new AccessControl({ clock });
    const late = access.mintLink({ who: 'you', levels: ['look'] });
    clock.advance(60_001);
    await expect(access.enter({ link: late })).rejects.toMatchObject({ code: 'LINK_EXPIRED' });
    const { key } = await access.enter({ link: access.mintLink({ who: 'you', levels: ['look'] }) });
    for (let minutes = 0; minutes < 12 * 60 - 30; minutes += 30) {
      expect((await access.userWith(key))?.who).toBe('you');
      clock.advance(30 * 60_000);
    }
    clock.advance(31 * 60_000);
    expect(await access.userWith(key)).toBeUndefined();
    const idle = await access.enter({ link: access.mintLink({ who: 'you', levels: ['look'] }) });
    clock.advance(61 * 60_000);
    expect(await access.userWith(idle.key)).toBeUndefined();
  });
});
