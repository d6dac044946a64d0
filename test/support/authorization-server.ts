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
  /** Every token, code, verifier and secret that was sent or issued. */
  readonly secrets: ReadonlySet<string>;
  /** The tokens that were exchanged. */
  subjects(): readonly string[];
  /** Publishes a client metadata document (CIMD) at an https URL that only this server can read. */
  publish(url: string, document: object): void;
  /** Ends an access token before its time. */
  expire(token: string): Promise<void>;
  /** Forgets a registered client, as a restart without storage does. */
  forget(clientId: string): Promise<void>;
  close(): Promise<void>;
}

export interface AuthorizationServerOptions {
  /** Seconds that an access token lives. */
  readonly accessTokenTtl?: number;
  readonly clients?: readonly object[];
  readonly registration?: boolean;
  /** Tokens are JWTs, signed by it. Default: opaque. */
  readonly tokens?: 'jwt' | 'opaque';
  /** The scopes that tokens may have. Default `mcp:read mcp:write`. */
  readonly scopes?: string;
  /** Whom its user is logged in as. Default `user-1`. */
  readonly account?: () => string;
  /** More of the configuration of oidc-provider. */
  readonly more?: object;
  /** How clients may authenticate. */
  readonly authMethods?: readonly string[];
  /** Changes an answer before it is sent. */
  readonly rewrite?: (answer: { readonly path: string; status: number; body: unknown }) => void;
  /** Exchanges tokens (RFC 8693): says whom a token of a caller belongs to, or throws. */
  readonly exchange?: (subjectToken: string) => Promise<string>;
}

const AUTH_METHODS = ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'];

export const SCOPES = 'mcp:read mcp:write';

/** Users are logged in and agree to everything at once: a plain `fetch` with cookies is their browser (`browse`). */
export async function startAuthorizationServer(
  options: AuthorizationServerOptions = {},
): Promise<TestAuthorizationServer> {
  const { accessTokenTtl = 60, clients = [], registration = true, authMethods = AUTH_METHODS } = options;
  const { tokens = 'opaque', scopes = SCOPES, account = () => 'user-1', more = {} } = options;
  const log: string[] = [];
  const documents = new Map<string, object>();
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, {
    clients,
    scopes: ['openid', 'offline_access', ...scopes.split(' ')],
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
      introspection: { enabled: true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: true },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02' },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: async () => true,
        getResourceServerInfo: async (_: unknown, resource: string) => ({
          scope: scopes,
          audience: resource,
          accessTokenTTL: accessTokenTtl,
          accessTokenFormat: tokens,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    fetch: async (url: string | URL, init: RequestInit) => {
      const document = documents.get(String(url));
      return document ? Response.json(document) : fetch(url, init);
    },
    ...more,
  });
  const secrets = new Set<string>();
  const keep = (values: Iterable<unknown>) => {
    for (const value of values) if (typeof value === 'string' && value !== '') secrets.add(value);
  };
  provider.on('grant.success', ({ body }) => keep([body?.['access_token'], body?.['refresh_token']]));
  const subjects: string[] = [];
  const { exchange } = options;
  if (exchange) {
    const ownerOf = (token: string) => {
      subjects.push(token);
      return exchange(token);
    };
    registerExchange(provider, ownerOf, accessTokenTtl);
  }
  const { rewrite } = options;
  if (rewrite) {
    type Middleware = (
      context: Parameters<NonNullable<typeof rewrite>>[0],
      next: () => Promise<void>,
    ) => Promise<void>;
    // The types of the library do not have what it inherits from Koa.
    (provider as unknown as { use(middleware: Middleware): void }).use(async (context, next) => {
      await next();
      rewrite(context);
    });
  }
  const handle = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const [path = ''] = (request.url ?? '').split('?');
    if (path.startsWith('/interaction/')) return void interact(provider, account(), request, response);
    if (request.method === 'POST' && path === '/token')
      watchBody(request, (body) => {
        const form = new URLSearchParams(body);
        keep(['code', 'code_verifier', 'refresh_token', 'client_secret'].map((name) => form.get(name)));
        log.push(`POST /token ${form.get('grant_type')}`);
      });
    else log.push(`${request.method} ${path}`);
    handle(request, response);
  });
  return {
    issuer,
    log,
    provider,
    secrets,
    subjects: () => subjects,
    publish: (url, document) => void documents.set(url, document),
    expire: async (token) => (await provider.AccessToken.find(token))?.destroy(),
    forget: (clientId) => provider.Client.adapter.destroy(clientId),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';

/** The library has no such grant of its own. */
function registerExchange(
  provider: Provider,
  ownerOf: (subjectToken: string) => Promise<string>,
  accessTokenTTL: number,
): void {
  const parameters = [
    'subject_token',
    'subject_token_type',
    'requested_token_type',
    'audience',
    'resource',
    'scope',
  ];
  provider.registerGrantType(
    EXCHANGE,
    async (context) => {
      const { client, params } = context.oidc;
      const { subject_token = '', scope = '', resource = '' } = params;
      const accountId = await ownerOf(subject_token).catch(() => undefined);
      if (accountId === undefined) {
        context.status = 400;
        // Some servers repeat what they were sent.
        context.body = { error: 'invalid_grant', error_description: `${subject_token} is not a good token` };
        return;
      }
      const token = new provider.AccessToken({
        accountId,
        client,
        grantId: 'exchange',
        gty: 'exchange',
        scope,
      });
      const info = { scope: SCOPES, audience: resource, accessTokenTTL, accessTokenFormat: 'opaque' };
      token.resourceServer = new provider.ResourceServer(resource, info);
      context.body = {
        access_token: await token.save(),
        issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        token_type: 'Bearer',
        expires_in: accessTokenTTL,
        scope,
      };
    },
    parameters,
  );
}

/** A page as a browser shows it. */
export interface BrowsedPage {
  readonly status: number;
  readonly text: string;
  readonly url: string;
}

export interface BrowseOptions {
  /** Where a request for a URL is sent. */
  readonly resolve?: (url: URL) => URL;
  readonly cookies?: Map<string, string>;
  /** Sent to the first address. */
  readonly form?: URLSearchParams;
  /** An address that begins like this is not opened: nothing listens there. */
  readonly stopAt?: string;
}

/** Follows redirects with cookies, as a browser does. Settles with the page at the end. */
export async function browse(start: string | URL, options: BrowseOptions = {}): Promise<BrowsedPage> {
  const { cookies = new Map<string, string>(), form, stopAt, resolve = (each: URL) => each } = options;
  let url = new URL(start);
  for (let hops = 0; hops < 20; hops += 1) {
    if (stopAt !== undefined && url.href.startsWith(stopAt)) return { status: 0, text: '', url: url.href };
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const post = hops === 0 && form ? ({ method: 'POST', body: form } as const) : {};
    const response = await fetch(resolve(url), { redirect: 'manual', headers: { cookie }, ...post });
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

/** Opens the page of a device code on another device, and confirms the code. */
export async function enterDeviceCode(page: string | URL): Promise<BrowsedPage> {
  const cookies = new Map<string, string>();
  let shown = await browse(page, { cookies });
  // The form with the code, and the one that asks whether it is right.
  for (let forms = 0; forms < 2; forms += 1) {
    const fields = [...shown.text.matchAll(/<input[^>]*name="(\w+)"[^>]*value="([^"]*)"/g)];
    const form = new URLSearchParams();
    for (const [, name = '', value = ''] of fields) form.set(name, value);
    const [, action = ''] = /<form[^>]*action="([^"]*)"/.exec(shown.text) ?? [];
    if (forms === 1) form.set('confirm', 'yes');
    shown = await browse(action, { cookies, form });
  }
  return shown;
}

async function interact(
  provider: Provider,
  accountId: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const details = await provider.interactionDetails(request, response);
  const { prompt, params, session } = details;
  if (prompt.name === 'login') {
    await provider.interactionFinished(request, response, { login: { accountId } });
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
