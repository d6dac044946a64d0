// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the references of configuration files look like that.
/** `auth` of a URL: how a gateway logs in there. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readServers } from '../../src/config/index.js';
import { folderWith } from '../support/config.js';

async function read(auth: unknown, env: Record<string, string> = {}) {
  const cwd = folderWith({
    'mcp.json': JSON.stringify({ mcpServers: { a: { url: 'https://a.example/mcp', auth } } }),
  });
  const { servers, problems } = await readServers('mcp.json', { cwd, env });
  const { a } = servers;
  return {
    cwd,
    auth: a?.kind === 'url' ? a.auth : undefined,
    isUsable: a !== undefined,
    problems: problems.map(({ severity, key, message }) => `${severity} ${key}: ${message}`),
  };
}

describe('auth of a server', () => {
  it('is the name of a mode, or an object with one', async () => {
    expect(await read('login')).toMatchObject({ auth: { mode: 'stored' }, problems: [] });
    expect((await read({ mode: 'login', scopes: ['a', 'b'], resource: false })).auth).toEqual({
      mode: 'stored',
      scopes: ['a', 'b'],
      resource: false,
    });
  });

  it('takes references, and files relative to the project', async () => {
    const issuer = 'https://login.example';
    const given = { mode: 'client-credentials', clientId: 'gateway', issuer };
    const found = await read(
      { ...given, clientSecret: '${SECRET}', assumePkce: true, allowPrivate: true },
      { SECRET: 's3cret' },
    );
    expect(found.problems).toEqual([]);
    expect(found.auth).toEqual({
      ...{ ...given, clientSecret: 's3cret' },
      ...{ assumePkce: true, allowPrivateAddresses: true },
    });
    const { auth, cwd } = await read({ ...given, privateKeyFile: 'key.pem', keyId: 'k1' });
    expect(auth).toEqual({
      ...given,
      privateKey: { pem: { file: join(cwd, 'key.pem') }, algorithm: 'ES256', keyId: 'k1' },
    });
  });

  it('is left alone where it is that of another application', async () => {
    const modes = 'is not used: the modes are login, client-credentials, token-exchange, per-user';
    expect(await read('oauth')).toMatchObject({
      auth: undefined,
      isUsable: true,
      problems: [`warning mcpServers.a.auth: ${modes}`],
    });
    expect(await read({ CLIENT_ID: 'x' })).toMatchObject({
      isUsable: true,
      problems: [`warning mcpServers.a.auth: ${modes}`],
    });
  });

  it.each([
    [
      { mode: 'login', clientID: 'x' },
      'error mcpServers.a.auth.clientID: is not known; did you mean clientId?',
    ],
    [
      { mode: 'client-credentials', clientId: 'x' },
      'error mcpServers.a.auth: needs a clientId, and a clientSecret, a clientSecretFile or a privateKeyFile',
    ],
    [
      { mode: 'client-credentials', clientId: 'x', clientSecret: 'y' },
      'error mcpServers.a.auth: has a secret, which needs the issuer that it belongs to, or its tokenEndpoint',
    ],
    [
      { mode: 'token-exchange', clientId: 'x', privateKeyFile: 'key.pem' },
      'error mcpServers.a.auth: needs the issuer that gets the tokens of the callers, or its tokenEndpoint',
    ],
    [{ mode: 'login', audience: 'x' }, 'error mcpServers.a.auth.audience: is only for token-exchange'],
    [
      { mode: 'login', issuer: 'login.example' },
      'error mcpServers.a.auth.issuer: must be a URL that begins with https://',
    ],
    [{ mode: 'login', assumePkce: 1 }, 'error mcpServers.a.auth.assumePkce: must be true or false'],
    [{ mode: 'login', allowPrivate: 'yes' }, 'error mcpServers.a.auth.allowPrivate: must be true or false'],
    [
      { mode: 'login', clientMetadata: true },
      'error mcpServers.a.auth.clientMetadata: is only for per-user, and not beside a clientId',
    ],
    [
      { mode: 'per-user', clientMetadata: true, clientId: 'x' },
      'error mcpServers.a.auth.clientMetadata: is only for per-user, and not beside a clientId',
    ],
  ])('that cannot be used is an error of the server: %j', async (auth, problem) => {
    expect(await read(auth)).toMatchObject({ isUsable: false, problems: [problem] });
  });
});
