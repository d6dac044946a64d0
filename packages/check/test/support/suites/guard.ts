import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  verify,
} from 'node:crypto';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckTokens } from '../../../src/index.js';
import { readJwt } from '../../../src/tokens/sign-jwt.js';
import type { ProxyHooks, ProxyRequest, ProxyResponse } from './mutant.js';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
export const PUBLIC_KEY = publicKey;
export const ISSUER = 'https://login.example';
export const AUDIENCE = 'https://guarded.example/mcp';

/** The key of the issuer that the guard trusts, with what its tokens have. */
export const SIGNED: CheckTokens = {
  signer: {
    key: { key: privateKey, alg: 'ES256', kid: 'one' },
    claims: { iss: ISSUER, aud: AUDIENCE, sub: 'ann', scope: 'read call write' },
    weakScope: 'read',
    broadScope: 'admin',
  },
};

/** What a guard with a fault leaves out, or does otherwise. */
export interface GuardFault {
  readonly ignores?: readonly (
    | 'signature'
    | 'alg'
    | 'own-keys'
    | 'secrets'
    | 'iss'
    | 'aud'
    | 'no-aud'
    | 'exp'
    | 'nbf'
    | 'scope'
    | 'admin'
    | 'user'
  )[];
  readonly refusesAll?: boolean;
  /** The refusal of a token with too few scopes. */
  readonly weak?: { readonly status?: number; readonly challenge?: (missing: readonly string[]) => string };
  readonly invalid?: string;
}

/** A guard in front of a server: verifies tokens, and decides by operation. Without a fault it does everything right. */
export function guard({
  ignores = [],
  refusesAll = false,
  weak = {},
  invalid,
}: GuardFault = {}): () => ProxyHooks {
  const looksAt = (what: (typeof ignores)[number]) => !ignores.includes(what);
  const isGood = (token: string): JsonObject | undefined => {
    const jwt = readJwt(token);
    if (!jwt || refusesAll) return undefined;
    const { header, claims, signature } = jwt;
    const now = Date.now() / 1000;
    const isSigned =
      !looksAt('signature') ||
      (!looksAt('alg') && header['alg'] === 'none') ||
      (!looksAt('secrets') && header['alg'] === 'HS256' && isSignedWithPublicKey(token, signature)) ||
      verify(
        'sha256',
        Buffer.from(token.slice(0, token.lastIndexOf('.'))),
        { key: looksAt('own-keys') ? publicKey : keyIn(header), dsaEncoding: 'ieee-p1363' },
        Buffer.from(signature, 'base64url'),
      );
    const audience = claims['aud'];
    const isMine = audience === undefined ? !looksAt('no-aud') : !looksAt('aud') || audience === AUDIENCE;
    const isTimely =
      (!looksAt('exp') || Number(claims['exp']) > now) &&
      (!looksAt('nbf') || Number(claims['nbf'] ?? 0) <= now);
    return isSigned && isMine && isTimely && (!looksAt('iss') || claims['iss'] === ISSUER)
      ? claims
      : undefined;
  };
  return () => {
    const owners = new Map<string, unknown>();
    return {
      request(request) {
        if (request.url.startsWith('/.well-known/')) return undefined;
        const claims = isGood(/^Bearer (.+)$/.exec(request.headers['authorization'] ?? '')?.[1] ?? '');
        if (!claims) return refuse(401, invalid ?? 'error="invalid_token"');
        const session = request.headers['mcp-session-id'];
        const owner = session === undefined ? undefined : owners.get(session);
        if (looksAt('user') && owner !== undefined && owner !== claims['sub']) return refuse(404, '');
        const has = String(claims['scope'] ?? '').split(' ');
        const missing = neededBy(request).filter((scope) => !has.includes(scope));
        if (missing.length === 0 || !looksAt('scope') || (looksAt('admin') && has.includes('admin')))
          return undefined;
        return refuse(weak.status ?? 403, (weak.challenge ?? complete)(missing));
      },
      response({ headers }, { json, headers: asked }) {
        const session = headers['mcp-session-id'];
        const token = /^Bearer (.+)$/.exec(asked['authorization'] ?? '')?.[1] ?? '';
        if (json?.['method'] === 'initialize' && session !== undefined)
          owners.set(session, readJwt(token)?.claims['sub']);
        return undefined;
      },
    };
  };
}

/** A library that takes the key for a secret where the header says so. */
function isSignedWithPublicKey(token: string, signature: string): boolean {
  const secret = publicKey.export({ type: 'spki', format: 'pem' });
  const text = token.slice(0, token.lastIndexOf('.'));
  return createHmac('sha256', secret).update(text).digest('base64url') === signature;
}

/** The key that a token brings, or else that of the issuer. */
function keyIn({ jwk }: JsonObject): KeyObject {
  return isJsonObject(jwk) ? createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' }) : publicKey;
}

function neededBy({ json }: ProxyRequest): readonly string[] {
  return json?.['method'] === 'tools/call' ? ['call', 'write'] : ['read'];
}

function complete(missing: readonly string[]): string {
  return `error="insufficient_scope", scope="${missing.join(' ')}", ${METADATA}`;
}

export const METADATA =
  'resource_metadata="https://guarded.example/.well-known/oauth-protected-resource/mcp"';

function refuse(status: number, challenge: string): ProxyResponse {
  return {
    respond: { status, headers: challenge === '' ? {} : { 'www-authenticate': `Bearer ${challenge}` } },
  };
}
