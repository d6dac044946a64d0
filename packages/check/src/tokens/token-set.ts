import { createPublicKey, createSecretKey } from 'node:crypto';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckTarget } from '../wire/targets.js';
import { encode, readJwt, type SigningKey, signJwt, strangeKey } from './sign-jwt.js';

/** The tokens that a user can give. */
export const TOKEN_KINDS = ['good', 'expired', 'foreign', 'weak', 'broad', 'other'] as const;
/** A kind of token that a user can give. */
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** Tokens for checks of a resource server. They are never part of a report. */
export interface CheckTokens {
  /**
   * `good` is accepted. `expired` was. `foreign` is for another audience. `weak` has too few scopes. `broad` has a scope that
   * implies the scopes of `good`. `other` belongs to another user.
   */
  readonly given?: Partial<Record<TokenKind, string>>;
  /** Makes the tokens that are not given. */
  readonly signer?: TokenSigner;
}

/** The key of an issuer that the server trusts. */
export interface TokenSigner {
  readonly key: SigningKey;
  /** Of a good token: `iss`, `aud`, `sub`, `scope` and others. Times are added. */
  readonly claims: JsonObject;
  /** The scopes of the weak token. Default: none, if the claims have some. */
  readonly weakScope?: string;
  readonly broadScope?: string;
}

/** Tokens with a fault that need the key, or a good token that is a JWT. */
type MadeKind =
  | 'no-audience'
  | 'foreign-issuer'
  | 'not-yet'
  | 'changed'
  | 'unsigned'
  | 'strange-key'
  | 'brought-key'
  | 'public-secret';

export interface TokenSet {
  /** Undefined if it was neither given nor can be made. */
  of(kind: TokenKind | MadeKind): string | undefined;
  /** A token with these scopes; undefined without a key. */
  withScopes(scopes: readonly string[]): string | undefined;
}

export function createTokenSet({ given = {}, signer }: CheckTokens, now: () => number): TokenSet {
  const signed = (change: JsonObject, by = signer?.key): string | undefined => {
    if (!signer || !by) return undefined;
    const seconds = Math.floor(now() / 1000);
    const claims = { iat: seconds, exp: seconds + LIFE_S, ...signer.claims, ...change };
    return signJwt(Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined)), by);
  };
  const made: Readonly<Record<TokenKind | MadeKind, () => string | undefined>> = {
    good: () => signed({}),
    expired() {
      const seconds = Math.floor(now() / 1000);
      return signed({ iat: seconds - 2 * LIFE_S, exp: seconds - LIFE_S });
    },
    foreign: () => signed({ aud: 'https://other.example/mcp' }),
    weak: () =>
      signer && (signer.weakScope !== undefined || hasScopes(signer.claims))
        ? signed({ scope: signer.weakScope, scp: undefined })
        : undefined,
    broad: () =>
      signer?.broadScope === undefined ? undefined : signed({ scope: signer.broadScope, scp: undefined }),
    other: () => signed({ sub: 'isthmus-check-other-user' }),
    'no-audience': () => signed({ aud: undefined }),
    'foreign-issuer': () =>
      signer?.claims['iss'] === undefined ? undefined : signed({ iss: 'https://other.example' }),
    'not-yet'() {
      const seconds = Math.floor(now() / 1000);
      return signed({ nbf: seconds + LIFE_S, exp: seconds + 2 * LIFE_S });
    },
    changed: () =>
      reworked(
        (header, claims, signature) =>
          `${encode(header)}.${encode({ ...claims, sub: 'somebody-else' })}.${signature}`,
      ),
    unsigned: () => reworked((header, claims) => `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`),
    'strange-key': () =>
      reworked((header, claims) => {
        const { alg, kid } = header;
        const key = strangeKey({ alg: String(alg), ...(typeof kid === 'string' && { kid }) });
        return signJwt(claims, key);
      }),
    'brought-key': () =>
      reworked(({ alg, kid }, claims) => {
        const { key, ...rest } = strangeKey({ alg: String(alg) });
        const jwk = { ...createPublicKey(key).export({ format: 'jwk' }), ...(kid !== undefined && { kid }) };
        return signJwt(claims, { key, ...rest }, { jwk, ...(kid !== undefined && { kid }) });
      }),
    'public-secret'() {
      if (!signer) return undefined;
      const { key, kid } = signer.key;
      const text = createPublicKey(key).export({ type: 'spki', format: 'pem' });
      return signed({}, { key: createSecretKey(Buffer.from(text)), alg: 'HS256', ...(kid && { kid }) });
    },
  };
  /** The good token with a fault. Undefined if it is not a JWT. */
  const reworked = (
    make: (header: JsonObject, claims: JsonObject, signature: string) => string,
  ): string | undefined => {
    const jwt = readJwt(of('good') ?? '');
    return jwt && make(jwt.header, jwt.claims, jwt.signature);
  };
  const known = new Map<string, string | undefined>(Object.entries(given));
  const of = (kind: TokenKind | MadeKind): string | undefined => {
    if (!known.has(kind)) known.set(kind, made[kind]());
    return known.get(kind);
  };
  return {
    of,
    withScopes: (scopes) => signed({ scope: scopes.join(' '), scp: undefined }),
  };
}

const LIFE_S = 3600;

function hasScopes({ scope, scp }: JsonObject): boolean {
  return scope !== undefined || scp !== undefined;
}

export function scopesOf(token: string | undefined): readonly string[] {
  const { scope, scp } = readJwt(token ?? '')?.claims ?? {};
  const text = typeof scope === 'string' ? scope : Array.isArray(scp) ? scp.join(' ') : String(scp ?? '');
  return text.split(' ').filter(Boolean);
}

/** The tokens of a run. Without a good token, it is the one that the target is used with. */
export function tokensFor(target: CheckTarget, tokens: CheckTokens = {}): CheckTokens {
  if (target.transport !== 'http' || tokens.given?.good !== undefined || tokens.signer) return tokens;
  const header = Object.entries(target.headers).find(([name]) => isAuthorization(name))?.[1];
  const [, good] = /^bearer +(\S+)$/i.exec(header ?? '') ?? [];
  return good === undefined ? tokens : { ...tokens, given: { ...tokens.given, good } };
}

/** The good token is the credential of ordinary requests. */
export function withToken(target: CheckTarget, tokens: TokenSet): CheckTarget {
  const good = tokens.of('good');
  if (target.transport !== 'http' || good === undefined) return target;
  const others = Object.entries(target.headers).filter(([name]) => !isAuthorization(name));
  return { ...target, headers: { ...Object.fromEntries(others), authorization: `Bearer ${good}` } };
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}
