import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bearer, guarded, openAuthority } from '../../packages/gateway/test/support/auth.js';
import { freshFolder } from '../../packages/gateway/test/support/open-gateway.js';
import {
  ask,
  legacyRequest,
  modern,
  open,
  openSession,
  type Stream,
} from '../../packages/sdk/test/support/http-server.js';
import { FakeClock } from '../support/fake-clock.js';

const listen = (headers: Record<string, string>) =>
  modern(1, 'subscriptions/listen', { notifications: { toolsListChanged: true } }, { headers });
const get = (headers: Record<string, string>) => ({
  method: 'GET',
  headers: { accept: 'text/event-stream', ...headers },
});
/** The comments of a stream, once it has ended. */
const lastWords = async (stream: Stream) => {
  await expect.poll(() => stream.over).toBe(true);
  return stream.events.flatMap(({ comment }) => comment ?? []);
};

describe('S11: a token that was taken out of the file', () => {
  it('S11: ends the streams and the session that it opened, and no others', async () => {
    const file = join(freshFolder(), 'tokens');
    const write = (...lines: string[]) => writeFileSync(file, `${lines.join('\n')}\n`, { mode: 0o600 });
    write('alice: alice-9d81c04be7aa00', 'bob: bob-52f0aa613cbb1122');
    const { url } = await guarded({ bearerFile: file }, { keepAliveMs: 100, sse: true });
    const [alice, bob] = [bearer('alice-9d81c04be7aa00'), bearer('bob-52f0aa613cbb1122')];
    const openAll = async (headers: Record<string, string>) => {
      const session = await openSession(url, { headers });
      const news = await open(url, get({ ...headers, 'mcp-session-id': session.id }));
      const sse = await open(url.replace('/mcp', '/sse'), get(headers));
      return { session, streams: [await open(url, listen(headers)), news, sse] };
    };
    const [ofAlice, ofBob] = [await openAll(alice), await openAll(bob)];
    write('alice: alice-9d81c04be7aa00');
    for (const stream of ofBob.streams) {
      expect(await lastWords(stream)).toContain('the token was revoked: authorize again');
    }
    expect((await ask(url, listen(bob))).status).toBe(401);
    // Whoever is bob again finds that the session is gone.
    write('alice: alice-9d81c04be7aa00', 'bob: bob-fresh-52f0aa613c');
    const fresh = bearer('bob-fresh-52f0aa613c');
    await expect
      .poll(async () => (await ofBob.session.post(legacyRequest(2, 'ping'), fresh)).status)
      .toBe(404);
    expect(ofAlice.streams.map(({ over }) => over)).toEqual([false, false, false]);
    expect((await ofAlice.session.post(legacyRequest(2, 'ping'))).status).toBe(200);
  });
});

describe('S11: a token that has expired', () => {
  it('S11: ends the streams that it opened; the session waits for a fresh token', async () => {
    const authority = await openAuthority();
    const clock = new FakeClock();
    const jwt = { jwksUrl: authority.jwksUrl, audience: 'https://mcp.example.com', clockTolerance: 0 };
    const { url } = await guarded({ jwt, clock }, { keepAliveMs: 100 });
    const token = async (exp: number) => bearer(await authority.token({ exp }));
    const first = await token(1060);
    const session = await openSession(url, { headers: first });
    const streams = [
      await open(url, listen(first)),
      await open(url, get({ ...first, 'mcp-session-id': session.id })),
    ];
    clock.advance(61_000);
    for (const stream of streams) {
      expect(await lastWords(stream)).toContain('the token has expired: authorize again');
    }
    expect((await session.post(legacyRequest(2, 'ping'))).status).toBe(401);
    expect((await session.post(legacyRequest(2, 'ping'), await token(2000))).status).toBe(200);
  });
});
