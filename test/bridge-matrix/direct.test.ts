import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENTS } from './clients/index.js';
import type { Session } from './clients/session.js';
import { FEATURES } from './features/feature.js';
import { startUpstream, UPSTREAMS, type Upstream } from './upstreams.js';

/**
 * The baseline: the same clients and servers without a bridge, where their eras meet. What does not work here
 * is not the bridge's fault.
 */
for (const kind of UPSTREAMS) {
  describe(`${kind.title}, without a bridge`, () => {
    let upstream: Upstream;
    beforeAll(async () => {
      upstream = await startUpstream(kind);
    });
    afterAll(() => upstream?.close());

    for (const client of CLIENTS.filter(({ eras }) => eras.includes(kind.era))) {
      describe(client.title, () => {
        let session: Session;
        beforeAll(async () => {
          session = await client.connect(upstream.address, {});
          await kind.settle?.(session);
        });
        afterAll(() => session?.close());

        it.each(FEATURES)('%s', async (feature) => {
          const play = kind.plays[feature];
          if (typeof play !== 'string') await play(session);
        });

        it('has nothing to complain about', () => {
          expect(session.complaints).toEqual([]);
        });
      });
    }
  });
}
