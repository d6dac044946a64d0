/** `isthmus login --device`, with a real authorization server. It has to be asked every 5 s, so this takes some time. */
import { describe, expect, it } from 'vitest';
import { enterDeviceCode } from '../../../../test/support/authorization-server.js';
import { until } from '../../../../test/support/until.js';
import { loginStage } from '../support/login-stage.js';

describe('--device', () => {
  it('logs in on another device, also where a client for a browser is registered', async () => {
    const { server, authorization, run, pages } = await loginStage();
    await run(['login', server.url]);
    await run(['logout', server.url]);
    const status = await run(['login', '--status']);
    expect(status.stdout).toBe(`${server.url}  needs login  ${authorization.issuer}  logged out\n`);
    const told = /Open this page on any device: (\S+)[\s\S]*shows it: (\S+)\s/;
    const login = await run(['login', server.url, '--device'], {
      async onStart(child, stderr) {
        child.stdin!.end();
        const [, shown, code] = await until('the page and its code', () => told.exec(stderr()) ?? undefined);
        expect(new URL(shown!).searchParams.get('user_code')).toBe(code);
        expect((await enterDeviceCode(shown!)).status).toBe(200);
      },
    });
    expect(login.stderr).toContain(`Logged in to ${server.url} (${authorization.issuer})`);
    expect(login.code).toBe(0);
    expect(pages()).toHaveLength(1);
    expect(await run(['call', server.url, 'read'])).toMatchObject({ code: 0, stdout: 'read\n' });
  });
});
