import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BRIDGE_ENV, type Bridge, type Listener } from './bridge.js';
import { CLIENTS } from './clients/index.js';
import type { ClientKind, Session } from './clients/session.js';
import { FEATURES } from './features/feature.js';
import { type Cell, limitOf } from './limits.js';
import type { Outcomes } from './outcomes.js';
import type { UpstreamKind } from './upstreams.js';

export interface PlayedCells {
  readonly kind: UpstreamKind;
  readonly listener: Listener;
  /** Starts what stands between the clients and the server. */
  start(): Promise<Bridge>;
  readonly outcomes: Outcomes;
}

/** Declares the tests of all clients with one server. */
export function playCells({ kind, listener, start, outcomes }: PlayedCells): void {
  let bridge: Bridge;
  let sessions: Map<string, Promise<Session>>;
  beforeAll(async () => {
    bridge = await start();
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
}
