/** `oauthProvider()`: programs that have an `OAuthClientProvider` of the official SDK keep it. */
import { generateKeyPairSync } from 'node:crypto';
import {
  connect,
  http,
  type OAuthProviderOptions,
  type OfficialOAuthProvider,
  oauthProvider,
} from '@isthmus/sdk';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import {
  ClientCredentialsProvider,
  type OAuthClientProvider,
  PrivateKeyJwtProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
} from '@modelcontextprotocol/client';
import type { OAuthClientProvider as OldClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { browse, startAuthorizationServer } from '../../../../test/support/authorization-server.js';
import { realStage } from '../../../../test/support/login-stage.js';

const READ = [{ type: 'text', text: 'read' }];
const REDIRECT = 'http://127.0.0.1:9/oauth/callback';

/** As the examples of the official SDK have it, with what was called. */
class ExampleProvider implements OAuthClientProvider {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: 'Example',
    redirect_uris: [REDIRECT],
    application_type: 'native',
    token_endpoint_auth_method: 'none',
  };
  readonly pages: URL[] = [];
  readonly called: string[] = [];
  client: StoredOAuthClientInformation | undefined;
  stored: StoredOAuthTokens | undefined;
  onPage: (page: URL) => unknown = () => {};

  state() {
    return 'the-state-of-the-program-0123456789';
  }
  clientInformation() {
    return this.client;
  }
  saveClientInformation(client: StoredOAuthClientInformation) {
    this.called.push('saveClientInformation');
    this.client = client;
  }
  tokens() {
    return this.stored;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.called.push('saveTokens');
    this.stored = tokens;
  }
  redirectToAuthorization(page: URL) {
    this.pages.push(page);
    void this.onPage(page);
  }
  saveCodeVerifier() {
    this.called.push('saveCodeVerifier');
  }
  codeVerifier(): string {
    throw new Error('The verifier stays in memory');
  }
}

async function connectWith(provider: OfficialOAuthProvider, url: string, options: OAuthProviderOptions = {}) {
  const auth = oauthProvider(provider, options);
  if (provider instanceof ExampleProvider) {
    provider.onPage = async (page) => auth.finish((await browse(page, { stopAt: REDIRECT })).url);
  }
  const client = await connect(http(url, { auth }), { mode: 'modern', cache: false });
  onTestFinished(() => client.close());
  return { client, auth };
}

const posts = (log: readonly string[]) => log.filter((line) => line.startsWith('POST'));

describe('a provider of the official SDK', () => {
  it('registers, opens the page, and keeps the tokens; version 1 and 2 have the same shape', async () => {
    const { authorization, server } = await realStage();
    const provider = new ExampleProvider();
    const old: OldClientProvider = provider as never;
    const { client } = await connectWith(old, server.url);
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(posts(authorization.log)).toEqual(['POST /reg', 'POST /token authorization_code']);
    const [page] = provider.pages;
    expect(page!.searchParams.get('redirect_uri')).toBe(REDIRECT);
    expect(page!.searchParams.get('state')).toBe('the-state-of-the-program-0123456789');
    expect(page!.searchParams.get('resource')).toBe(server.url);
    expect(provider.called).toEqual(['saveClientInformation', 'saveTokens']);
    expect(provider.stored).toMatchObject({
      token_type: 'Bearer',
      expires_in: 60,
      issuer: authorization.issuer,
    });
    expect(provider.client).toMatchObject({ redirect_uris: [REDIRECT], issuer: authorization.issuer });
  });

  it('has tokens of an earlier run: they are used, and renewed where they came from', async () => {
    const { authorization, server } = await realStage();
    const provider = new ExampleProvider();
    await connectWith(provider, server.url);
    const { access_token: first, refresh_token: refresh } = provider.stored!;
    // Another process, later.
    const next = new ExampleProvider();
    Object.assign(next, { client: provider.client, stored: provider.stored });
    authorization.log.length = 0;
    await connectWith(next, server.url);
    expect(authorization.log).toEqual([]);
    await authorization.expire(first);
    await connectWith(next, server.url);
    expect(posts(authorization.log)).toEqual(['POST /token refresh_token']);
    expect(next.pages).toEqual([]);
    expect(next.stored!.access_token).not.toBe(first);
    expect(next.stored!.refresh_token).not.toBe(refresh);
  });

  it('a refresh token of an unknown authorization server goes nowhere, unless it is named (AUTH-C-037)', async () => {
    const { authorization, server } = await realStage();
    const provider = new ExampleProvider();
    await connectWith(provider, server.url);
    const { issuer: _issuer, ...tokens } = provider.stored!;
    await authorization.expire(tokens.access_token);
    const withoutIssuer = () =>
      Object.assign(new ExampleProvider(), { client: provider.client, stored: tokens });
    // A hostile server names an authorization server of its own.
    const foreign = await startAuthorizationServer();
    onTestFinished(() => foreign.close());
    server.move(foreign);
    const unknown = withoutIssuer();
    await connectWith(unknown, server.url);
    expect(posts(foreign.log)).toEqual(['POST /reg', 'POST /token authorization_code']);
    server.move(authorization);
    const named = withoutIssuer();
    authorization.log.length = 0;
    await connectWith(named, server.url, { issuer: authorization.issuer });
    expect(posts(authorization.log)).toEqual(['POST /token refresh_token']);
    expect(named.pages).toEqual([]);
  });

  it('whose refresh token is dead logs in once more, also where it cannot forget tokens', async () => {
    const { authorization, server } = await realStage({ accessTokenTtl: 3600 });
    const time = { later: 0 };
    const clock = { ...systemClock, now: () => Date.now() + time.later };
    const provider = new ExampleProvider();
    const { client } = await connectWith(provider, server.url, { clock });
    const refresh = await authorization.provider.RefreshToken.find(provider.stored!.refresh_token!);
    await refresh!.destroy();
    time.later = 3_600_000;
    await authorization.expire(provider.stored!.access_token);
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(provider.pages).toHaveLength(2);
  });

  it('is for one server, so that its tokens do not go to another one (AUTH-C-005)', async () => {
    const { server } = await realStage();
    const auth = oauthProvider(new ExampleProvider());
    await auth.login(server.url);
    await expect(auth.login('https://other.example/mcp')).rejects.toThrow('a provider is for one server');
  });
});

describe('the providers of the official SDK that need no user', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const base = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };
  const clients = [
    { ...base, client_id: 'robot', client_secret: 's3cret' },
    {
      ...base,
      client_id: 'signer',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [{ ...publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'ES256' }] },
    },
  ];

  it('a secret goes to the issuer that it belongs to, and to no other', async () => {
    const { authorization, server } = await realStage({ clients });
    const robot = { clientId: 'robot', clientSecret: 's3cret' };
    const expectedIssuer = authorization.issuer;
    const { client } = await connectWith(
      new ClientCredentialsProvider({ ...robot, expectedIssuer }),
      server.url,
    );
    expect((await client.callTool('read')).content).toEqual(READ);
    await expect(connectWith(new ClientCredentialsProvider(robot), server.url)).rejects.toThrow(
      'The client secret is not sent there until you name it',
    );
    expect(posts(authorization.log)).toEqual(['POST /token client_credentials']);
  });

  it('a key signs with the method of the provider, and the next token is asked for in the same way', async () => {
    const { authorization, server } = await realStage({ clients, accessTokenTtl: 3600 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const provider = new PrivateKeyJwtProvider({ clientId: 'signer', privateKey: pem, algorithm: 'ES256' });
    const time = { later: 0 };
    const clock = { ...systemClock, now: () => Date.now() + time.later };
    const { client } = await connectWith(provider, server.url, { clock });
    time.later = 3_590_000;
    expect((await client.callTool('read')).content).toEqual(READ);
    expect(posts(authorization.log)).toEqual([
      'POST /token client_credentials',
      'POST /token client_credentials',
    ]);
  });
});
