import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Report } from '@isthmus/check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toTokens } from '../../src/check/to-tokens.js';
import { CliError } from '../../src/cli-error.js';
import type { CommandTarget } from '../../src/target.js';
import { freeFolder, isthmus } from '../support/isthmus.js';
import { HTTP, startServe } from '../support/serve.js';

const AUDIENCE = 'https://mcp.example/mcp';
const ISSUER = 'https://login.example';
const CLAIMS = JSON.stringify({ iss: ISSUER, aud: AUDIENCE, sub: 'ann', scope: 'use' });
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

describe('isthmus check with tokens', () => {
  const keys = createServer((_request, response) => {
    const key = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [key] }));
  });
  let jwks: string;

  beforeAll(async () => {
    await new Promise<void>((resolve) => keys.listen(0, '127.0.0.1', resolve));
    jwks = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/keys`;
  });
  afterAll(() => {
    keys.closeAllConnections();
    keys.close();
  });

  it('AUTH-030, AUTH-031, AUTH-036: holds for isthmus serve with JWTs', async () => {
    const { url } = await startServe(
      ...HTTP,
      ...['--jwt-jwks', jwks, '--jwt-audience', AUDIENCE, '--jwt-issuer', ISSUER, '--jwt-scope', 'use'],
      ...['--auth-server', ISSUER],
    );
    const key = join(freeFolder(), 'issuer.json');
    writeFileSync(key, JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256' }));
    const { code, stdout, stderr } = await isthmus(
      ...['check', url, '--token-key', key, '--token-claims', CLAIMS, '--weak-scope', 'look'],
      ...['--only', 'http-tokens/*', '--no-tools', '--allow', 'echo', '--json'],
    );
    const report = JSON.parse(stdout) as Report;
    expect(report.findings.map(({ id, outcome }) => `${outcome} ${id}`)).toEqual([
      'pass http-tokens/good',
      'pass http-tokens/expired',
      'pass http-tokens/foreign-audience',
      'pass http-tokens/no-audience',
      'pass http-tokens/foreign-issuer',
      'pass http-tokens/not-yet-valid',
      'pass http-tokens/changed',
      'pass http-tokens/unsigned',
      'pass http-tokens/strange-key',
      'pass http-tokens/says-invalid-token',
      'pass http-tokens/weak',
      'pass http-tokens/weak-complete',
      // Nothing says which scope contains which.
      'skip http-tokens/broad',
      'pass http-tokens/sessions-apart',
    ]);
    expect(code).toBe(0);
    expect(stdout + stderr).not.toMatch(/eyJ/);
  });

  it.each([
    [{ token: ['weak=eyJhbGciOi.secret.x'] }, /needs env:NAME or file:PATH/],
    [{ token: ['wek=env:X'] }, /begins with its kind/],
    [{ token: ['eyJhbGciOi.secret'] }, /begins with its kind/],
    [{ token: ['weak=env:NO_SUCH_VARIABLE'] }, /env:NO_SUCH_VARIABLE has no token/],
    [{ token: ['weak=file:/no/such/file'] }, /cannot be read/],
    [{ weakScope: 'use' }, /--weak-scope needs --token-key/],
    [{ tokenKey: '/dev/null' }, /neither a private key/],
  ])('refuses %j, and repeats no token', async (options, message) => {
    const refusal = await toTokens(options, AT_URL).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(CliError);
    expect((refusal as CliError).message).toMatch(message);
    expect(JSON.stringify(refusal) + String(refusal)).not.toMatch(/secret|eyJ/);
  });

  it('refuses tokens for a command', async () => {
    const command = { ...AT_URL, kind: 'command', command: 'node', args: [] } as unknown as CommandTarget;
    await expect(toTokens({ token: ['good=env:PATH'] }, command)).rejects.toThrow(
      '--token is for a server at a URL',
    );
  });

  it('reads tokens from the environment and from files', async () => {
    const file = join(freeFolder(), 'weak.txt');
    writeFileSync(file, 'a-weak-token\n');
    process.env['TOKEN_OF_THIS_TEST'] = 'a-good-token';
    try {
      const tokens = await toTokens({ token: ['good=env:TOKEN_OF_THIS_TEST', `weak=file:${file}`] }, AT_URL);
      expect(tokens).toEqual({ given: { good: 'a-good-token', weak: 'a-weak-token' } });
    } finally {
      delete process.env['TOKEN_OF_THIS_TEST'];
    }
  });
});

const AT_URL = { kind: 'url', url: 'http://127.0.0.1:9/mcp', headers: {} } as unknown as CommandTarget;
