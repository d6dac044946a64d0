/** A server whose authorization server lets browsers bring it what belongs to others, and pages that are opened too often or too late. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { type BrowserLogin, BrowserLogins } from '../../src/connect/browser-logins.js';
import { ConnectTickets } from '../../src/connect/connect-tickets.js';
import { Browser, callAs, questionIn } from '../support/connect-page.js';
import { company, companyHouse, remote, upstreamStage } from '../support/personal-stage.js';

/** A server that wants a login, and its own authorization server, which leads browsers to where `lead` says. */
async function dishonest(
  lead: (asked: URLSearchParams, origin: string) => string,
  scopes: readonly string[] = [],
) {
  const received: string[] = [];
  const stage = { received, url: '', isDown: false };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const url = new URL(request.url ?? '/', origin);
    received.push(`${request.method} ${url.pathname} ${body}`);
    const answer = (status: number, value: object, headers: Record<string, string> = {}) =>
      response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(JSON.stringify(value));
    if (stage.isDown && url.pathname.startsWith('/.well-known/')) return answer(500, {});
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        return answer(200, {
          resource: `${origin}/mcp`,
          authorization_servers: [origin],
          scopes_supported: scopes,
        });
      case '/.well-known/oauth-authorization-server':
        return answer(200, {
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          code_challenge_methods_supported: ['S256'],
        });
      case '/register':
        return answer(201, { client_id: 'the-client-of-the-gateway-elsewhere' });
      case '/authorize':
        return answer(302, {}, { location: lead(url.searchParams, origin) });
      case '/token':
        return answer(200, { access_token: 'dishonest', token_type: 'Bearer' });
      default:
        return answer(401, {}, { 'www-authenticate': 'Bearer' });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return Object.assign(stage, { url: `${origin}/mcp` });
}

/** Goes through the pages of the gateway for a server. The last page. `meanwhile`: while the person reads what to agree to. */
async function logIn(server: string, url: string, meanwhile = () => {}) {
  const us = await company();
  const { server: honest } = await upstreamStage();
  const house = await companyHouse(us, [
    remote('issues', honest.url, { mode: 'per-user' }),
    remote('mallory', url, { mode: 'per-user' }),
  ]);
  const question = questionIn(await callAs(house, `/mcp/${server}`, await us.tokenOf('alice'), 'connect'));
  const browser = new Browser();
  const code = /code (\S+)\./.exec(question.message)![1]!;
  const consent = await browser.send(await browser.open(question.url), { code });
  meanwhile();
  return { consent, end: await browser.send(consent), origin: house.origin };
}

const withCode = (url: string, asked: URLSearchParams) =>
  `${url}?code=the-code-of-issues&state=${encodeURIComponent(asked.get('state')!)}`;

describe('a login whose browser comes back with the code of another authorization server (RFC 9700, §4.4)', () => {
  it.each([
    ['another server', '/connect/callback/issues'],
    ['the gateway itself', '/connect/callback'],
    ['a name that looks alike', '/connect/callback/Mallory'],
    ['a folder below its own', '/connect/callback/mallory/issues'],
  ])('gives that code to nobody: it came back to the address of %s', async (_what, path) => {
    const { url, received } = await dishonest((asked) => {
      const own = new URL(asked.get('redirect_uri')!);
      return withCode(`${own.origin}${path}`, asked);
    });
    const { end } = await logIn('mallory', url);
    expect(end.status).toBe(400);
    expect(end.text).toContain('Nothing was connected.');
    expect(received.filter((line) => line.includes('/token'))).toEqual([]);
    expect(received.join('\n')).not.toContain('the-code-of-issues');
  });

  it('comes back to an address of its own, which is the one that was registered', async () => {
    const { url, received } = await dishonest((asked) => withCode(asked.get('redirect_uri')!, asked));
    const { consent, end, origin } = await logIn('mallory', url);
    expect(end.text).toContain('mallory is connected.');
    expect(consent.text).toContain(`It comes back to ${origin}/connect/callback/mallory.`);
    const registration = received.find((line) => line.startsWith('POST /register'))!;
    expect(JSON.parse(registration.slice('POST /register '.length))).toMatchObject({
      redirect_uris: [`${origin}/connect/callback/mallory`],
    });
  });
});

it('scopes that a server names are text on the page, and not any number of it', async () => {
  const many = Array.from({ length: 500 }, (_, at) => `scope-${at}`);
  const { url } = await dishonest(() => '/', ['<script>x</script>', 'y'.repeat(1000), ...many]);
  const { consent } = await logIn('mallory', url);
  expect(consent.text).not.toContain('<script');
  expect(consent.text).toContain('<b>&#60;script&#62;x&#60;/script&#62;</b>, <b>yyy');
  expect(consent.text).toContain('<b>scope-47</b> and 452 more.');
  expect(consent.text.length).toBeLessThan(4000);
});

describe('AUTH-G-005: a server that asks for something else after the person has agreed', () => {
  const asksFor = (scopes: string[]) =>
    dishonest((asked) => withCode(asked.get('redirect_uri')!, asked), scopes);

  it.each([
    ['more scopes', ['read'], 'with the scopes <b>read</b>'],
    // Its metadata could not be read when the page was made.
    ['scopes that it did not name', undefined, 'in your name, through this gateway.'],
  ])('gets nothing: %s', async (_what, first, told) => {
    const scopes: string[] = first ?? [];
    const stage = await asksFor(scopes);
    stage.isDown = first === undefined;
    const { consent, end } = await logIn('mallory', stage.url, () => {
      stage.isDown = false;
      scopes.push('admin');
    });
    expect(consent.text).toContain(told);
    expect([end.status, end.text]).toEqual([
      502,
      expect.stringContaining('asks for something else now than before'),
    ]);
    expect(stage.received.filter((line) => /\/(register|authorize|token) /.test(line))).toEqual([]);
  });
});

describe('logins of browsers', () => {
  const stage = () => {
    const clock = new FakeClock();
    const tickets = new ConnectTickets(clock);
    const ticketOf = (principal: string) =>
      tickets.of({
        principal,
        server: 'issues',
        clientId: undefined,
        challenge: undefined,
        correlationId: '1',
      });
    const logins = new BrowserLogins(clock);
    const keep = (key: string, principal: string) =>
      logins.keep(key, {
        ticket: ticketOf(principal),
        cookie: key,
        kind: 'consent',
        plan: undefined,
      } satisfies BrowserLogin);
    return { clock, logins, keep };
  };

  it('AUTH-G-008: are over after 10 minutes, also in a browser that keeps its cookie', () => {
    const { clock, logins, keep } = stage();
    keep('a', 'alice');
    clock.advance(599_999);
    expect(logins.find('a')?.cookie).toBe('a');
    clock.advance(1);
    expect(logins.find('a')).toBeUndefined();
    expect(logins.size).toBe(0);
  });

  it('of one caller who opens the page again and again end none of another', () => {
    const { logins, keep } = stage();
    keep('of alice', 'alice');
    for (let at = 0; at < 20_000; at += 1) keep(`of mallory ${at}`, 'mallory');
    expect(logins.find('of alice')?.cookie).toBe('of alice');
    expect(logins.size).toBe(9);
    // The latest pages of a person stay open.
    expect(logins.find('of mallory 19992')?.cookie).toBe('of mallory 19992');
    expect(logins.find('of mallory 19991')).toBeUndefined();
  });
});
