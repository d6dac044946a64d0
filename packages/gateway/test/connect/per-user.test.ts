import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startAuthorizationServer } from '../../../../test/support/authorization-server.js';
import { eventually } from '../../../../test/support/until.js';
import { initialize, legacy, legacyCall, modern, modernCall } from '../../../sdk/test/support/http-server.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { bearer } from '../support/auth.js';
import { acceptedAs, Browser, CAN_VISIT, callAs, declinedAs, questionIn } from '../support/connect-page.js';
import { freshFolder } from '../support/open-gateway.js';
import { company, companyHouse, remote, upstreamStage } from '../support/personal-stage.js';
import { type HouseOptions, openHouse } from '../support/secured-gateway.js';

const PATH = '/mcp/issues';

async function stage(options: HouseOptions = {}, more: { instructions?: string } = {}) {
  const us = await company();
  const state = { account: 'user-1' };
  const upstream = await upstreamStage({ account: () => state.account }, more);
  const unit = remote('issues', upstream.server.url, { mode: 'per-user' });
  const house = await companyHouse(us, [unit], options);
  /** Logs a person in, with the code that the application shows. */
  const connect = async (token: string, account: string, tool = 'connect') => {
    state.account = account;
    const question = questionIn(await callAs(house, PATH, token, tool));
    const browser = new Browser();
    const form = await browser.open(question.url);
    const code = /code ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(question.message)![1]!;
    const consent = await browser.send(form, { code });
    const end = await browser.send(consent);
    return { question, consent, end, answer: await acceptedAs(house, PATH, token, tool, question) };
  };
  const whoami = async (token: string) =>
    (await callAs(house, PATH, token, 'whoami')).json.result?.content[0].text;
  const tools = async (token: string) => {
    const { json } = await house.ask(PATH, modern(1, 'tools/list', {}, { headers: bearer(token) }));
    return json.result.tools.map(({ name }: { name: string }) => name);
  };
  return { us, house, connect, whoami, tools, ...upstream };
}

describe('a server with the logins of its callers (per-user)', () => {
  it('offers a tool that sends the user to a page, and its own tools afterwards', async () => {
    const { us, connect, whoami, tools } = await stage();
    const token = await us.tokenOf('alice');
    expect(await tools(token)).toEqual(['connect']);
    const { consent, end, answer } = await connect(token, 'alice-at-issues');
    expect(consent.text).toContain('You are <b>jwt:https://login.example.com|alice</b>');
    expect(end.text).toContain('issues is connected.');
    expect(answer.json.result.content[0].text).toBe('issues is connected. List the tools again.');
    expect(await tools(token)).toEqual(['read', 'write', 'whoami']);
    expect(await whoami(token)).toBe('alice-at-issues');
  });

  it('AUTH-G-001, AUTH-G-003: each caller has its own token, and no token of a caller reaches the server', async () => {
    const { us, connect, whoami, server, authorization, house } = await stage();
    const [alice, bob, carol] = await Promise.all(['alice', 'bob', 'carol'].map((sub) => us.tokenOf(sub)));
    await connect(alice!, 'alice-there');
    await connect(bob!, 'bob-there');
    expect([await whoami(alice!), await whoami(bob!)]).toEqual(['alice-there', 'bob-there']);
    // Nothing of others is used for a caller without a login.
    expect((await callAs(house, PATH, carol!, 'whoami')).json.result).toMatchObject({
      resultType: 'input_required',
    });
    for (const token of us.tokens) {
      expect(server.received()).not.toContain(token);
      expect(authorization.log.join('\n')).not.toContain(token);
    }
    const { logins } = (await house.operation.gateway.status()).servers['issues']!;
    expect(logins).toEqual([
      { principal: 'jwt:https://login.example.com|alice', state: 'valid' },
      { principal: 'jwt:https://login.example.com|bob', state: 'valid' },
      { principal: 'jwt:https://login.example.com|carol', state: 'needs-login' },
    ]);
  });

  it('tells its instructions to those who have a login there, and to no others', async () => {
    const { us, connect, house } = await stage({}, { instructions: 'For those inside.' });
    const [alice, bob] = [await us.tokenOf('alice'), await us.tokenOf('bob')];
    await connect(alice, 'alice-there');
    const told = async (path: string, token: string) => {
      const { json } = await house.ask(path, modern(1, 'server/discover', {}, { headers: bearer(token) }));
      const begun = await house.ask(path, legacy(initialize(1, '2025-11-25'), bearer(token)));
      return [json.result['instructions'], begun.messages[0]!.result['instructions']];
    };
    for (const path of [PATH, '/mcp']) {
      expect(await told(path, alice)).toEqual(['For those inside.', 'For those inside.']);
      expect(await told(path, bob)).toEqual([undefined, undefined]);
    }
  });

  it('asks for more scopes when the server wants them (step-up), and makes the call', async () => {
    const { us, connect } = await stage();
    const token = await us.tokenOf('alice');
    await connect(token, 'alice-there');
    const { answer } = await connect(token, 'alice-there', 'write');
    expect(answer.json.result.content[0].text).toBe('written');
  });

  it('AUTH-G-012: never answers with 401, also where the login has ended', async () => {
    const { us, connect, house, server, authorization } = await stage();
    const token = await us.tokenOf('alice');
    await connect(token, 'alice-there');
    const used = /authorization: Bearer ([\w-]+)\r\n(?![\s\S]*authorization: )/i.exec(server.received())![1]!;
    await authorization.expire(used);
    const again = await callAs(house, PATH, token, 'whoami');
    expect(again.status).toBe(200);
  });

  it('a client of 2025-11-25 gets -32042 with the page, and a client without URLs gets it in the error', async () => {
    const { us, house } = await stage();
    const headers = bearer(await us.tokenOf('alice'));
    const call = async (capabilities: object) => {
      const begun = await house.ask(PATH, legacy(initialize(1, '2025-11-25', capabilities), headers));
      const session = { ...headers, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
      const answer = await house.ask(PATH, legacy(legacyCall(2, 'connect'), session));
      return { status: answer.status, error: answer.messages[0]!.error };
    };
    const { error } = await call({ elicitation: { url: {} } });
    expect(error).toMatchObject({ code: -32042, data: { elicitations: [{ mode: 'url' }] } });
    const plain = await call({});
    expect([plain.status, plain.error?.code]).toEqual([200, -32603]);
    expect(plain.error).toMatchObject({
      message: expect.stringMatching(
        /^issues needs you to log in\. .*http:\/\/127\.0\.0\.1:\d+\/connect\/issues\?t=/,
      ),
      data: { reason: 'UPSTREAM_UNAUTHORIZED', sent: 'no' },
    });
  });
});

describe('the page', () => {
  it('AUTH-G-009: opens nothing without the code, and five wrong ones end it', async () => {
    const { us, house, authorization } = await stage();
    const { url } = questionIn(await callAs(house, PATH, await us.tokenOf('alice'), 'connect'));
    const browser = new Browser();
    const form = await browser.open(url);
    for (let at = 0; at < 5; at += 1) {
      expect((await browser.send(form, { code: 'AAAA-AAAA' })).status).toBe(403);
    }
    expect((await browser.open(url)).status).toBe(404);
    expect(authorization.log.filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  it('AUTH-G-004: asks for the consent of the person for each client, and for the login once', async () => {
    const { us, house, connect, whoami, authorization } = await stage();
    const desk = await us.tokenOf('alice', { client_id: 'desk' });
    const phone = await us.tokenOf('alice', { client_id: 'phone' });
    const { consent } = await connect(desk, 'alice-there');
    expect(consent.text).toContain('desk wants to use');
    expect(await whoami(desk)).toBe('alice-there');
    const logins = () => authorization.log.filter((line) => line.startsWith('POST /token')).length;
    const before = logins();
    // Another client has her token for the gateway. Her login is not for it yet.
    expect((await callAs(house, PATH, phone, 'whoami')).json.result).toMatchObject({
      resultType: 'input_required',
    });
    const second = await connect(phone, 'alice-there');
    expect(second.consent.text).toContain('phone wants to use');
    expect(second.end.text).toContain('issues is connected.');
    expect(await whoami(phone)).toBe('alice-there');
    expect(logins()).toBe(before);
  });

  it('AUTH-G-005: says which scopes the person agrees to, whose page comes next, and where it comes back to', async () => {
    const { us, house, connect, authorization } = await stage();
    const desk = await us.tokenOf('alice', { client_id: 'desk' });
    const [host] = /127\.0\.0\.1:\d+/.exec((await connect(desk, 'alice-there')).consent.text)!;
    const phone = await us.tokenOf('alice', { client_id: 'phone' });
    const told = ({ text }: { text: string }) => /<p>(\w+ wants .*?)<\/p>/.exec(text)?.[1];
    const you = 'You are <b>jwt:https://login.example.com|alice</b>.';
    const next = `The next page is that of ${authorization.issuer}. It comes back to ${house.origin}/connect/callback/issues.`;
    const wants = `wants to use <b>${host}</b> in your name, through this gateway, with the scopes`;
    // Another client uses the login that is there.
    expect(told((await connect(phone, 'alice-there')).consent)).toBe(
      `phone ${wants} <b>mcp:read</b>. ${you} You are logged in there already.`,
    );
    expect(told((await connect(desk, 'alice-there', 'write')).consent)).toBe(
      `desk ${wants} <b>mcp:read</b>, <b>offline_access</b>, <b>mcp:write</b>. ${you} ${next}`,
    );
  });

  it('takes no form of another site, also where the browser hides which one it is', async () => {
    const { us, house } = await stage();
    const question = questionIn(await callAs(house, PATH, await us.tokenOf('alice'), 'connect'));
    const page = await fetch(question.url);
    // Otherwise browsers would send `null` with the form of the page itself.
    expect(page.headers.get('referrer-policy')).toBe('same-origin');
    const code = /code (\S+)\./.exec(question.message)![1]!;
    const ticket = new URL(question.url).searchParams.get('t')!;
    const post = async (origin: string) => {
      const body = new URLSearchParams({ t: ticket, code });
      return (await fetch(`${house.origin}/connect/code`, { method: 'POST', headers: { origin }, body }))
        .status;
    };
    expect(await post('https://evil.example')).toBe(403);
    expect(await post('null')).toBe(403);
    expect(await post('not a url')).toBe(403);
    expect(await post(house.origin)).toBe(200);
  });

  it('of two servers may be open in one browser at the same time', async () => {
    const { us, house } = await stage();
    const browser = new Browser();
    const logIn = async (sub: string) => {
      const question = questionIn(await callAs(house, PATH, await us.tokenOf(sub), 'connect'));
      const code = /code (\S+)\./.exec(question.message)![1]!;
      return browser.send(await browser.open(question.url), { code });
    };
    const [first, second] = [await logIn('alice'), await logIn('bob')];
    expect((await browser.send(first)).text).toContain('issues is connected.');
    // A login is over after its first use.
    expect((await browser.send(first)).status).toBe(403);
    expect((await browser.send(second)).text).toContain('issues is connected.');
  });

  it('cannot be put into a frame, and the login belongs to one browser (AUTH-G-005, AUTH-G-006)', async () => {
    const { us, house } = await stage();
    const question = questionIn(await callAs(house, PATH, await us.tokenOf('alice'), 'connect'));
    const response = await fetch(question.url);
    expect(response.headers.get('x-frame-options')).toBe('DENY');
    expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    const browser = new Browser();
    const code = /code (\S+)\./.exec(question.message)![1]!;
    const consent = await browser.send(await browser.open(question.url), { code });
    expect((await new Browser().send(consent)).status).toBe(403);
    expect((await browser.send(consent)).text).toContain('is connected');
  });

  it('AUTH-G-008: takes each answer of a person once: a consent, a refusal, and the way back from the login', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const { us, house } = await stage({ audit: { file } });
    const seen: URL[] = [];
    const browser = new Browser();
    browser.resolve = (url) => {
      seen.push(url);
      return url;
    };
    const consentFor = async (sub: string) => {
      const { url, message } = questionIn(await callAs(house, PATH, await us.tokenOf(sub), 'connect'));
      const code = /code ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(message)![1]!;
      return browser.send(await browser.open(url), { code });
    };
    const alice = await consentFor('alice');
    const ends = await Promise.all([browser.send(alice), browser.send(alice)]);
    expect(ends.map(({ status }) => status).sort()).toEqual([200, 403]);
    const back = seen.find(({ pathname }) => pathname === '/connect/callback/issues')!;
    expect(back.searchParams.get('code')).toMatch(/./);
    expect((await browser.open(back.href)).status).toBe(400);
    const bob = await consentFor('bob');
    expect((await browser.send(bob, {}, 'refuse')).status).toBe(200);
    expect((await browser.send(bob)).status).toBe(403);
    expect((await browser.send(bob, {}, 'refuse')).status).toBe(403);
    // Another browser cannot refuse for her either.
    const carol = await consentFor('carol');
    expect((await new Browser().send(carol, {}, 'refuse')).status).toBe(403);
    expect((await browser.send(carol)).text).toContain('issues is connected.');
    await house.operation.close({ graceMs: 0 });
    const steps = audited(file).filter(({ method }) => method?.startsWith('connect/'));
    expect(
      steps.map(({ principal, method, outcome }) => [principal?.split('|')[1], method, outcome]),
    ).toEqual([
      ['alice', 'connect/consent', 'ok'],
      ['alice', 'connect/login', 'ok'],
      ['bob', 'connect/consent', 'declined'],
      ['carol', 'connect/consent', 'ok'],
      ['carol', 'connect/login', 'ok'],
    ]);
  });

  it('AUTH-G-009: is refused to another person, where the authorization server of the gateway says who it is', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const who = { account: 'mallory' };
    const client = {
      client_id: 'gateway',
      client_secret: 'the-secret-of-the-gateway',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/connect/callback'],
    };
    const idp = await startAuthorizationServer({
      ...{ tokens: 'jwt', clients: [client], account: () => who.account },
    });
    onTestFinished(() => idp.close());
    const upstream = await upstreamStage({ account: () => 'alice-there' });
    const resource = 'https://gw.example/mcp';
    const { authenticate } = createAuthenticate({ authServers: [{ issuer: idp.issuer, resource }] });
    const house = await openHouse([remote('issues', upstream.server.url, { mode: 'per-user' })], {
      endpoint: { authenticate },
      audit: { file },
      connect: {
        identity: {
          ...{ issuer: idp.issuer, clientId: client.client_id, clientSecret: client.client_secret, resource },
          scopes: ['mcp:read'],
        },
      },
    });
    const grant = new idp.provider.Grant({ accountId: 'alice', clientId: 'gateway' });
    grant.addResourceScope(resource, 'mcp:read');
    const grantId = await grant.save();
    const token = new idp.provider.AccessToken({
      ...{
        accountId: 'alice',
        client: await idp.provider.Client.find('gateway'),
        grantId,
        scope: 'mcp:read',
      },
    } as never);
    token.resourceServer = new idp.provider.ResourceServer(resource, {
      ...{ scope: 'mcp:read', audience: resource, accessTokenTTL: 60, accessTokenFormat: 'jwt' },
      jwt: { sign: { alg: 'RS256' } },
    } as never);
    const alice = await token.save();
    const question = questionIn(await callAs(house, PATH, alice, 'connect'));
    expect(question.message).toBe('issues needs you to log in. Open the page.');
    const refused = await new Browser().open(question.url);
    await eventually(() =>
      expect(audited(file)).toMatchObject([
        {
          ...{ method: 'connect/identity', server: 'issues', outcome: 'denied' },
          principal: `jwt:${idp.issuer}|mallory`,
          error: 'The page was opened for another caller',
        },
      ]),
    );
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('somebody else')]);
    expect(upstream.authorization.log.filter((line) => line.startsWith('POST'))).toEqual([]);
    who.account = 'alice';
    const browser = new Browser();
    const end = await browser.send(await browser.open(question.url));
    expect(end.text).toContain('issues is connected');
    const answer = await acceptedAs(house, PATH, alice, 'connect', question);
    expect(answer.json.result.content[0].text).toContain('is connected');
  });
});

describe('the audit log', () => {
  it('has who let which client use a login, who did not, and each login; never a secret', async () => {
    const file = join(freshFolder(), 'audit.jsonl');
    const { us, house, connect, authorization } = await stage({ audit: { file } });
    const token = await us.tokenOf('alice', { client_id: 'desk' });
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const traced = { headers: { ...bearer(token), traceparent }, capabilities: CAN_VISIT };
    const question = questionIn(await house.ask(PATH, modernCall(1, 'connect', {}, traced)));
    const code = /code ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(question.message)![1]!;
    const browser = new Browser();
    const form = await browser.open(question.url);
    await browser.send(form, { code: 'AAAA-AAAA' });
    const refused = await browser.send(await browser.send(form, { code }), {}, 'refuse');
    expect(refused.text).toContain('Nothing was connected.');
    // The refusal ended the page, and the next one asks again.
    expect((await browser.open(question.url)).status).toBe(404);
    const declined = questionIn(await callAs(house, PATH, token, 'connect'));
    await declinedAs(house, PATH, token, 'connect', declined);
    const { end } = await connect(token, 'alice-there');
    expect(end.text).toContain('issues is connected.');
    const bob = await us.tokenOf('bob', { client_id: 'desk' });
    await new Denying(authorization.issuer).logIn(questionIn(await callAs(house, PATH, bob, 'connect')));
    await house.operation.close({ graceMs: 0 });
    const lines = audited(file).filter(({ method }) => method?.startsWith('connect/'));
    const [who, other] = ['jwt:https://login.example.com|alice', 'jwt:https://login.example.com|bob'];
    const scopes = ['mcp:read', 'offline_access'];
    const login = { method: 'connect/login' };
    const consent = { method: 'connect/consent' };
    const error = 'A wrong code was typed';
    expect(lines.map(({ time: _time, correlationId: _id, ...line }) => line)).toEqual(
      [
        { clientId: 'desk', method: 'connect/identity', outcome: 'denied', error },
        { principal: who, clientId: 'desk', ...consent, outcome: 'declined', scopes },
        { principal: who, clientId: 'desk', ...consent, outcome: 'declined' },
        { principal: who, clientId: 'desk', ...consent, outcome: 'ok', scopes },
        { principal: who, clientId: 'desk', ...login, outcome: 'ok', scopes },
        { principal: other, clientId: 'desk', ...consent, outcome: 'ok', scopes },
        { principal: other, clientId: 'desk', ...login, outcome: 'declined', error: 'access_denied' },
      ].map((line) => ({ ...line, server: 'issues', remote: '127.0.0.1' })),
    );
    const ids = lines.map(({ correlationId }) => correlationId);
    expect(ids.slice(0, 2)).toEqual(Array(2).fill('0af7651916cd43dd8448eb211c80319c'));
    // The page that was declined by the application is still open, and the login was made there.
    expect([new Set(ids.slice(2, 5)).size, new Set(ids).size]).toEqual([1, 3]);
    const text = readFileSync(file, 'utf8');
    const secrets = [code, code.replace('-', ''), ...us.tokens, question.url.split('t=')[1]!];
    for (const secret of secrets) expect(text).not.toContain(secret);
  });
});

/** Whose authorization server answers that the user does not agree. */
class Denying extends Browser {
  readonly #issuer: string;

  constructor(issuer: string) {
    super();
    this.#issuer = issuer;
  }

  override resolve(url: URL): URL {
    const back = url.origin === this.#issuer && url.searchParams.get('redirect_uri');
    if (!back) return url;
    const response = { error: 'access_denied', state: url.searchParams.get('state')!, iss: this.#issuer };
    return new URL(`${back}?${new URLSearchParams(response)}`);
  }

  async logIn({ url, message }: { readonly url: string; readonly message: string }) {
    const code = /code ([A-Z0-9]{4}-[A-Z0-9]{4})/.exec(message)![1]!;
    return this.send(await this.send(await this.open(url), { code }));
  }
}

function audited(file: string): Record<string, string>[] {
  const text = readFileSync(file, 'utf8').trim();
  return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line));
}

it('logins are sealed in their folder, and are there after a restart', async () => {
  const store = { folder: join(freshFolder(), 'logins'), keys: [Buffer.alloc(32, 7).toString('base64url')] };
  const { us, connect, server, house } = await stage({ connect: { store } });
  const token = await us.tokenOf('alice');
  await connect(token, 'alice-there');
  const files = readdirSync(store.folder).filter((name) => name.endsWith('.json'));
  // The login, and the consent for the client.
  expect(files.length).toBe(2);
  for (const file of files) {
    expect(readFileSync(join(store.folder, file), 'utf8')).toMatch(/^isthmus-sealed-1\.[\w-]+\n$/);
  }
  await house.operation.close();
  const unit = remote('issues', server.url, { mode: 'per-user' });
  const again = await companyHouse(us, [unit], { connect: { store } });
  expect((await callAs(again, PATH, token, 'whoami')).json.result.content[0].text).toBe('alice-there');
  const keys = [Buffer.alloc(32, 8).toString('base64url')];
  const other = await companyHouse(us, [unit], { connect: { store: { ...store, keys } } });
  expect((await callAs(other, PATH, token, 'whoami')).json.result?.content).toBeUndefined();
});
