import { describe, expect, it } from 'vitest';
import { AUDIENCE, bearer, guarded, openAuthority } from '../support/auth.js';
import { connectV1, connectV2 } from '../support/official-clients.js';

const KEY = 'ada-has-a-key-of-32-characters-00';

describe.each([
  ['the official v1 client', connectV1],
  ['the official v2 client', connectV2],
])('%s', (_title, connect) => {
  it('comes in with a key, by either header', async () => {
    const { url } = await guarded({ apiKeys: [{ name: 'ada', key: KEY }] });
    expect(await (await connect(url, bearer(KEY))).call('who')).toBe('key:ada');
    expect(await (await connect(url, { 'x-api-key': KEY })).call('who')).toBe('key:ada');
  });

  it('comes in with a token of an authorization server', async () => {
    const authority = await openAuthority();
    const { url } = await guarded({ jwt: { jwksUrl: authority.jwksUrl, audience: AUDIENCE } });
    const client = await connect(url, bearer(await authority.token()));
    expect(await client.call('who')).toBe('jwt:https://login.example.com|ada');
  });

  it('is refused without one, and with a wrong one', async () => {
    const { url } = await guarded({ apiKeys: [{ name: 'ada', key: KEY }] });
    await expect(connect(url)).rejects.toThrow(/Authorization is required|Unauthorized|401/i);
    await expect(connect(url, bearer('wrong'))).rejects.toThrow(
      /Authorization is required|Unauthorized|401/i,
    );
  });

  it('is told to come back while nobody can be told from anybody', async () => {
    const authority = await openAuthority();
    authority.behave('down');
    const { url } = await guarded({ jwt: { jwksUrl: authority.jwksUrl, audience: AUDIENCE } });
    await expect(connect(url, bearer(await authority.token()))).rejects.toThrow(/try again later|503/);
  });
});
