/** What a person reads when something is missing, and that following it helps. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KEYS, openHouse } from '../../../gateway/test/support/secured-gateway.js';
import { loginStage } from '../support/login-stage.js';

const NATIVE = {
  application_type: 'native',
  redirect_uris: ['http://localhost/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};

describe('what a command says about a login', () => {
  it('a tool that needs more scopes: exit code 5, and the line that asks for them (AUTH-C-081)', async () => {
    const { server, run, pages } = await loginStage();
    await run(['login', server.url]);
    const refused = await run(['call', server.url, 'write']);
    expect([refused.code, refused.stdout]).toEqual([5, '']);
    const line = `isthmus login ${server.url} --scope mcp:write`;
    expect(refused.stderr).toBe(
      `isthmus: ${server.url} needs a login for mcp:write: ${line}\nhint: ${line} asks for more\n`,
    );
    expect(pages()).toHaveLength(1);
    expect((await run(line.split(' ').slice(1))).code).toBe(0);
    expect(await run(['call', server.url, 'write'])).toMatchObject({ code: 0, stdout: 'written\n' });
    expect(await run(['call', server.url, 'read'])).toMatchObject({ code: 0, stdout: 'read\n' });
  });

  it('a name that is not a URL: what to write instead', async () => {
    const { run, home } = await loginStage();
    const unknown = await run(['login', 'issues']);
    expect([unknown.code, unknown.stderr.split('\n').slice(0, 2)]).toEqual([
      2,
      [
        'isthmus: "issues" is not a URL, and there is no configuration file with servers',
        `hint: isthmus login https://example.com/mcp; or --config FILE NAME; or define it in ${home}/.config/isthmus/mcp.json`,
      ],
    ]);
    const other = await run(['logout', 'ftp://example.com']);
    expect([
      other.code,
      other.stderr.includes('"ftp://example.com" is not an http:// or https:// URL'),
    ]).toEqual([2, true]);
  });

  it('a gateway that has only keys: that there is no login, and how a key is sent', async () => {
    const { run, pages } = await loginStage();
    const house = await openHouse([], { keys: KEYS });
    const url = house.at('/mcp');
    for (const way of [[], ['--device'], ['--no-browser']]) {
      const refused = await run(['login', url, ...way]);
      expect([refused.code, refused.stderr]).toEqual([
        5,
        `isthmus: ${house.origin} has no login: it names no authorization server, and ${house.origin}/register ` +
          'answers HTTP 401. If its operator gave you a key, send it with each request (headers, --header ' +
          '"Authorization: Bearer KEY"). If there is an authorization server, name it (issuer, --issuer)\n',
      ]);
    }
    const probed = await run(['probe', url]);
    expect(probed.stderr).toContain(
      'warning: The server names no authorization server. It may have no login and take a key: --header "Authorization: Bearer KEY" sends it',
    );
    expect(pages()).toEqual([]);
    // What the advice says works. A wrong key is called one.
    const list = ['list', url, '--header'];
    expect((await run([...list, 'Authorization: Bearer alice-9d81c04be7'])).code).toBe(0);
    const wrong = await run([...list, 'Authorization: Bearer alice-9d81c04be8']);
    expect([wrong.code, wrong.stderr]).toEqual([
      5,
      expect.stringContaining('The credential is not valid here'),
    ]);
  });

  it('a page that never comes back: what may have been wrong with the client', async () => {
    const { server, run } = await loginStage();
    const late = ['login', server.url, '--login-timeout', '1s'];
    const registered = await run([...late, '--no-browser']);
    expect(registered.code).toBe(5);
    expect(registered.stderr).toMatch(/hint: If the page said .*: --register registers a new client\n$/);
    // The page of the authorization server says that it does not know this client, and ends there.
    const unknown = await run([...late, '--client-id', 'unknown']);
    expect(unknown.code).toBe(5);
    expect(unknown.stderr).toMatch(/hint: If the page said .*: check --client-id, --callback-port/);
  });
});

describe('a login of a server that a file defines', () => {
  it('uses the client of the file, as every other command does', async () => {
    const { server, authorization, run, home } = await loginStage({
      clients: [{ ...NATIVE, client_id: 'of-the-file' }],
    });
    const file = join(home, 'mcp.json');
    const auth = { mode: 'login', clientId: 'of-the-file' };
    const robot = {
      mode: 'client-credentials',
      clientId: 'r',
      clientSecret: 's',
      issuer: authorization.issuer,
    };
    const mcpServers = { issues: { url: server.url, auth }, robot: { url: server.url, auth: robot } };
    writeFileSync(file, JSON.stringify({ mcpServers }));
    const login = await run(['login', '--config', file, 'issues', '--json']);
    expect(JSON.parse(login.stdout)).toMatchObject({ state: 'valid', clientId: 'of-the-file' });
    expect(authorization.log).not.toContain('POST /reg');
    expect((await run(['list', '--config', file, 'issues'])).code).toBe(0);
    const refused = await run(['login', '--config', file, 'robot']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(
      'robot has "auth": "client-credentials" in its file, which needs no login',
    );
  });
});
