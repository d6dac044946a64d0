/** A remote server that the gateway logs in to itself, with client credentials at a real authorization server. */
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import { describe, expect, it } from 'vitest';
import { realStage } from '../../../../test/support/login-stage.js';
import { eventually } from '../../../../test/support/until.js';
import type { GatewayServerSpec } from '../../src/server-definition.js';
import { connectV1, connectV2 } from '../support/official-clients.js';
import { freshFolder } from '../support/open-gateway.js';
import { ALICE, BOB, KEYS, openHouse } from '../support/secured-gateway.js';

const SECRET = 'a-secret-of-the-gateway-51';
const GRANT = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] };
const CLIENT = { ...GRANT, client_id: 'gateway', client_secret: SECRET };

function remote(url: string, auth: UrlAuth): GatewayServerSpec {
  return { kind: 'url', name: 'issues', url, transport: 'auto', headers: {}, auth };
}

describe('client credentials of a gateway', () => {
  it('serve official clients of both eras and two principals with one token, which is asked for once', async () => {
    const { authorization, server } = await realStage({ clients: [CLIENT] });
    const { issuer, log } = authorization;
    const auth = { mode: 'client-credentials', clientId: 'gateway', clientSecret: SECRET, issuer } as const;
    const house = await openHouse([remote(server.url, auth)], { keys: KEYS });
    const [v1, v2] = await Promise.all([
      connectV1(house.at('/mcp/issues'), ALICE),
      connectV2(house.at('/mcp/issues'), BOB),
    ]);
    const texts = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 ? v1 : v2).call('read')));
    expect(new Set(texts)).toEqual(new Set(['read']));
    expect(log.filter((line) => line.startsWith('POST /token'))).toEqual(['POST /token client_credentials']);
    // A tool that needs more scopes: the gateway asks for them once, without a person.
    expect(await v2.call('write')).toBe('written');
    expect(log.filter((line) => line.startsWith('POST /token'))).toHaveLength(2);
    expect(house.logged()).not.toContain(SECRET);
  });

  it('can be signed with a key from a file', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const file = join(freshFolder(), 'key.pem');
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const jwks = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256', use: 'sig' }] };
    const client = { ...GRANT, client_id: 'gateway', token_endpoint_auth_method: 'private_key_jwt', jwks };
    const { server } = await realStage({ clients: [client] });
    const privateKeyOfFile = { pem: { file }, algorithm: 'ES256', keyId: 'k1' };
    const auth = { mode: 'client-credentials', clientId: 'gateway', privateKey: privateKeyOfFile } as const;
    const house = await openHouse([remote(server.url, auth)]);
    expect(await (await connectV2(house.at('/mcp'))).call('read')).toBe('read');
  });

  it('that are refused become an error of the gateway and its status, and never a 401 (AUTH-G-012)', async () => {
    const { authorization, server } = await realStage({ clients: [CLIENT] });
    const { issuer } = authorization;
    const clientSecret = 'not-the-secret-of-the-gateway';
    const auth = { mode: 'client-credentials', clientId: 'gateway', clientSecret, issuer } as const;
    const house = await openHouse([remote(server.url, auth)]);
    await eventually(async () => {
      const { text } = await house.ask('/status', { method: 'GET' });
      expect(JSON.parse(text).servers.issues).toMatchObject({
        state: 'failed',
        reason: expect.stringContaining(`${issuer} gave no token: invalid_client`),
      });
    });
    const answer = await house.ask('/mcp/issues', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE }),
    });
    expect(answer.status).not.toBe(401);
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expect(answer.json.error).toMatchObject({
      code: -32603,
      message: expect.stringContaining('gave no token'),
      data: { reason: 'UNAUTHORIZED', sent: 'no' },
    });
    expect(house.logged()).not.toContain(clientSecret);
  });
});

const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'test', version: '1' },
};
