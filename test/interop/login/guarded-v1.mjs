// A server of version 1 of the official SDK with its own authorization server. Without types: express has none here.
import { randomUUID } from 'node:crypto';
import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js';
import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import {
  getOAuthProtectedResourceMetadataUrl,
  mcpAuthRouter,
} from '@modelcontextprotocol/sdk/server/auth/router.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import express from 'express';
import { v1Sessions } from '../../support/official-v1-http.mjs';

/** The demo of the SDK, with refresh tokens that are used once. */
class RotatingAuthProvider extends DemoInMemoryAuthProvider {
  #refresh = new Map();
  #access = new Map();
  refreshes = 0;

  async exchangeAuthorizationCode(client, code) {
    const { access_token } = await super.exchangeAuthorizationCode(client, code, undefined);
    const { scopes, resource } = await super.verifyAccessToken(access_token);
    return this.#issue(client.client_id, scopes, resource);
  }

  async exchangeRefreshToken(client, refreshToken) {
    const found = this.#refresh.get(refreshToken);
    this.#refresh.delete(refreshToken);
    this.refreshes += 1;
    if (found?.client !== client.client_id) throw new InvalidGrantError('used before');
    return this.#issue(found.client, found.scopes, found.resource);
  }

  async verifyAccessToken(token) {
    const found = this.#access.get(token);
    if (!found) throw new InvalidTokenError('unknown token');
    return found;
  }

  /** Ends all access tokens. */
  expire() {
    this.#access.clear();
  }

  #issue(client, scopes, resource) {
    const [access, refresh] = [randomUUID(), randomUUID()];
    const expiresAt = Math.floor(Date.now() / 1000) + 3600;
    this.#access.set(access, { token: access, clientId: client, scopes, expiresAt, resource });
    this.#refresh.set(refresh, { client, scopes, resource });
    const scope = scopes.join(' ');
    return { access_token: access, token_type: 'bearer', expires_in: 3600, refresh_token: refresh, scope };
  }
}

/** `mcpAuthRouter` and `requireBearerAuth`, with legacy sessions behind them. */
export function openGuardedV1(origin) {
  const provider = new RotatingAuthProvider();
  const statuses = [];
  const { handle, forget } = v1Sessions(() => {
    const server = new McpServer({ name: 'guarded-v1', version: '1' });
    server.registerTool('read', {}, () => ({ content: [{ type: 'text', text: 'read' }] }));
    server.registerTool('write', {}, () => ({ content: [{ type: 'text', text: 'written' }] }));
    return server;
  });
  const [issuerUrl, resourceServerUrl] = [new URL(origin), new URL(`${origin}/mcp`)];
  const gate = (scope) =>
    requireBearerAuth({
      verifier: provider,
      requiredScopes: [scope],
      expectedResource: resourceServerUrl,
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
    });
  const [read, write] = [gate('mcp:read'), gate('mcp:write')];
  const app = express();
  const scopesSupported = ['mcp:read', 'mcp:write'];
  app.use(mcpAuthRouter({ provider, issuerUrl, resourceServerUrl, scopesSupported }));
  app.use('/mcp', express.json(), (request, response, next) => {
    response.on('finish', () => statuses.push(response.statusCode));
    const isWrite = request.body?.params?.name === 'write';
    read(request, response, (error) => (isWrite && !error ? write(request, response, next) : next(error)));
  });
  app.all('/mcp', (request, response) => void handle(request, response));
  return { listener: app, statuses, provider, forget };
}
