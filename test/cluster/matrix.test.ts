import { afterAll, beforeAll, describe } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { BRIDGE_ENV } from '../bridge-matrix/bridge.js';
import { Outcomes } from '../bridge-matrix/outcomes.js';
import { playCells } from '../bridge-matrix/play-cells.js';
import { startUpstream, UPSTREAMS, type Upstream } from '../bridge-matrix/upstreams.js';
import { hasClusterTools, startCluster } from './support.js';

/** The matrix of test/bridge-matrix with three bridges behind nginx. All of them reach the same server by its URL. */
const outcomes = new Outcomes();

beforeAll(() => ensureBuilt());

describe.skipIf(!hasClusterTools)(
  'three bridges behind nginx (skipped without redis-server and nginx)',
  () => {
    describe.each(UPSTREAMS.filter(({ isHttp }) => isHttp))('before $title', (kind) => {
      let upstream: Upstream;
      beforeAll(async () => {
        upstream = await startUpstream(kind);
      });
      afterAll(() => upstream?.close());

      playCells({ kind, listener: 'http', outcomes, start: () => startBridges(upstream) });
    });
  },
);

async function startBridges({ address }: Upstream) {
  const behind = 'url' in address ? ['--upstream', address.url] : ['--', address.command, ...address.args];
  const { url, stop } = await startCluster({ args: behind, env: BRIDGE_ENV });
  return {
    address: { url },
    async close() {
      await stop();
      return undefined;
    },
  };
}
