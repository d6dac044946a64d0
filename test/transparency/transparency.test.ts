import { beforeAll, describe, expect, it } from 'vitest';
import { ensureBuilt } from '../../scripts/setup.js';
import { CLIENTS } from './clients/index.js';
import { compare, type Difference } from './compare.js';
import { type Cell, DIFFERENCES } from './differences.js';
import { listInDocument, toList, writeList } from './document.js';
import { playDirectly, playThrough } from './run.js';
import { SERVERS } from './servers.js';

/**
 * The same script, played directly and through `isthmus serve`, has the same outcome in every detail, apart from
 * what differences.ts lists; and that is to be seen exactly where the list says. The list is in docs/bridge.md, too:
 *
 *   ISTHMUS_WRITE_DIFFERENCES=1 npx vitest run test/transparency -t docs/bridge.md
 */
beforeAll(() => ensureBuilt());

describe.each(SERVERS)('through the bridge, $title', (server) => {
  for (const { client, over, otherEra } of CLIENTS) {
    const crossEra = !server.eras.includes(client.era);
    const baseline = crossEra ? otherEra : client;
    if (!baseline) continue;
    const cell: Cell = {
      ...{ server: server.name, client: client.name, over, crossEra },
      ...{ era: client.era, far: server.far },
    };
    it.concurrent(`is the same to ${client.title}, over ${over}`, async () => {
      const [direct, bridged] = await Promise.all([
        playDirectly(baseline, server),
        playThrough(over, client, server),
      ]);
      const found = compare(direct, bridged, over === 'stdio' && !crossEra);
      const here = DIFFERENCES.filter(({ where }) => where(cell));
      const unexplained = found.filter((each) => !here.some(({ matches }) => matches(each)));
      expect(unexplained.map(inShort), 'differences that nobody has explained').toEqual([]);
      const unseen = here.filter(({ matches, sometimes }) => !sometimes && !found.some(matches));
      expect(
        unseen.map(({ id }) => id),
        'differences that are gone',
      ).toEqual([]);
    }, 60_000);
  }
});

describe('docs/bridge.md', () => {
  it('lists the differences', () => {
    if (process.env['ISTHMUS_WRITE_DIFFERENCES']) writeList();
    expect(listInDocument()).toBe(toList());
  });
});

function inShort({ step, path, direct, bridged }: Difference): string {
  const cut = (value: unknown) => String(JSON.stringify(value)).slice(0, 300);
  return `${step} › ${path}: directly ${cut(direct)}, through the bridge ${cut(bridged)}`;
}
