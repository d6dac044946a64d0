import { connect, createServer, http, httpHandler, type OAuth, serve } from '@isthmus/sdk';
import {
  Client,
  type OAuthClientProvider,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  type StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { onTestFinished } from 'vitest';
import { transportV2 } from '../../support/official-v2.js';
import {
  CHALLENGE,
  type LoginStage,
  loginStage,
  SERVER,
} from '../../support/scripted-authorization-server.js';

/** A server behind a scripted authorization server, for our client and for the official one. */
export interface ComparedStage extends LoginStage {
  /** What the server sends with a 401. */
  challenge: string;
  /** Tokens that the server does not take any more. */
  readonly ended: Set<string>;
  /** How often the server has answered with 401. */
  refusals(): number;
}

export async function comparedStage(): Promise<ComparedStage> {
  const server = createServer({ name: 'guarded', version: '1' });
  server.tool('read', {}, () => 'read');
  const endpoint = httpHandler();
  const serving = await serve(server, endpoint);
  onTestFinished(() => serving.close());
  const ended = new Set<string>();
  let refusals = 0;
  const more = { challenge: CHALLENGE, ended, refusals: () => refusals };
  const stage: ComparedStage = Object.assign(loginStage(), more);
  // The official client wants the whole registration back.
  stage.answers.set(`${stage.issuer}/register`, () =>
    Response.json(
      { client_id: 'client-1', redirect_uris: ['https://app.example/callback'] },
      { status: 201 },
    ),
  );
  stage.answers.set(SERVER, ({ method, headers, body }) => {
    const [, token = ''] = /^Bearer (.*)$/.exec(headers.get('authorization') ?? '') ?? [];
    if (!token.startsWith('access-') || ended.has(token)) {
      refusals += 1;
      return new Response('', { status: 401, headers: { 'www-authenticate': stage.challenge } });
    }
    const init = { method, headers, ...(method === 'POST' && { body }) };
    return endpoint.fetch(new Request('http://127.0.0.1/mcp', init));
  });
  return stage;
}

/** A provider as the documentation of the official SDK has it. */
export class PlainProvider implements OAuthClientProvider {
  readonly redirectUrl = 'https://app.example/callback';
  readonly clientMetadata = { client_name: 'Plain', redirect_uris: ['https://app.example/callback'] };
  readonly pages: URL[] = [];
  /** Shared by providers of several processes. */
  readonly kept: { client?: StoredOAuthClientInformation; tokens?: StoredOAuthTokens; verifier?: string };

  constructor(kept: PlainProvider['kept'] = {}) {
    this.kept = kept;
  }
  clientInformation() {
    return this.kept.client;
  }
  saveClientInformation(client: StoredOAuthClientInformation) {
    this.kept.client = client;
  }
  tokens() {
    return this.kept.tokens;
  }
  saveTokens(tokens: StoredOAuthTokens) {
    this.kept.tokens = tokens;
  }
  redirectToAuthorization(page: URL) {
    this.pages.push(page);
  }
  saveCodeVerifier(verifier: string) {
    this.kept.verifier = verifier;
  }
  codeVerifier() {
    return this.kept.verifier ?? '';
  }
}

/** Our client, logged in. */
export async function ourClient(stage: ComparedStage, auth: OAuth) {
  const client = await connect(http(SERVER, { auth, fetch: stage.fetch }), { mode: 'modern', cache: false });
  onTestFinished(() => client.close());
  return client;
}

/** The official client, logged in: its user comes back with what the stage says. */
export async function officialClient(stage: ComparedStage, provider: OAuthClientProvider) {
  const open = () => {
    const client = new Client({ name: 'official', version: '2' });
    const transport = transportV2({ url: SERVER }, { authProvider: provider, fetch: stage.fetch });
    return { client, transport: transport as StreamableHTTPClientTransport };
  };
  const first = open();
  onTestFinished(() => first.client.close());
  try {
    await first.client.connect(first.transport);
    return first.client;
  } catch (error) {
    if (!(error instanceof UnauthorizedError) || !(provider instanceof PlainProvider)) throw error;
    await first.transport.finishAuth(stage.response(provider.pages.at(-1)!));
  }
  const second = open();
  onTestFinished(() => second.client.close());
  await second.client.connect(second.transport);
  return second.client;
}
