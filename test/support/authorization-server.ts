import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A real authorization server (oidc-provider) on a loopback port. */
export interface TestAuthorizationServer {
  readonly issuer: string;
  /** Every request, as `POST /token grant_type=refresh_token`. */
  readonly log: string[];
  readonly provider: Provider;
  /** Publishes a client metadata document (CIMD) at an https URL that only this server can read. */
  publish(url: string, document: object): void;
  /** Forgets a registered client, as a restart without storage does. */
  forget(clientId: string): Promise<void>;
  close(): Promise<void>;
}

export interface AuthorizationServerOptions {
  /** Seconds that an access token lives. */
  readonly accessTokenTtl?: number;
  readonly clients?: readonly object[];
  readonly registration?: boolean;
  /** How clients may authenticate. */
  readonly authMethods?: readonly string[];
}

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];

export const SCOPES = 'mcp:read mcp:write';

/** Users are logged in and agree to everything at once: a plain `fetch` with cookies is their browser (`browse`). */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<TestAuthorizationServer> {
  const { accessTokenTtl = 60, clients = [], registration = true, authMethods = AUTH_METHODS } = options;
  const log: string[] = [];
  const documents = new Map<string, object>();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients,
    scopes: ['openid', 'offline_access', 'mcp:read', 'mcp:write'],
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async (_: unknown, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed('refresh_token'),
    clientAuthMethods: authMethods,
    enabledJWA: { clientAuthSigningAlgValues: ['ES256', 'RS256'] },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    ttl: {
      AccessToken: accessTokenTtl,
      ClientCredentials: accessTokenTtl,
      Session: 3600,
      Grant: 3600,
      Interaction: 600,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: registration },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_: unknown, resource: string) => ({
          scope: SCOPES,
          audience: resource,
          accessTokenTTL: accessTokenTtl,
          accessTokenFormat: 'opaque',
        }),
      },
    },
    fetch: async (url: string | URL, init: RequestInit) => {
      const document = documents.get(String(url));
      return document ? Response.json(document) : fetch(url, init);
    },
  });
  const handle = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?');
    if (path.startsWith('/interaction/')) return void interact(provider, request, response);
    if (request.method === 'POST' && path === '/token')
      watchBody(request, (body) => log.push(`POST /token ${grantOf(body)}`));
    else log.push(`${request.method} ${path}`);
    handle(request, response);
  });
  return {
    issuer,
    log,
    provider,
    publish: (url, document) => void documents.set(url, document),
    forget: (clientId) => provider.Client.adapter.destroy(clientId),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Follows redirects with cookies, as a browser does. Settles with the page at the end. */
export async function browse(start: string | URL): Promise<{ status: number; text: string; url: string }> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  for (let hops = 0; hops < 20; hops += 1) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const each of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) return { status: response.status, text: await response.text(), url: url.href };
    url = new URL(location, url);
  }
  throw new Error(`Too many redirects, the last one to ${url.href}`);
}

async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  const { prompt, params, session } = details;
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId: 'user-1' } });
    return;
  }
  const grant = new provider.Grant({ accountId: session!.accountId, clientId: String(params['client_id']) });
  const scope = String(params['scope'] ?? '');
  grant.addOIDCScope(scope);
  if (params['resource'] !== undefined) grant.addResourceScope(String(params['resource']), scope);
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

function watchBody(request: IncomingMessage, seen: (body: string) => void): void {
  const chunks: Buffer[] = [];
  const { push } = request;
  request.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk) chunks.push(Buffer.from(chunk as Buffer));
    else seen(Buffer.concat(chunks).toString());
    return push.call(request, chunk, encoding);
  };
}

function grantOf(body: string): string {
  const params = new URLSearchParams(body);
  return `${params.get('grant_type')}`;
}
