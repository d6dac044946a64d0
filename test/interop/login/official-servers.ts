import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toNodeHandler } from '@modelcontextprotocol/node';
import {
  type AuthInfo,
  createMcpHandler,
  getOAuthProtectedResourceMetadataUrl,
  McpServer,
  OAuthError,
  OAuthErrorCode,
  oauthMetadataResponse,
  requireBearerAuth,
  requireScopes,
} from '@modelcontextprotocol/server';
import { onTestFinished } from 'vitest';
import type { TestAuthorizationServer } from '../../support/authorization-server.js';
import { openGuardedV1 } from './guarded-v1.mjs';

/** A server of the official SDK, guarded by the helpers of that SDK. */
export interface GuardedServer {
  readonly url: string;
  /** The status of each MCP request. */
  readonly statuses: number[];
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });

async function listen(open: (origin: string) => RequestListener): Promise<string> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', open(origin));
  return origin;
}

/** Version 1: its own authorization server (`mcpAuthRouter`), and `requireBearerAuth`. Legacy sessions. */
export async function guardedV1() {
  let opened: ReturnType<typeof openGuardedV1> | undefined;
  const origin = await listen((own) => {
    opened = openGuardedV1(own);
    return opened.listener;
  });
  const { provider, statuses, forget } = opened!;
  onTestFinished(() => void forget());
  return { url: `${origin}/mcp`, statuses, provider };
}

/** Version 2: the fetch helpers of `@modelcontextprotocol/server`, with a real authorization server elsewhere. Modern only. */
export async function guardedV2(authorization: TestAuthorizationServer): Promise<GuardedServer> {
  const statuses: number[] = [];
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'guarded-v2', version: '1' });
    server.registerTool('read', {}, () => text('read'));
    server.registerTool('write', { scopeChallenge: requireScopes('mcp:write') }, () => text('written'));
    return server;
  });
  const published = await fetch(`${authorization.issuer}/.well-known/oauth-authorization-server`);
  const oauthMetadata = (await published.json()) as Parameters<
    typeof oauthMetadataResponse
  >[1]['oauthMetadata'];
  const verifier = {
    async verifyAccessToken(token: string): Promise<AuthInfo> {
      const found = await authorization.provider.AccessToken.find(token);
      if (!found) throw new OAuthError(OAuthErrorCode.InvalidToken, 'unknown token');
      const scopes = (found.scope ?? '').split(' ');
      const expiresAt = Math.floor(Date.now() / 1000) + 60;
      return { token, clientId: 'client', scopes, expiresAt, resource: new URL(String(found.aud)) };
    },
  };
  const origin = await listen((own) => {
    const resourceServerUrl = new URL(`${own}/mcp`);
    const gate = requireBearerAuth({
      ...{ verifier, requiredScopes: ['mcp:read'], expectedResource: resourceServerUrl },
      resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resourceServerUrl),
    });
    const metadata = {
      ...{ oauthMetadata, resourceServerUrl, scopesSupported: ['mcp:read'] },
      dangerouslyAllowInsecureIssuerUrl: true,
    };
    const serveGuarded = async (request: Request): Promise<Response> => {
      const found = oauthMetadataResponse(request, metadata);
      if (found) return found;
      const auth = await gate(request);
      return auth instanceof Response ? auth : handler.fetch(request, { authInfo: auth });
    };
    const counted = async (request: Request) => {
      const response = await serveGuarded(request);
      if (new URL(request.url).pathname === '/mcp') statuses.push(response.status);
      return response;
    };
    return toNodeHandler({ ...handler, fetch: counted });
  });
  return { url: `${origin}/mcp`, statuses };
}
