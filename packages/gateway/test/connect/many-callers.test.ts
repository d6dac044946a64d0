import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { type LoginRecord, loginKey } from '@isthmus/sdk/internal/oauth/store/login-record.js';
import { expect, it } from 'vitest';
import { ConnectPages } from '../../src/connect/connect-pages.js';
import { loginsOfCallers } from '../../src/connect/sealed-logins.js';
import { CallerTokens } from '../../src/personal/caller-tokens.js';
import { ExchangedLogin } from '../../src/personal/exchanged-login.js';
import { ownLogins } from '../../src/personal/own-logins.js';
import { remote } from '../support/personal-stage.js';

const URL_OF_SERVER = 'https://issues.example/mcp';
const CALLERS = 10_000;

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

function recordOf(caller: number): LoginRecord {
  const token = (kind: string) => `${kind}-${caller}-${'x'.repeat(1000)}`;
  const now = Date.now();
  return {
    v: 1,
    server: URL_OF_SERVER,
    resource: URL_OF_SERVER,
    issuer: 'https://login.example',
    tokenEndpoint: 'https://login.example/token',
    revocationEndpoint: undefined,
    client: {
      kind: 'registered',
      id: 'gateway',
      secret: undefined,
      authMethod: 'none',
      redirectUri: undefined,
      expiresAt: undefined,
    },
    token: {
      ...{ access: token('access'), refresh: token('refresh'), expiresAt: now + 3_600_000, obtainedAt: now },
      ...{ scopes: ['mcp:read'], requestedScopes: ['mcp:read'], generation: 1 },
    },
    reason: undefined,
  };
}

it('10,000 callers with tokens of 1 KiB that are exchanged take less than 80 MiB, and no more of their tokens are kept', async () => {
  const callers = new CallerTokens();
  callers.isUsed = true;
  const tokenOf = (kind: string, caller: number) => `${kind}-${caller}-${'x'.repeat(1000)}`;
  const authenticate = callers.watch((request) => request.header('x-caller')!);
  const logins: ExchangedLogin[] = [];
  const enter = async (caller: number) => {
    const principal = `jwt:https://login.example|user-${caller}`;
    const headers: Record<string, string> = {
      'x-caller': principal,
      authorization: `Bearer ${tokenOf('own', caller)}`,
    };
    await authenticate({ method: 'POST', target: '/mcp', header: (name) => headers[name] });
    const now = Date.now();
    const granted = { refresh: undefined, expiresAt: now + 3_600_000, obtainedAt: now, scopes: [] };
    const login = new ExchangedLogin({
      ...{ server: 'issues', principal, clock: systemClock },
      subject: () => callers.of(principal),
      exchange: async () => ({ ...granted, access: tokenOf('exchanged', caller) }),
    });
    if (logins.length < CALLERS) logins.push(login);
    if (!(await login.authorization()).startsWith(`Bearer exchanged-${caller}-`))
      throw new Error('Another token');
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let caller = 0; caller < CALLERS; caller += 1) await enter(caller);
  collect();
  const full = process.memoryUsage().heapUsed;
  expect((full - before) / 2 ** 20).toBeLessThan(80);
  for (let caller = CALLERS; caller < 1.1 * CALLERS; caller += 1) await enter(caller);
  collect();
  expect((process.memoryUsage().heapUsed - full) / 2 ** 20).toBeLessThan(5);
  expect([callers.size, logins.length]).toEqual([CALLERS, CALLERS]);
});

it('10,000 callers with logins of 2 KiB take less than 120 MiB, and more callers take no more', async () => {
  const logins = loginsOfCallers(undefined);
  const pages = new ConnectPages({ clock: systemClock, base: () => 'https://gw.example' });
  const spec = remote('issues', URL_OF_SERVER, { mode: 'per-user' });
  const own = ownLogins(spec as never, { pages, logins, clock: systemClock });
  const enter = async (caller: number) => {
    const principal = `jwt:https://login.example|user-${caller}`;
    await logins.of(principal).write(loginKey(new URL(URL_OF_SERVER)), recordOf(caller));
    const auth = await own.authFor(principal).forServer(new URL(URL_OF_SERVER));
    if (!(await auth.authorization())?.startsWith(`Bearer access-${caller}-`))
      throw new Error('Another token');
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let caller = 0; caller < CALLERS; caller += 1) await enter(caller);
  collect();
  const full = process.memoryUsage().heapUsed;
  const mib = (full - before) / 2 ** 20;
  expect(mib).toBeLessThan(120);
  for (let caller = CALLERS; caller < 1.1 * CALLERS; caller += 1) await enter(caller);
  collect();
  expect((process.memoryUsage().heapUsed - full) / 2 ** 20).toBeLessThan(10);
  expect((await own.status()).length).toBe(100);
}, 120_000);
