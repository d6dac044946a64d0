/** A gateway that is its own host of a client metadata document (CIMD). */
import { describe, expect, it } from 'vitest';
import { Browser, callAs, questionIn } from '../support/connect-page.js';
import { company, companyHouse, remote, upstreamStage } from '../support/personal-stage.js';
import type { House } from '../support/secured-gateway.js';

const PUBLIC = 'https://gateway.example';
const DOCUMENT = `${PUBLIC}/connect/client/issues`;

async function connected(house: House, token: string) {
  const question = questionIn(await callAs(house, '/mcp/issues', token, 'connect'));
  const browser = new Browser();
  browser.resolve = (url) =>
    url.host === 'gateway.example' ? new URL(url.pathname + url.search, house.origin) : url;
  const code = /code (\S+)\./.exec(question.message)![1]!;
  return browser.send(await browser.send(await browser.open(question.url), { code }));
}

async function stage(publicUrl: string | undefined) {
  const us = await company();
  const upstream = await upstreamStage({ account: () => 'alice-there' });
  const auth = { mode: 'per-user', clientMetadata: true } as const;
  const connect = publicUrl === undefined ? {} : { publicUrl };
  const house = await companyHouse(us, [remote('issues', upstream.server.url, auth)], { connect });
  return { us, house, ...upstream };
}

describe('the document about the gateway as a client (AUTH-C-031)', () => {
  it('is what an authorization server needs to know: nothing is registered there', async () => {
    const { us, house, authorization } = await stage(PUBLIC);
    const response = await fetch(`${house.origin}/connect/client/issues`);
    const document = (await response.json()) as object;
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(document).toEqual({
      client_id: DOCUMENT,
      client_name: 'Isthmus gateway',
      application_type: 'web',
      redirect_uris: [`${PUBLIC}/connect/callback/issues`],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    });
    authorization.publish(DOCUMENT, document);
    const token = await us.tokenOf('alice');
    expect((await connected(house, token)).text).toContain('issues is connected.');
    const { json } = await callAs(house, '/mcp/issues', token, 'whoami');
    expect(json.result.content?.[0].text).toBe('alice-there');
    // The server offers registration, too.
    expect(authorization.log.filter((line) => line.startsWith('POST /reg'))).toEqual([]);
  });

  it('is there for every name in one spelling, so that it does not tell which servers there are', async () => {
    const { house } = await stage(PUBLIC);
    const at = async (path: string) => {
      const response = await fetch(`${house.origin}${path}`);
      return response.status === 200
        ? ((await response.json()) as { client_id: string }).client_id
        : undefined;
    };
    expect(await at('/connect/client/nothing')).toBe(`${PUBLIC}/connect/client/nothing`);
    expect(await at('/connect/client/a%20%22b')).toBe(`${PUBLIC}/connect/client/a%20%22b`);
    for (const path of ['/', '/a/b', '/%zz', `/${'a'.repeat(300)}`]) {
      expect(await at(`/connect/client${path}`)).toBeUndefined();
    }
  });

  it('needs an https address, and the page says so', async () => {
    const { us, house, authorization } = await stage(undefined);
    const end = await connected(house, await us.tokenOf('alice'));
    expect(end.status).toBe(502);
    expect(end.text).toContain('issues: clientMetadata needs an https address of the gateway (--resource)');
    expect(authorization.log.filter((line) => line.startsWith('POST'))).toEqual([]);
    expect((await fetch(`${house.origin}/connect/client/issues`)).status).toBe(404);
  });
});
