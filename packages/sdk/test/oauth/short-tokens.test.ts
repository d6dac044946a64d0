/** Tokens that live 2 s, for 60 s of calls. The time is that of the test: client and authorization server see the same. */
import { afterEach, expect, it, vi } from 'vitest';
import { connectTo, realStage } from '../../../../test/support/login-stage.js';

afterEach(() => void vi.useRealTimers());

const READ = [{ type: 'text', text: 'read' }];

it('no call fails, the user is asked once, and the tokens are renewed before their end', async () => {
  const { authorization, server } = await realStage({ accessTokenTtl: 2 });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const { client, pages } = await connectTo(server.url);
  server.log.length = 0;
  const outcomes: unknown[] = [];
  // 600 times 100 ms, with three calls that are under way at the same time.
  for (let step = 0; step < 600; step += 3) {
    const calls = [0, 1, 2].map(async () => {
      vi.setSystemTime(Date.now() + 100);
      outcomes.push((await client.callTool('read')).content);
    });
    await Promise.all(calls);
  }
  expect(outcomes).toEqual(Array(600).fill(READ));
  expect(pages).toHaveLength(1);
  const refreshes = authorization.log.filter((line) => line === 'POST /token refresh_token').length;
  // 60 s, renewed after 1.8 s at the earliest.
  expect(refreshes).toBeGreaterThanOrEqual(28);
  expect(refreshes).toBeLessThanOrEqual(34);
  expect(server.log.filter((line) => line !== '200')).toEqual([]);
}, 60_000);

it('a token that ends on its way costs a renewal, and no call', async () => {
  const { authorization, server } = await realStage({ accessTokenTtl: 2 });
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  const { client, pages } = await connectTo(server.url);
  for (let round = 0; round < 10; round += 1) {
    const before = server.log.length;
    // The request has left with a good token when the time jumps.
    const call = client.callTool('read');
    vi.setSystemTime(Date.now() + 2500);
    expect((await call).content).toEqual(READ);
    expect(server.log.slice(before).at(-1)).toBe('200');
  }
  expect(pages).toHaveLength(1);
  expect(authorization.log.filter((line) => line.includes('authorization_code'))).toHaveLength(1);
});
