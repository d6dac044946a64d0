import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import { bearer, guarded } from '../support/auth.js';
import { freshFolder } from '../support/open-gateway.js';
import { publishedAuthority } from '../support/published-authority.js';

const KEY = 'bob-has-a-key-of-32-characters-00';
const REVOKED = [401, 'Bearer error="invalid_token", error_description="The credential was revoked"'];

async function stage(text: string) {
  const authority = await publishedAuthority();
  const denyFile = join(freshFolder(), 'deny.txt');
  writeFileSync(denyFile, text);
  const clock = new FakeClock();
  const auth = {
    apiKeys: [{ name: 'bob', key: KEY }],
    authServers: [{ issuer: authority.issuer, audience: 'app' }],
    ...{ denyFile, clock },
  };
  const write = (next: string) => {
    writeFileSync(denyFile, next);
    clock.advance(1000);
  };
  return { authority, write, auth, ...(await guarded(auth)) };
}

describe('a file of what is denied (G11)', () => {
  it.each([
    ['a token by its id', () => 'jti t-1'],
    ['a caller', (issuer: string) => `principal jwt:${issuer}|ada`],
    ['a client', () => '# of last week\nclient  desk # lost'],
  ])('refuses %s at once, and no other', async (_what, entry) => {
    const { authority, write, who } = await stage('');
    const token = await authority.token({ aud: 'app', jti: 't-1' });
    const other = await authority.token({ aud: 'app', jti: 't-2', sub: 'eve', client_id: 'phone' });
    expect(await who(bearer(token))).toBe(`jwt:${authority.issuer}|ada`);
    write(entry(authority.issuer));
    expect(await who(bearer(token))).toEqual(REVOKED);
    expect(await who(bearer(other))).toBe(`jwt:${authority.issuer}|eve`);
    expect(await who(bearer(KEY))).toBe('key:bob');
    write('');
    expect(await who(bearer(token))).toBe(`jwt:${authority.issuer}|ada`);
  });

  it('revokes what was opened before, also with a key', async () => {
    const { auth, write } = await stage('');
    const { authenticate } = createAuthenticate(auth);
    const header = (name: string) => (name === 'authorization' ? `Bearer ${KEY}` : undefined);
    const verdict = await authenticate({ method: 'POST', target: '/mcp', header });
    const { standing } = verdict as { standing(): Promise<string> };
    expect(await standing()).toBe('good');
    write('principal key:bob');
    expect(await standing()).toBe('revoked');
  });

  it('stays as it was while the file is broken or gone, and says so once', async () => {
    const { write, who, warnings } = await stage('principal key:bob');
    expect(await who(bearer(KEY))).toEqual(REVOKED);
    for (const text of ['deny key:eve', 'deny key:eve']) {
      write(text);
      expect(await who(bearer(KEY))).toEqual(REVOKED);
    }
    expect(warnings).toEqual([
      expect.stringMatching(
        /^Line 1 of .* is not `jti ID`, `principal NAME` or `client ID`; the entries read before stay in force$/,
      ),
    ]);
  });

  it('that cannot be read at the start is an error', () => {
    const denyFile = join(freshFolder(), 'none');
    expect(() => createAuthenticate({ apiKeys: [{ key: KEY }], denyFile })).toThrow(
      'The deny file cannot be read: there is no such file',
    );
  });
});
