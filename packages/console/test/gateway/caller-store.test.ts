import { describe, expect, it } from 'vitest';
import type { CallRow } from '../../src/contract.js';
import { CallerStore } from '../../src/gateway/caller-store.js';

const row = (server: string, principal?: string): CallRow => ({
  ...{ id: 1, method: 'tools/call', server, state: 'running', began: 0, own: false },
  client: { era: 'modern', revision: '2026-07-28', ...(principal !== undefined && { principal }) },
});
const limitOf = (server: string) => (server === 'weather' ? 2 : undefined);

describe('the callers of a gateway', () => {
  it('show how much of their limits they use, and what waits', () => {
    const callers = new CallerStore();
    const uses = () => callers.all(limitOf).map(({ principal, limits }) => [principal, limits]);
    for (const server of ['weather', 'weather', 'weather', 'notes']) callers.began(row(server, 'key:ci'), 1);
    callers.began(row('weather'), 2);
    expect(uses()).toEqual([
      ['key:ci', [{ server: 'weather', running: 2, waiting: 1, of: 2 }]],
      // Clients without a principal are several callers, and each has its own share.
      [undefined, []],
    ]);
    for (let ended = 0; ended < 2; ended += 1) callers.ended({ ...row('weather', 'key:ci'), outcome: 'ok' });
    expect(uses()[0]).toEqual(['key:ci', [{ server: 'weather', running: 1, waiting: 0, of: 2 }]]);
  });
});
