import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLIENTS } from '../../../../test/bridge-matrix/clients/index.js';
import type { Session } from '../../../../test/bridge-matrix/clients/session.js';
import { withV1, withV2 } from '../../../../test/bridge-matrix/features/fixtures.js';
import { createGateway, type Gateway } from '../../src/create-gateway.js';
import { commandUnit, demoUnit } from '../support/server-definitions.js';
import { underPrefix } from '../support/under-prefix.js';

/** Official clients and servers of both eras, with all servers as one between them. */
const FEATURES = [
  'call',
  'progress',
  'cancel',
  'elicit',
  'sample',
  'roots',
  'log',
  'complete',
  'read',
  'subscribe',
  'list change',
] as const;

describe.each([
  ['a legacy', 'v1-stdio.mjs', withV1],
  ['a modern', 'v2-stdio.mjs', withV2],
] as const)('through all servers as one, to %s server', (_era, program, plays) => {
  let gateway: Gateway;
  const sessions = new Map<string, Session>();

  beforeAll(async () => {
    const path = fileURLToPath(
      new URL(`../../../../test/bridge-matrix/fixtures/${program}`, import.meta.url),
    );
    gateway = await createGateway({
      units: [commandUnit('far', [path]), demoUnit('demo')],
      addresses: ['http://127.0.0.1:0/mcp'],
      host: { ledger: false, cache: false },
    });
    const [url] = gateway.addresses as [string];
    for (const client of CLIENTS) sessions.set(client.name, await client.connect({ url }, {}));
  });

  afterAll(async () => {
    for (const session of sessions.values()) await session.close();
    await gateway?.close({ graceMs: 0 });
  });

  describe.each(['v1', 'v2-modern', 'v2-legacy'])('from an official client (%s)', (kind) => {
    it.each(FEATURES)('%s', async (feature) => {
      const session = sessions.get(kind)!;
      const play = plays[feature];
      if (typeof play === 'string') throw new Error(play);
      const own = underPrefix(session, 'far__');
      await play(own);
      session.answers = own.answers;
    });

    it('and the neighbour is still there, and nobody complains', async () => {
      const session = sessions.get(kind)!;
      expect((await session.call('demo__echo', { text: 'hi' })).content).toEqual([
        { type: 'text', text: 'hi' },
      ]);
      expect(session.complaints).toEqual([]);
    });
  });
});
