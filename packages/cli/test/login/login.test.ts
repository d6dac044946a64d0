/** `isthmus login`, `isthmus logout` and `--auth`, with a real authorization server and a browser that follows redirects. */
import { statSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { browse } from '../../../../test/support/authorization-server.js';
import { until } from '../../../../test/support/until.js';
import { loginStage } from '../support/login-stage.js';

const PAGE = /Log in on this page: (\S+)/;

describe('isthmus login', () => {
  it('opens a browser once, and every command uses the login; no token is shown', async () => {
    const { server, authorization, run, pages, tokens, outputs, folder } = await loginStage();
    const before = await run(['list', server.url]);
    expect([before.code, before.stdout]).toEqual([5, '']);
    expect(before.stderr).toContain(`isthmus login ${server.url}`);
    expect(pages()).toEqual([]);

    const login = await run(['login', server.url]);
    expect(login.stderr).toContain(`Logged in to ${server.url} (${authorization.issuer})`);
    expect(login.code).toBe(0);
    expect(pages()).toHaveLength(1);
    expect(login.stderr).toContain(pages()[0]);
    expect(login.stderr).toMatch(/comes back to http:\/\/127\.0\.0\.1:\d+\/callback/);

    const listed = await run(['list', server.url]);
    expect([listed.code, listed.stdout.includes('read')]).toEqual([0, true]);
    const status = await run(['login', '--status', '--json']);
    expect(JSON.parse(status.stdout)).toMatchObject([
      { server: server.url, state: 'valid', issuer: authorization.issuer, isRenewable: true },
    ]);
    expect((await run(['login', '--status', server.url])).stdout).toContain('logged in');

    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const secrets = tokens();
    expect(secrets).toHaveLength(2);
    for (const secret of secrets) {
      expect([...outputs, ...pages()].filter((text) => text.includes(secret))).toEqual([]);
    }
    const printed = await run(['login', server.url, '--print-token']);
    expect(printed).toEqual({ code: 0, stdout: `${secrets[0]}\n`, stderr: '' });
    expect(pages()).toHaveLength(1);
  });

  it('takes the address that the browser ended at, where there is no display', async () => {
    const { server, run, pages } = await loginStage();
    const callback = 'https://tunnel.example/callback';
    const login = await run(['login', server.url, '--callback-url', callback, '--json'], {
      env: { BROWSER: '', SSH_CONNECTION: '1 2 3 4' },
      async onStart(child, stderr) {
        await until('the page', () => PAGE.test(stderr()));
        child.stdin!.write('nonsense\n');
        const [, page = ''] = PAGE.exec(stderr()) ?? [];
        const { url: end } = await browse(page, { stopAt: callback });
        child.stdin!.end(`${end}\n`);
      },
    });
    expect(login.stderr).toContain('No browser is opened here: this is an SSH session');
    expect(login.stderr).toContain('That is not the address');
    expect(login.code).toBe(0);
    expect(JSON.parse(login.stdout)).toMatchObject({ server: server.url, state: 'valid' });
    expect(pages()).toEqual([]);
  });

  it('closes its port on Ctrl-C', async () => {
    const { server, run } = await loginStage();
    let port = 0;
    const login = await run(['login', server.url, '--no-browser'], {
      async onStart(child, stderr) {
        const callbackPort = () => /comes back to http:\/\/127\.0\.0\.1:(\d+)\//.exec(stderr())?.[1];
        port = Number(await until('the callback', callbackPort));
        expect(await isOpen(port)).toBe(true);
        child.kill('SIGINT');
      },
    });
    expect(login.code).not.toBe(0);
    expect(await isOpen(port)).toBe(false);
  });

  it('fails with 3 when the server or its authorization server cannot be reached', async () => {
    const { server, run, authorization } = await loginStage();
    const away = 'http://127.0.0.1:1';
    server.move({ ...authorization, issuer: away });
    const { code, stderr } = await run(['login', server.url]);
    expect(code).toBe(3);
    expect(stderr).toContain(
      `${away}/.well-known/oauth-authorization-server cannot be reached for the login`,
    );
    expect(await run(['login', `${away}/mcp`])).toMatchObject({ code: 3, stdout: '' });
  });

  it('fails with 5 when it is not finished in time, and with 2 for a server that needs no login', async () => {
    const { server, run, authorization } = await loginStage();
    const late = await run(['login', server.url, '--no-browser', '--login-timeout', '1s']);
    expect([late.code, late.stderr.includes('was not finished within 1 s')]).toEqual([5, true]);
    const open = await run(['login', `${authorization.issuer}/.well-known/openid-configuration`]);
    expect(open.code).not.toBe(0);
    expect((await run(['login'])).code).toBe(2);
    expect((await run(['login', 'https://h/mcp', '--print-token'])).code).toBe(5);
  });
});

describe('isthmus logout', () => {
  it('revokes the tokens and keeps the registration, unless it is to be forgotten', async () => {
    const { server, authorization, run, tokens } = await loginStage();
    await run(['login', server.url]);
    authorization.log.length = 0;
    const out = await run(['logout', server.url]);
    expect([out.code, out.stderr]).toEqual([0, `isthmus: Logged out of ${server.url}\n`]);
    expect(authorization.log.filter((line) => line.includes('revocation'))).toHaveLength(2);
    expect(tokens()).toEqual([]);
    expect((await run(['list', server.url])).code).toBe(5);

    authorization.log.length = 0;
    expect((await run(['login', server.url])).code).toBe(0);
    expect(authorization.log).not.toContain('POST /reg');
    await run(['logout', '--all', '--forget-client']);
    expect((await run(['login', '--status'])).stdout).toBe('no logins\n');
  });
});

describe('--auth', () => {
  it('browser logs in first; never and a header of the user leave it alone', async () => {
    const { server, run, pages } = await loginStage();
    const called = await run(['call', server.url, 'read', '--auth', 'browser']);
    expect([called.code, called.stdout]).toEqual([0, 'read\n']);
    expect(pages()).toHaveLength(1);
    expect((await run(['call', server.url, 'read', '--auth', 'browser'])).code).toBe(0);
    expect(pages()).toHaveLength(1);
    expect((await run(['list', server.url, '--auth', 'never'])).code).toBe(5);
    expect((await run(['list', server.url, '-H', 'Authorization: Bearer wrong'])).code).toBe(5);
    expect(pages()).toHaveLength(1);
  });

  it('client-credentials needs no user', async () => {
    const clients = [
      {
        client_id: 'robot',
        client_secret: 's3cret-of-the-robot',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        response_types: [],
      },
    ];
    const { server, authorization, run, pages, outputs } = await loginStage({ clients });
    const line = ['call', server.url, 'read', '--auth', 'client-credentials', '--client-id', 'robot'];
    const env = { ISTHMUS_CLIENT_SECRET: 's3cret-of-the-robot' };
    const called = await run([...line, '--issuer', authorization.issuer], { env });
    expect([called.code, called.stdout]).toEqual([0, 'read\n']);
    expect((await run(line)).code).toBe(2);
    expect(pages()).toEqual([]);
    expect(outputs.join('')).not.toContain('s3cret');
  });

  it('probe explains what a login needs, and opens nothing', async () => {
    const { server, authorization, run, pages } = await loginStage();
    const probed = await run(['probe', server.url]);
    expect([probed.code, probed.stdout]).toEqual([5, '']);
    for (const text of [
      `/.well-known/oauth-protected-resource/mcp`,
      `authorization server: ${authorization.issuer}`,
      'ways to get a client id: metadata document, registration, a client id of your own (--client-id)',
      'scopes: mcp:read',
      'nothing that would stop a login was found',
    ])
      expect(probed.stderr).toContain(text);
    expect(pages()).toEqual([]);
    expect(authorization.log.filter((line) => line.startsWith('POST'))).toEqual([]);
  });
});

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
