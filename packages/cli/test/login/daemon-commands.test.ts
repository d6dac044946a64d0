/** The commands of logins where the daemon of `isthmus attach` runs. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, until } from '../../../../test/support/until.js';
import { daemonStage } from '../support/daemon-stage.js';
import { RECORDING_BROWSER } from '../support/login-stage.js';

describe('a login that a host has begun', () => {
  it('is begun at most three times in ten minutes; isthmus login begins another one', async () => {
    const { server, run, pages } = await daemonStage();
    const slow = { BROWSER: RECORDING_BROWSER };
    for (const _ of [1, 2, 3]) {
      const attached = await run(['attach', server.url, '--login-timeout', '1s'], { env: slow });
      expect([attached.code, attached.stderr.includes('was not finished within 1 s')]).toEqual([5, true]);
    }
    const fourth = await run(['attach', server.url, '--login-timeout', '1s'], { env: slow });
    expect([fourth.code, fourth.stderr]).toEqual([
      5,
      `isthmus: 3 logins for ${server.url} were begun within 10 minutes; isthmus login ${server.url} begins another one\n`,
    ]);
    expect(pages()).toHaveLength(3);
    expect((await run(['login', server.url])).code).toBe(0);
    expect(pages()).toHaveLength(4);
  });
});

describe('commands where the daemon runs', () => {
  it('login, status, logout and --print-token ask it; a command needs no store of its own', async () => {
    const { server, run, tokens, home, host } = await daemonStage();
    const client = await host([server.url]);
    expect((await client.callTool('read')).content).toEqual([{ type: 'text', text: 'read' }]);
    const [access, refresh] = tokens();
    // Without the home of the user there is no store. The header can only come from the daemon.
    const elsewhere = join(home, 'elsewhere');
    mkdirSync(elsewhere);
    const env = { HOME: elsewhere };
    expect(await run(['call', server.url, 'read'], { env })).toMatchObject({ code: 0, stdout: 'read\n' });
    expect((await run(['login', server.url, '--print-token'], { env })).stdout).toBe(`${access}\n`);
    expect((await run(['login', '--status'], { env })).stdout).toContain('logged in');
    expect((await run(['login', server.url], { env })).code).toBe(0);
    expect(existsSync(join(elsewhere, '.config'))).toBe(false);
    expect(tokens()).not.toContain(refresh);
    const ended = await run(['logout', server.url], { env });
    expect([ended.code, ended.stderr]).toEqual([0, `isthmus: Logged out of ${server.url}\n`]);
    await expect(client.callTool('read')).rejects.toThrow(`isthmus login ${server.url}`);
    expect((await run(['call', server.url, 'read'], { env })).code).toBe(5);
    // After a login the host that is attached goes on, without a restart.
    await run(['login', server.url], { env });
    expect((await client.callTool('read')).content).toEqual([{ type: 'text', text: 'read' }]);
  });

  it('when it is killed, commands use the store themselves', async () => {
    const { server, run, host } = await daemonStage();
    const client = await host([server.url]);
    await client.callTool('read');
    const status = JSON.parse((await run(['daemon', 'status', '--json'])).stdout);
    process.kill(status.pid, 'SIGKILL');
    expect(await run(['call', server.url, 'read'])).toMatchObject({ code: 0, stdout: 'read\n' });
  });

  it('a login of isthmus login ends with that command, and the daemon goes on', async () => {
    const { server, authorization, run, logins, shim } = await daemonStage();
    const open = shim([`${authorization.issuer}/nothing`, '--auth', 'stored']);
    await eventually(async () => expect((await run(['daemon', 'status'])).code).toBe(0));
    const login = run(['login', server.url, '--no-browser'], {
      async onStart(child, stderr) {
        await until('the page', () => stderr().includes('Log in on this page'));
        child.kill('SIGINT');
      },
    });
    expect((await login).code).not.toBe(0);
    await eventually(async () => expect(await logins.list()).toEqual([]));
    expect(open.exitCode).toBe(null);
  });
});
