/** Logins where the daemon of `isthmus attach` runs: it owns them, and the other processes ask it. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { browse } from '../../../../test/support/authorization-server.js';
import { eventually } from '../../../../test/support/until.js';
import { daemonStage } from '../support/daemon-stage.js';
import { RECORDING_BROWSER } from '../support/login-stage.js';

const codes = (log: readonly string[]) => log.filter((line) => line === 'POST /token authorization_code');
const refreshes = (log: readonly string[]) => log.filter((line) => line === 'POST /token refresh_token');

describe('a login that a host has begun', () => {
  it('goes on when the host kills the shim; the next one joins it, and one page was opened', async () => {
    const { server, authorization, pages, run, shim, host } = await daemonStage();
    const slow = { BROWSER: RECORDING_BROWSER };
    const killed = [1, 2].map(() => shim([server.url], slow));
    const busy = await eventually(async () => {
      const found = JSON.parse((await run(['login', '--status', '--json'])).stdout);
      const reason = 'its page was opened in a browser';
      expect(found).toMatchObject([{ server: server.url, state: 'busy', reason }]);
      return found;
    });
    for (const child of killed) child.kill('SIGKILL');
    // The browser is a program of its own, which writes the page down when it has started.
    await eventually(() => expect(pages()).toEqual([busy[0].page]));
    const next = host([server.url], slow);
    const end = await browse(busy[0].page);
    expect(end.text).toContain('You are logged in');
    const client = await next;
    expect((await client.callTool('read')).content).toEqual([{ type: 'text', text: 'read' }]);
    expect(pages()).toHaveLength(1);
    expect(codes(authorization.log)).toHaveLength(1);
  });
});

describe('the daemon owns the logins', () => {
  it('is the only one that renews: many commands and a host, one refresh, and no answer has the refresh token', async () => {
    const { server, authorization, run, tokens, home, logins, paths, host } = await daemonStage();
    const client = await host([server.url]);
    await client.callTool('read');
    const target = { url: server.url, auth: { mode: 'stored' } } as const;
    const { authorization: header } = await logins.authorization(target);
    await authorization.expire(tokens()[0]!);
    const refusal = { status: 401, wwwAuthenticate: undefined, authorization: header, attempt: 0 } as const;
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(elsewhere);
    const env = { HOME: elsewhere };
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, () => logins.refused(target, refusal)),
      ...Array.from({ length: 3 }, () => run(['call', server.url, 'read'], { env })),
      ...Array.from({ length: 20 }, () => client.callTool('read')),
    ]);
    expect(answers.slice(0, 20)).toEqual(Array(20).fill(true));
    expect(answers.slice(20, 23)).toMatchObject(Array(3).fill({ code: 0, stdout: 'read\n' }));
    expect(refreshes(authorization.log)).toHaveLength(1);
    const [, refresh] = tokens();
    const told = JSON.stringify([answers, await logins.authorization(target), await logins.list()]);
    expect(refresh).toMatch(/^[\w-]{20,}$/);
    expect(told).not.toContain(refresh);
    const logs = readFileSync(paths.log, 'utf8');
    for (const token of tokens()) expect(logs).not.toContain(token);
  });
});
