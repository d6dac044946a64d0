/** AUTH-C-090: a client that logs in without a user says so, in both eras, and no other client does. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, http, oauth } from '@isthmus/sdk';
import { ClientCredentialsProvider } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { oauthProvider } from '../../src/oauth/index.js';

const EXTENSION = { 'io.modelcontextprotocol/oauth-client-credentials': {} };

interface RequestFields {
  readonly _meta?: Readonly<Record<string, { readonly extensions?: object }>>;
  readonly capabilities?: { readonly extensions?: object };
}

/** Takes every request, and answers none of them well. */
async function listeningServer() {
  const bodies: { readonly params: RequestFields }[] = [];
  const server = createServer(async (request, response) => {
    const chunks = await request.toArray();
    const text = Buffer.concat(chunks).toString();
    if (request.url === '/mcp' && text !== '') bodies.push(JSON.parse(text));
    if (request.url === '/token') {
      response.setHeader('content-type', 'application/json');
      return response.end(JSON.stringify({ access_token: 'a', token_type: 'bearer', expires_in: 60 }));
    }
    return response.writeHead(request.headers.authorization ? 400 : 401).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const declared = () =>
    bodies.map(
      ({ params }) =>
        params._meta?.['io.modelcontextprotocol/clientCapabilities']?.extensions ??
        params.capabilities?.extensions,
    );
  return { url: `${origin}/mcp`, tokenEndpoint: `${origin}/token`, declared };
}

describe('the extension of client credentials', () => {
  it.each(['modern', 'legacy'] as const)('is declared by oauth(): %s', async (mode) => {
    const { url, tokenEndpoint, declared } = await listeningServer();
    const options = {
      grant: 'client-credentials',
      clientId: 'me',
      clientSecret: 's',
      tokenEndpoint,
    } as const;
    await connect(http(url, { auth: oauth(options) }), { mode, cache: false }).catch(() => {});
    expect(declared().length).toBeGreaterThan(1);
    for (const each of declared()) expect(each).toEqual(EXTENSION);
  });

  it('is declared beside those of the program', async () => {
    const { url, tokenEndpoint, declared } = await listeningServer();
    const options = {
      grant: 'client-credentials',
      clientId: 'me',
      clientSecret: 's',
      tokenEndpoint,
    } as const;
    const extensions = { 'com.example/x': {} };
    await connect(http(url, { auth: oauth(options) }), { mode: 'modern', cache: false, extensions }).catch(
      () => {},
    );
    expect(declared()[0]).toEqual({ ...EXTENSION, ...extensions });
  });

  it('is declared by a provider of the official SDK, and not by a login with a user or with a header', async () => {
    const provider = new ClientCredentialsProvider({
      clientId: 'me',
      clientSecret: 's',
      expectedIssuer: 'https://h',
    });
    expect(oauthProvider(provider).extensions).toEqual(EXTENSION);
    expect(oauth().extensions).toBe(undefined);
    const { url, tokenEndpoint, declared } = await listeningServer();
    const auth = oauth({ grant: 'client-credentials', clientId: 'me', clientSecret: 's', tokenEndpoint });
    const headers = { authorization: 'Bearer mine' };
    await connect(http(url, { auth, headers }), { mode: 'modern', cache: false }).catch(() => {});
    expect(declared()).toEqual([undefined]);
  });
});
