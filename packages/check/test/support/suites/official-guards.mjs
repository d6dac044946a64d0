import { createServer } from 'node:http';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth as requireV1 } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  createMcpHandler,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
} from '@modelcontextprotocol/server';
import express from 'express';
import { createLocalJWKSet, exportJWK, jwtVerify } from 'jose';
import { createV1 } from '../../../../../test/bridge-matrix/fixtures/v1-parts.mjs';
import { createV2 } from '../../../../../test/bridge-matrix/fixtures/v2-parts.mjs';
import { v1Sessions } from '../../../../../test/support/official-v1-http.mjs';

const METADATA_URL = 'https://guarded.example/.well-known/oauth-protected-resource/mcp';

/** Verifies as the documentation of the official SDK shows: with jose, for this audience and this issuer. */
async function verified(token, { audience, issuer, publicKey }) {
  const keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] });
  const { payload } = await jwtVerify(token, keys, { audience, issuer });
  const scopes = String(payload['scope'] ?? '').split(' ');
  return {
    token,
    clientId: String(payload.sub),
    scopes,
    expiresAt: payload.exp,
    extra: { sub: payload.sub },
  };
}

async function listening(listener) {
  const server = createServer(listener);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The official server of both eras behind its own gate for tokens. */
export function officialV2(trust) {
  const handler = createMcpHandler(() => createV2(handler.notify));
  const handle = toNodeHandler(handler);
  const gate = requireBearerAuth({
    verifier: {
      verifyAccessToken: (token) =>
        verified(token, trust).catch(() => {
          throw new OAuthError(OAuthErrorCode.InvalidToken, 'The token cannot be verified');
        }),
    },
    requiredScopes: ['read', 'call', 'write'],
    resourceMetadataUrl: METADATA_URL,
  });
  return listening((request, response) => {
    const { authorization = '' } = request.headers;
    void gate(new Request('http://127.0.0.1/mcp', { headers: { authorization } })).then(async (verdict) => {
      if (!(verdict instanceof Response)) return handle(request, response);
      response.writeHead(verdict.status, Object.fromEntries(verdict.headers)).end(await verdict.text());
    });
  });
}

/** The official legacy server behind its own middleware for tokens. */
export function officialV1(trust) {
  const { handle } = v1Sessions(createV1, {});
  const app = express();
  const guard = requireV1({
    verifier: {
      verifyAccessToken: (token) =>
        verified(token, trust).catch(() => {
          throw new InvalidTokenError('The token cannot be verified');
        }),
    },
    requiredScopes: ['read', 'call', 'write'],
    resourceMetadataUrl: METADATA_URL,
  });
  app.use('/mcp', guard, (request, response) => void handle(request, response));
  return listening(app);
}
