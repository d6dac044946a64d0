import { describe, expect, it } from 'vitest';
import { bridgeToHttp } from '../support/bridge/between-http.js';

const DONE = { content: [{ type: 'text', text: 'done' }] };

describe('row 27: who asks', () => {
  it.each(['modern', 'legacy'] as const)(
    'is told to a %s server in words of the bridge alone',
    async (era) => {
      const { near, far } = await bridgeToHttp(era, {
        connecting: { headers: { authorization: 'Bearer far' } },
      });
      const client = near.modern({ principal: 'alice' });
      client.call(1, 'a');
      (await far.next()).answer({ resultType: 'complete', ...DONE });
      await client.next();
      for (const { headers } of far.seen) expect(headers.authorization).toBe('Bearer far');
      expect(JSON.stringify(far.seen.map(({ headers, message }) => [headers, message]))).not.toContain(
        'alice',
      );
    },
  );

  it.each([401, 403])(
    'is refused with %i at the start: an honest error, no verdict on the era, and another try',
    async (status) => {
      let refuses = true;
      const { near, far } = await bridgeToHttp('legacy', {
        prepare: (server) => {
          server.before = (exchange) => {
            if (refuses) exchange.status(status, { 'www-authenticate': 'Bearer realm="far"' });
            return refuses;
          };
        },
      });
      const client = near.modern();
      client.request(1, 'server/discover');
      const { error } = await client.next();
      expect(error).toMatchObject({ code: -32603, data: { status } });
      expect(far.methods).toEqual(['server/discover']);
      refuses = false;
      client.request(2, 'server/discover');
      expect((await client.next()).result.supportedVersions).toEqual(['2026-07-28']);
    },
  );

  it.each([
    ['modern', 401],
    ['legacy', 403],
  ] as const)('is refused in the middle by a %s server with %i: the call says so', async (era, status) => {
    const { near, far } = await bridgeToHttp(era, {
      connecting: { headers: { authorization: 'Bearer of the bridge' } },
    });
    for (const client of [await near.legacy(), near.modern()]) {
      client.call(1, 'a');
      (await far.next()).status(status, { 'www-authenticate': 'Bearer error="insufficient_scope"' });
      const { id, error } = await client.next();
      expect([id, error!.code]).toEqual([1, -32603]);
      expect(error!.data).toMatchObject({ reason: 'UNAUTHORIZED', status });
      expect(error!.message).toContain('insufficient_scope');
      expect(JSON.stringify(error)).not.toContain('of the bridge');
    }
  });
});
