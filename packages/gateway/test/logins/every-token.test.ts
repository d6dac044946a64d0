/** Two people, two servers behind one gateway: which token has reached whom. Every byte that the servers received is searched. */
import { expect, it } from 'vitest';
import { modern, modernCall } from '../../../sdk/test/support/http-server.js';
import { bearer } from '../support/auth.js';
import { acceptedAs, Browser, callAs, questionIn } from '../support/connect-page.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import {
  CLIENT_SECRET,
  company,
  companyHouse,
  EXCHANGE_CLIENT,
  remote,
  upstreamStage,
} from '../support/personal-stage.js';

/** The requests in what a server received, each with its head and its body. */
function requestsIn(connections: readonly string[]): readonly string[] {
  return connections
    .flatMap((received) => received.split(/(?=(?:POST|GET|DELETE) \/\S* HTTP\/1\.1\r\n)/))
    .filter((each) => each !== '');
}

const tokenIn = (request: string) => /authorization: Bearer (\S+)/i.exec(request)?.[1];

it('AUTH-G-001 to G-003: no token of a caller reaches a server, and each token reaches one server, for one caller', async () => {
  const us = await company();
  const state = { account: '' };
  const exchanged = await upstreamStage({ clients: [EXCHANGE_CLIENT], exchange: us.ownerOf });
  const personal = await upstreamStage({ account: () => state.account });
  const { issuer } = exchanged.authorization;
  const auth = { mode: 'token-exchange', clientId: 'gateway', clientSecret: CLIENT_SECRET, issuer } as const;
  const house = await companyHouse(us, [
    remote('one', exchanged.server.url, auth),
    remote('two', personal.server.url, { mode: 'per-user' }),
  ]);
  const people = ['alice', 'bob'] as const;
  const tokens = { alice: await us.tokenOf('alice'), bob: await us.tokenOf('bob') };
  for (const name of people) {
    state.account = name;
    const question = questionIn(await callAs(house, '/mcp/two', tokens[name], 'connect'));
    const browser = new Browser();
    const code = /code (\S+)\./.exec(question.message)![1]!;
    await browser.send(await browser.send(await browser.open(question.url), { code }));
    await acceptedAs(house, '/mcp/two', tokens[name], 'connect', question);
  }
  // Both eras, at the address of each server and at that of all; tokens also where they do not belong.
  for (const round of [1, 2]) {
    await Promise.all(
      people.map(async (name) => {
        const headers = bearer(tokens[name]);
        for (const path of ['/mcp/one', '/mcp/two']) {
          const meta = { note: `call of ${name}` };
          const call = modernCall(round, 'whoami', { by: `call of ${name}` }, { headers, meta });
          expect((await house.ask(`${path}?round=${round}`, call)).json.result.content[0].text).toBe(name);
          const legacy = await connectV1(house.at(path), headers);
          expect(await legacy.call('whoami')).toBe(name);
          const latest = await connectV2(house.at(path), headers);
          expect(await latest.call('whoami')).toBe(name);
        }
        await house.ask('/mcp', modern(1, 'tools/list', {}, { headers }));
        const among = await house.ask('/mcp', modernCall(1, 'one__whoami', {}, { headers }));
        expect(among.json.result.content[0].text).toBe(name);
      }),
    );
  }
  const received = { one: exchanged.server.received(), two: personal.server.received() };
  const used: Record<string, Set<string>> = {};
  for (const [name, { server }] of Object.entries({ one: exchanged, two: personal })) {
    const text = server.received();
    const requests = requestsIn(server.connections());
    for (const token of us.tokens) {
      expect(text).not.toContain(token);
      // Nor parts of it: the payload, the signature.
      for (const part of token.split('.').slice(1)) expect(text).not.toContain(part);
    }
    expect(text).not.toContain(CLIENT_SECRET);
    used[name] = new Set(requests.flatMap((each) => tokenIn(each) ?? []));
    for (const person of people) {
      const own = requests.filter((each) => each.includes(`call of ${person}`));
      expect(own.length).toBeGreaterThanOrEqual(2);
      expect(new Set(own.map(tokenIn)).size).toBe(1);
    }
    const of = (person: string) => tokenIn(requests.find((each) => each.includes(`call of ${person}`))!);
    expect(of('alice')).not.toBe(of('bob'));
  }
  for (const token of used['one']!) expect(received.two).not.toContain(token);
  for (const token of used['two']!) expect(received.one).not.toContain(token);
  // The authorization server of the second server has seen no token of the company; that of the first one only exchanges them.
  for (const token of us.tokens) expect(personal.authorization.log.join('\n')).not.toContain(token);
  expect(new Set(exchanged.authorization.subjects())).toEqual(new Set([tokens.alice, tokens.bob]));
});
