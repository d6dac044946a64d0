import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';

/** An authorization server that publishes its metadata, its keys and an introspection endpoint. */
export interface PublishedAuthority {
  readonly issuer: string;
  /** Each request, as `GET /keys`. */
  readonly log: string[];
  /** What the introspection endpoint says of a token. */
  readonly opaque: Map<string, object>;
  /** The bodies and the credentials that reached the introspection endpoint. */
  readonly asked: { readonly body: string; readonly authorization: string | undefined }[];
  token(claims?: Record<string, unknown>, header?: Record<string, string>): Promise<string>;
  /** Answers everything with this status from now on; undefined: as it should. */
  fail(status: number | undefined): void;
  /** Changes what the metadata says. */
  publish(changes: object): void;
}

export async function publishedAuthority(): Promise<PublishedAuthority> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' };
  const log: string[] = [];
  const asked: PublishedAuthority['asked'][number][] = [];
  const opaque = new Map<string, object>();
  let status: number | undefined;
  let changes: object = {};
  const server = createServer(async (request, response) => {
    log.push(`${request.method} ${request.url}`);
    let body = '';
    for await (const chunk of request) body += chunk;
    const answer = (value: object) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    if (status !== undefined) return void response.writeHead(status).end();
    switch (request.url) {
      case '/.well-known/oauth-authorization-server':
        return answer({
          issuer,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          introspection_endpoint: `${issuer}/introspect`,
          ...changes,
        });
      case '/keys':
        return answer({ keys: [jwk] });
      case '/introspect': {
        asked.push({ body, authorization: request.headers.authorization });
        return answer(opaque.get(new URLSearchParams(body).get('token') ?? '') ?? { active: false });
      }
    }
    response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    log,
    opaque,
    asked,
    token(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      const own = { iss: issuer, sub: 'ada', client_id: 'desk', iat: now, exp: now + 300 };
      const all = JSON.parse(JSON.stringify({ ...own, ...claims }));
      return new SignJWT(all).setProtectedHeader({ alg: 'ES256', kid: 'one', ...header }).sign(privateKey);
    },
    fail: (next) => {
      status = next;
    },
    publish: (next) => {
      changes = next;
    },
  };
}
