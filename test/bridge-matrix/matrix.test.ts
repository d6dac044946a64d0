import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { BRIDGE_ENV, type Bridge, LISTENERS, type Listener, startBridge } from './bridge.js';
import { CLIENTS } from './clients/index.js';
import type { ClientKind, Session } from './clients/session.js';
import { tableInDocument, writeTable } from './document.js';
import { FEATURES } from './features/feature.js';
import { withV1 } from './features/fixtures.js';
import { type Cell, limitOf } from './limits.js';
import { Outcomes } from './outcomes.js';
import { startUpstream, UPSTREAMS, type Upstream, type UpstreamKind } from './upstreams.js';

/**
 * `isthmus serve` between official clients and official servers of both eras. What cannot work is in limits.ts,
 * and is tried all the same. The table in docs/bridge.md is what this run finds; to write it:
 *
 *   ISTHMUS_WRITE_MATRIX=1 npx vitest run test/bridge-matrix/matrix.test.ts
 */
const outcomes = new Outcomes();

const { ISTHMUS_LONG, ISTHMUS_WRITE_MATRIX } = process.env;
const isWhole = ISTHMUS_LONG === '1' || ISTHMUS_WRITE_MATRIX !== undefined;
/** Over stdio it is the same once more: `npm run test:long`, which also looks at the table. */
const listeners = isWhole ? LISTENERS : (['http'] as const);

beforeAll(() => ensureBuilt());

for (const kind of UPSTREAMS) {
  describe(`before ${kind.title}`, () => {
    let upstream: Upstream;
    beforeAll(async () => {
      upstream = await startUpstream(kind);
    });
    afterAll(() => upstream?.close());
    for (const listener of listeners) tellOf(kind, listener, () => upstream);
  });
}

function tellOf(kind: UpstreamKind, listener: Listener, upstream: () => Upstream): void {
  describe(`on ${listener}`, () => {
    let bridge: Bridge;
    let sessions: Map<string, Promise<Session>>;
    beforeAll(async () => {
      bridge = await startBridge(listener, upstream().address);
      const open = async ({ connect }: ClientKind) => {
        const session = await connect(bridge.address, BRIDGE_ENV);
        await kind.settle?.(session);
        return session;
      };
      sessions = new Map(CLIENTS.map((client) => [client.name, open(client)]));
      await Promise.allSettled(sessions.values());
    });
    afterAll(async () => {
      const settled = await Promise.allSettled(sessions?.values() ?? []);
      await Promise.all(settled.map((one) => one.status === 'fulfilled' && one.value.close()));
      const ended = await bridge?.close();
      if (ended) expect(ended).toEqual({ code: 0, signal: null });
    });

    for (const client of CLIENTS) {
      const cell: Cell = { client: client.name, upstream: kind.name, listener };

      describe(client.title, () => {
        it('connects in the era that it prefers', async () => {
          const session = await sessions.get(client.name)!;
          expect(session.revision).toBe(client.eras[0] === 'modern' ? '2026-07-28' : '2025-11-25');
        });

        it.each(FEATURES)('%s', async (feature) => {
          const play = kind.plays[feature];
          if (typeof play === 'string') return outcomes.set(cell, feature, { because: play });
          const limit = limitOf(cell, feature);
          outcomes.set(cell, feature, 'fails');
          const played = sessions.get(client.name)!.then(play);
          if (limit) await expect(played, limit.reason).rejects.toThrow(limit.shows);
          else await played;
          const remark = kind.remarks?.[feature];
          outcomes.set(cell, feature, limit ? { because: limit.reason } : { works: true, remark });
        });

        it('has nothing to complain about', async () => {
          expect((await sessions.get(client.name)!).complaints).toEqual([]);
        });
      });
    }
  });
}

it('asks each legacy client outside of calls, when each has a process of its own', async () => {
  const [kind] = UPSTREAMS;
  const { address } = await startUpstream(kind!);
  const bridge = await startBridge('http', address, '--processes', 'per-conversation');
  onTestFinished(async () => void (await bridge.close()));
  const legacy = CLIENTS.filter(({ eras }) => eras[0] === 'legacy');
  const sessions = await Promise.all(legacy.map(({ connect }) => connect(bridge.address, BRIDGE_ENV)));
  onTestFinished(async () => void (await Promise.all(sessions.map((session) => session.close()))));
  expect(sessions).toHaveLength(2);
  await Promise.all(sessions.map(withV1['outside calls'] as (session: Session) => Promise<void>));
});

describe('docs/bridge.md', () => {
  it('has the table that this run found', ({ skip }) => {
    if (!outcomes.areComplete) skip('only a part of the matrix was run');
    if (ISTHMUS_WRITE_MATRIX) writeTable(outcomes.toTable());
    expect(tableInDocument()).toBe(outcomes.toTable());
  });
});
