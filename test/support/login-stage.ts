import { connect, http, type OAuthOptions, oauth } from '@isthmus/sdk';
import { onTestFinished } from 'vitest';
import { type AuthorizationServerOptions, browse, startAuthorizationServer } from './authorization-server.js';
import { startProtectedServer } from './protected-server.js';

/** A real authorization server, and a server that wants its tokens. Both end with the test. */
export async function realStage(options: AuthorizationServerOptions = {}) {
  const authorization = await startAuthorizationServer(options);
  onTestFinished(() => authorization.close());
  const server = await startProtectedServer(authorization);
  onTestFinished(() => server.close());
  return { authorization, server };
}

/** A client with a user who agrees to everything. */
export async function connectTo(url: string, options: OAuthOptions = {}) {
  const pages: Promise<{ status: number; text: string }>[] = [];
  const auth = oauth({ open: (page) => void pages.push(browse(page)), ...options });
  const client = await connect(http(url, { auth }), { mode: 'modern', cache: false });
  onTestFinished(() => client.close());
  return { client, auth, pages };
}
