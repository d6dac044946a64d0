import { inspect } from 'node:util';
import { connect, http } from '@isthmus/sdk';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { describe, expect, it } from 'vitest';
import {
  CHALLENGE,
  ISSUER,
  loginStage,
  SERVER,
} from '../../../../test/support/scripted-authorization-server.js';
import type { OAuthOptions } from '../../src/oauth/options.js';

const TOKEN = `${ISSUER}/token`;
const REGISTER = `${ISSUER}/register`;

/**
 * Authorization servers that repeat what they were sent, in everything that they answer. Everything that a program can see
 * of a login is collected, and none of the secrets is in it.
 */
describe('no secret in anything that a program can print', () => {
  it('errors, warnings and statuses', async () => {
    const seen: string[] = [];
    const secrets = new Set(['secret-of-client', 'initial-token', 'access-1', 'refresh-1', 'the-code']);
    const stage = loginStage();
    const send = stage.fetch;
    stage.fetch = async (input, init) => {
      const answer = await send(input, init);
      for (const name of ['code_verifier', 'refresh_token', 'token', 'client_secret', 'code']) {
        const value = stage.requests.at(-1)!.form.get(name);
        if (value) secrets.add(value);
      }
      return answer;
    };
    const time = { now: 0 };
    const clock = { ...systemClock, now: () => 1_000_000 + time.now };
    const good = stage.answers.get(TOKEN)!;
    const attempt = async (options: OAuthOptions, answers: Record<string, (text: string) => Response>) => {
      for (const [url, answer] of Object.entries(answers)) {
        stage.answers.set(url, ({ body, headers }) => answer(`${headers.get('authorization')} ${body}`));
      }
      const auth = stage.login({ fetch: stage.fetch, clock, ...options });
      const login = await auth.login(SERVER);
      const outcomes = [
        await login.login(CHALLENGE).catch((error: unknown) => error),
        await login.status(),
        await login.logout().catch((error: unknown) => error),
      ];
      seen.push(...outcomes.map((outcome) => inspect(outcome, { depth: 20, showHidden: true })));
      stage.answers.set(TOKEN, good);
    };
    const echo = (status: number) => (text: string) =>
      Response.json(
        { error: 'invalid_grant', error_description: `bad: ${decodeURIComponent(text)}` },
        { status },
      );
    // Each answer of the token endpoint that cannot be used.
    await attempt({}, { [TOKEN]: echo(400) });
    await attempt({}, { [TOKEN]: echo(200) });
    await attempt({}, { [TOKEN]: (text) => Response.json({ access_token: 7, refresh_token: text }) });
    await attempt({}, { [TOKEN]: (text) => Response.json({ access_token: 'access-1', token_type: [text] }) });
    await attempt({}, { [TOKEN]: (text) => new Response(text, { status: 500 }) });
    await attempt({}, { [TOKEN]: (text) => new Response(`"${text}`) });
    const client = { clientId: 'me', clientSecret: 'secret-of-client', issuer: ISSUER };
    await attempt(client, { [TOKEN]: echo(401) });
    await attempt({ ...client, grant: 'client-credentials' }, { [TOKEN]: echo(401) });
    await attempt({ registrationToken: 'initial-token' }, { [REGISTER]: echo(400) });
    stage.answers.set(REGISTER, () => Response.json({ client_id: 'client-1' }));
    // A renewal, and a revocation.
    const auth = stage.login({ fetch: stage.fetch, clock });
    const login = await auth.login(SERVER);
    await login.login(CHALLENGE);
    stage.answers.set(TOKEN, ({ body }) => echo(400)(body));
    stage.answers.set(`${ISSUER}/revoke`, ({ body }) => echo(503)(body));
    time.now += 3_600_000;
    await login.authorization();
    seen.push(inspect(await login.status(), { depth: 20 }), inspect(login, { depth: 20, showHidden: true }));
    stage.answers.set(TOKEN, good);
    await login.login(CHALLENGE);
    await login.logout();
    seen.push(...stage.warnings, inspect(auth, { depth: 20, showHidden: true }));
    expect(seen.length).toBeGreaterThan(30);
    expect(secrets.size).toBeGreaterThan(10);
    const all = seen.join('\n');
    expect([...secrets].filter((secret) => all.includes(secret))).toEqual([]);
    expect(all).toContain('bad: ');
    expect(all).toContain('[hidden]');
  });

  it('also where the server repeats the token that it refuses', async () => {
    const stage = loginStage();
    const auth = stage.login();
    await (await auth.login(SERVER)).login(CHALLENGE);
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const authorization = new Request(input, init).headers.get('authorization');
      const headers = { 'www-authenticate': `Bearer error="x", error_description="${authorization}"` };
      return new Response(`the token ${authorization} is bad`, { status: 403, headers });
    };
    const failure = await connect(http(SERVER, { auth, fetch }), { mode: 'modern' }).catch((error) => error);
    expect(inspect(failure, { depth: 20 })).toContain('HTTP 403');
    expect(inspect(failure, { depth: 20 })).not.toContain('access-1');
  });
});
