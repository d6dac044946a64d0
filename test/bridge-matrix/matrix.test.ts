import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { BRIDGE_ENV, LISTENERS, startBridge } from './bridge.js';
import { CLIENTS } from './clients/index.js';
import type { Session } from './clients/session.js';
import { tableInDocument, writeTable } from './document.js';
import { withV1 } from './features/fixtures.js';
import { Outcomes } from './outcomes.js';
import { playCells } from './play-cells.js';
import { startUpstream, UPSTREAMS, type Upstream } from './upstreams.js';

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
    for (const listener of listeners) {
      describe(`on ${listener}`, () => {
        playCells({ kind, listener, outcomes, start: () => startBridge(listener, upstream.address) });
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
