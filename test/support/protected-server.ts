import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createMcpServer, httpHandler, serve } from '@isthmus/sdk';
import type Provider from 'oidc-provider';

/** An MCP server behind a guard that knows the tokens of an authorization server. */
export interface ProtectedServer {
  readonly url: string;
  /** The status of each MCP request, in order, with the scopes of its token. */
  readonly log: string[];
  /** Everything that reached it, as it was written. */
  received(): string;
  /** The same for each connection. */
  connections(): readonly string[];
  /** Names another authorization server from now on, and takes its tokens only. */
  move(authorization: { issuer: string; provider: Provider }): void;
  close(): Promise<void>;
}

export interface ProtectedServerOptions {
  /** Has the tool `whoami`, too: the account of the token, or the client where there is no account. */
  readonly tellsAccount?: boolean;
  readonly instructions?: string;
}

/** Tools: `read` needs `mcp:read`, `write` needs `mcp:write`. */
export async function startProtectedServer(
  authorization: { issuer: string; provider: Provider },
  { tellsAccount = false, ...more }: ProtectedServerOptions = {},
): Promise<ProtectedServer> {
  const log: string[] = [];
  const bytes: Buffer[] = [];
  const mcp = createMcpServer({ name: 'protected', version: '1', ...more });
  mcp.tool('read', { description: 'Reads' }, () => 'read');
  mcp.tool('write', { description: 'Writes' }, () => 'written');
  if (tellsAccount) mcp.tool('whoami', {}, (_args, ctx) => ctx.peer.principal ?? 'nobody');
  const endpoint = httpHandler({
    authenticate: async (request) => {
      const known = await find(bearerOf(request.header('authorization')));
      return known?.accountId ?? known?.clientId ?? 'nobody';
    },
  });
  const serving = await serve(mcp, endpoint);
  const find = async (token: string) =>
    token === ''
      ? undefined
      : ((await state.provider.AccessToken.find(token)) ??
        (await state.provider.ClientCredentials.find(token)));
  const server = createServer(async (request, response) => {
    const { origin } = state;
    if (request.url === '/.well-known/oauth-protected-resource/mcp') {
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({
          resource: `${origin}/mcp`,
          authorization_servers: [state.issuer],
          scopes_supported: ['mcp:read'],
        }),
      );
      return;
    }
    const metadata = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"`;
    const known = await find(bearerOf(request.headers.authorization));
    const isGood = known !== undefined && [known.aud].flat().includes(`${origin}/mcp`);
    if (!isGood) {
      log.push('401');
      response.writeHead(401, { 'www-authenticate': `Bearer scope="mcp:read", ${metadata}` }).end();
      return;
    }
    const scopes = (known.scope ?? '').split(' ');
    if (request.headers['mcp-name'] === 'write' && !scopes.includes('mcp:write')) {
      log.push('403');
      const challenge = `Bearer error="insufficient_scope", scope="mcp:write", ${metadata}`;
      response.writeHead(403, { 'www-authenticate': challenge }).end();
      return;
    }
    log.push('200');
    endpoint.node(request, response);
  });
  const byConnection: Buffer[][] = [];
  server.on('connection', (socket) => {
    const own: Buffer[] = [];
    byConnection.push(own);
    socket.on('data', (chunk: Buffer) => {
      bytes.push(chunk);
      own.push(chunk);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const state = { origin, issuer: authorization.issuer, provider: authorization.provider };
  return {
    url: `${origin}/mcp`,
    log,
    received: () => Buffer.concat(bytes).toString('latin1'),
    connections: () => byConnection.map((own) => Buffer.concat(own).toString('latin1')),
    move: ({ issuer, provider }) => void Object.assign(state, { issuer, provider }),
    async close() {
      await serving.close();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function bearerOf(header: string | undefined): string {
  return /^Bearer (.+)$/.exec(header ?? '')?.[1] ?? '';
}
