import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Context, createServer } from '@isthmus/sdk';
import type { HttpListenOptions } from '@isthmus/sdk/http';
import { exportJWK, generateKeyPair, type CryptoKey as JoseKey, type JWK, SignJWT } from 'jose';
import { onTestFinished } from 'vitest';
import {
  type Answer,
  ask,
  modernCall,
  type Place,
  serveHttp,
} from '../../../sdk/test/support/http-server.js';
import { type AuthOptions, createAuthenticate } from '../../src/auth/create-authenticate.js';

/** A server that says who calls, behind `createAuthenticate`. */
export async function guarded(auth: AuthOptions, options: HttpListenOptions = {}): Promise<Guarded> {
  const warnings: string[] = [];
  const server = createServer({ name: 'who', version: '1' });
  server.tool('who', {}, (_args, ctx: Context) => ctx.peer.principal ?? 'nobody');
  const { authenticate } = createAuthenticate({ onWarning: (warning) => warnings.push(warning), ...auth });
  const place = await serveHttp(server, { authenticate, ...options });
  return { ...place, warnings, who: async (headers) => verdictOf(await callWho(place.url, headers)) };
}

export interface Guarded extends Place {
  readonly warnings: readonly string[];
  /** The principal that a call with these headers has, or the status and the challenge of the refusal. */
  who(headers: Record<string, string>): Promise<string | [number, string | undefined]>;
}

export function callWho(url: string, headers: Record<string, string>): Promise<Answer> {
  return ask(url, modernCall(1, 'who', {}, { headers }));
}

function verdictOf({ status, headers, json }: Answer): string | [number, string | undefined] {
  return status === 200 ? json.result?.content[0].text : [status, headers['www-authenticate']];
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

export const ISSUER = 'https://login.example.com';
export const AUDIENCE = 'https://mcp.example.com';

/** An authorization server, as far as its public keys and its tokens go. */
export interface Authority {
  readonly jwksUrl: string;
  readonly publicKey: JWK;
  /** How often it was asked for keys. */
  readonly asked: () => number;
  token(claims?: Record<string, unknown>, options?: { kid?: string; key?: JoseKey }): Promise<string>;
  /** Adds a key; gives back what signs with it. */
  rotate(kid: string): Promise<JoseKey>;
  /** What it answers with from now on; `undefined`: the keys. */
  behave(how: 'down' | 'silent' | 'broken' | 'endless' | undefined): void;
}

export async function openAuthority(): Promise<Authority> {
  const first = await generateKeyPair('ES256', { extractable: true });
  const publicKey = { ...(await exportJWK(first.publicKey)), kid: 'one', alg: 'ES256' };
  const keys: JWK[] = [publicKey];
  let asked = 0;
  let how: Parameters<Authority['behave']>[0];
  const server = createHttpServer((_request, response) => {
    asked += 1;
    if (how === 'silent') return;
    if (how === 'down') return void response.writeHead(500).end();
    response.writeHead(200, { 'content-type': 'application/json' });
    if (how === 'endless') {
      const more = () => {
        while (!response.destroyed && response.write(' '.repeat(64 * 1024)));
      };
      response.on('drain', more);
      return more();
    }
    response.end(how === 'broken' ? '{"keys":' : JSON.stringify({ keys }));
  });
  const port = await listen(server);
  return {
    jwksUrl: `http://127.0.0.1:${port}/keys`,
    publicKey,
    asked: () => asked,
    token: (claims = {}, { kid = 'one', key = first.privateKey } = {}) => sign(claims, kid, key),
    async rotate(kid) {
      const { publicKey: next, privateKey } = await generateKeyPair('ES256', { extractable: true });
      keys.push({ ...(await exportJWK(next)), kid, alg: 'ES256' });
      return privateKey;
    },
    behave(next) {
      how = next;
    },
  };
}

/** Good for five minutes, unless the claims say otherwise; `undefined` takes a claim away. */
function sign(claims: Record<string, unknown>, kid: string, key: JoseKey): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = { iss: ISSUER, aud: AUDIENCE, sub: 'ada', iat: now, exp: now + 300, ...claims };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given).setProtectedHeader({ alg: 'ES256', kid }).sign(key);
}

async function listen(server: HttpServer): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
