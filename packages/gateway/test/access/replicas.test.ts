import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import { joinCluster, memoryStore } from '@isthmus/sdk/internal/transport/cluster.js';
import type { Authenticate } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { expect, it, onTestFinished } from 'vitest';
import { eventually } from '../../../../test/support/until.js';
import { initialize, legacy, legacyCall } from '../../../sdk/test/support/http-server.js';
import { as, byWrittenToken, PROTECTED, withHints } from '../support/scoped-tokens.js';
import { type House, openHouse } from '../support/secured-gateway.js';
import { openFar } from '../support/upstream.js';

/** Every caller needs `gw:use`. */
const allNeedUse: Authenticate = async (request) => {
  const verdict = await byWrittenToken(request);
  const isKnown = typeof verdict === 'object' && 'principal' in verdict;
  return isKnown ? { ...verdict, requiredScopes: ['gw:use'] } : verdict;
};

/** Two members of a cluster with the same servers. */
async function twoHouses(resource: string | undefined): Promise<House[]> {
  const { authorizationServers } = PROTECTED;
  const protectedResource = { authorizationServers, ...(resource !== undefined && { resource }) };
  const store = memoryStore();
  const clusters: Cluster[] = [];
  const secret = 'a secret of a test, with enough characters';
  for (let at = 0; at < 2; at += 1) clusters.push(await joinCluster({ secret, store }));
  await eventually(() => {
    for (const { members } of clusters) if (members.all.length < 2) throw new Error('not all joined');
  });
  const far = await openFar(withHints, { name: 'files' });
  const houses: House[] = [];
  for (const cluster of clusters) {
    houses.push(
      await openHouse([far.unit('files', { stateless: true })], {
        cluster,
        access: { scopes: { all: ['mcp:read'], readOnly: [], other: ['mcp:write'] } },
        endpoint: {
          authenticate: allNeedUse,
          protectedResource,
          trustProxy: ['loopback'],
        },
      }),
    );
  }
  onTestFinished(async () => {
    for (const { operation } of houses) await operation.close({ graceMs: 0 });
    for (const cluster of clusters) await cluster.leave();
  });
  return houses;
}

it.each([
  ['https://gw.example', {}, 'https://gw.example'],
  [
    undefined,
    { 'x-forwarded-host': 'public.example', 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' },
    'https://public.example',
  ],
])(
  'AUTH-S-007: a session at another member needs the same scopes, with the same challenge (resource: %s)',
  async (resource, forwarded, origin) => {
    const [home, entry] = await twoHouses(resource);
    const read = { ...as('ada/gw:use+mcp:read').headers, ...forwarded };
    const begun = await home!.ask('/mcp/files', legacy(initialize(1), read));
    const session = { ...read, 'mcp-session-id': String(begun.headers['mcp-session-id']) };
    for (const house of [home!, entry!]) {
      const read_one = await house.ask('/mcp/files', legacy(legacyCall(2, 'read_one'), session));
      expect(read_one.messages[0]!.result.content[0].text).toBe('read');
      const refused = await house.ask('/mcp/files', legacy(legacyCall(3, 'write_one'), session));
      expect([refused.status, refused.headers['www-authenticate']]).toEqual([
        403,
        `Bearer error="insufficient_scope", scope="gw:use mcp:read mcp:write", resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp/files", error_description="The token needs the scopes gw:use mcp:read mcp:write"`,
      ]);
      const more = { ...session, ...as('ada/gw:use+mcp:read+mcp:write').headers };
      const written = await house.ask('/mcp/files', legacy(legacyCall(4, 'write_one'), more));
      expect(written.messages[0]!.result.content[0].text).toBe('written');
      const other = { ...session, ...as('bob/gw:use+mcp:read+mcp:write').headers };
      expect((await house.ask('/mcp/files', legacy(legacyCall(5, 'read_one'), other))).status).toBe(404);
    }
  },
);
