import { request } from 'node:https';
import { describe, expect, it } from 'vitest';
import { hasOpenssl, makeCertificates } from '../../../../../test/support/certificates.js';
import { eventually } from '../../../../../test/support/until.js';
import { memoryStore } from '../../../src/transport/cluster.js';
import { openWandering, startMember, startMembers, type TestMember } from '../../support/cluster.js';
import { legacyCall, plainServer } from '../../support/http-server.js';

const [OLD, NEW] = ['the old secret, with enough characters', 'the new secret, with enough characters'];

describe('the secret of a cluster', () => {
  it.each([
    [[OLD], [OLD, NEW]],
    [
      [OLD, NEW],
      [NEW, OLD],
    ],
    [[NEW, OLD], [NEW]],
  ])('can be replaced: members with %j and %j serve the sessions of each other', async (first, second) => {
    const store = memoryStore();
    const members: TestMember[] = [];
    for (const secret of [first, second]) {
      members.push(await startMember(plainServer(), { join: { store, secret } }));
    }
    const urls = members.map(({ url }) => url);
    await eventually(() => {
      for (const { cluster } of members) expect(cluster.members.all.length).toBe(2);
    });
    for (const [at, from] of [urls, [...urls].reverse()].entries()) {
      const session = await openWandering(from);
      expect(session.id.split('.')[0]).toBe(members[at]!.id);
      const { json } = await session.post(legacyCall(1, 'echo', { text: 'x' }), 1);
      expect(json.result.content).toEqual([{ type: 'text', text: 'x' }]);
    }
    // And take them over, with the record that the other one has sealed.
    const session = await openWandering(urls);
    await members[0]!.kill();
    const { json } = await session.post(legacyCall(2, 'echo', { text: 'y' }), 1);
    expect(json.result.content).toEqual([{ type: 'text', text: 'y' }]);
  });

  it('keeps strangers out: members with different secrets do not know each other', async () => {
    const store = memoryStore();
    const one = await startMember(plainServer(), { join: { store, secret: OLD } });
    const other = await startMember(plainServer(), { join: { store, secret: NEW } });
    const session = await openWandering([one.url, other.url]);
    expect(other.cluster.members.all.map(({ id }) => id)).toEqual([other.id]);
    expect((await session.post(legacyCall(1, 'echo', { text: 'x' }), 1)).status).toBe(404);
  });
});

describe.skipIf(!hasOpenssl)('TLS between members (skipped without openssl)', () => {
  it('hands sessions on, and refuses those without a certificate of the authority', async () => {
    const tls = makeCertificates().texts;
    const members = await startMembers(2, plainServer, { join: { tls } });
    const { address } = members[0]!.cluster.members.own;
    expect(address.startsWith('https://')).toBe(true);
    const session = await openWandering(members.map(({ url }) => url));
    const { json } = await session.post(legacyCall(1, 'echo', { text: 'x' }), 1);
    expect(json.result.content).toEqual([{ type: 'text', text: 'x' }]);
    expect(members[1]!.cluster.counts.handedOn).toBeGreaterThan(0);
    expect(await knock(address, { ca: tls.ca })).toMatch(/certificate|alert|ECONNRESET|socket hang up/i);
    expect(await knock(address, tls)).toBe('403');
  });
});

/** What a stranger gets: a status, or why there is none. */
function knock(address: string, tls: { ca: string; cert?: string; key?: string }): Promise<string> {
  return new Promise((resolve) => {
    const knocking = request(address, { method: 'POST', agent: false, ...tls }, (answer) => {
      answer.resume();
      resolve(String(answer.statusCode));
    });
    knocking.on('error', (error: NodeJS.ErrnoException) => resolve(`${error.code} ${error.message}`));
    knocking.end('x');
  });
}
