import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';

/** A key of an issuer, with what the header of its tokens has. */
export interface SigningKey {
  readonly key: KeyObject;
  readonly alg: string;
  readonly kid?: string;
}

/** Reads a private key: PEM, or a JWK as JSON. */
export function readSigningKey(text: string): SigningKey {
  const jwk = parseJwk(text);
  let key: KeyObject;
  try {
    key = jwk ? createPrivateKey({ key: jwk, format: 'jwk' }) : createPrivateKey(text);
  } catch (error) {
    // The words of OpenSSL name no part of the key.
    throw new IsthmusError(
      'INVALID_OPTION',
      `The key is neither a private key as PEM nor a private JWK: ${messageOf(error)}`,
    );
  }
  const { alg, kid } = jwk ?? {};
  return {
    key,
    alg: typeof alg === 'string' ? alg : algorithmOf(key),
    ...(typeof kid === 'string' && { kid }),
  };
}

/** A key that no server knows, for the same algorithm. */
export function strangeKey({ alg, kid }: Omit<SigningKey, 'key'>): SigningKey {
  const { privateKey } = alg.startsWith('ES')
    ? generateKeyPairSync('ec', { namedCurve: CURVES[alg] ?? 'P-256' })
    : alg === 'EdDSA' || alg === 'Ed25519'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    key: privateKey,
    alg: /^(ES|RS|PS|Ed)/.test(alg) ? alg : 'RS256',
    ...(kid !== undefined && { kid }),
  };
}

/** A signed token (RFC 7515), of the type of access tokens (RFC 9068). */
export function signJwt(claims: JsonObject, { key, alg, kid }: SigningKey, more: JsonObject = {}): string {
  const header = { alg, typ: 'at+jwt', ...(kid !== undefined && { kid }), ...more };
  const text = `${encode(header)}.${encode({ jti: randomUUID(), ...claims })}`;
  const digest = alg.startsWith('Ed') ? null : `sha${alg.slice(-3)}`;
  if (alg.startsWith('HS')) {
    return `${text}.${createHmac(String(digest), key).update(text).digest('base64url')}`;
  }
  const signature = sign(digest, Buffer.from(text), {
    key,
    dsaEncoding: 'ieee-p1363',
    ...(alg.startsWith('PS') && { padding: 6, saltLength: -1 }),
  });
  return `${text}.${signature.toString('base64url')}`;
}

/** The parts of a JWT; undefined for other tokens. */
export function readJwt(
  token: string,
): { readonly header: JsonObject; readonly claims: JsonObject; readonly signature: string } | undefined {
  const [head = '', body = '', signature, ...more] = token.split('.');
  if (signature === undefined || more.length > 0) return undefined;
  const header = decode(head);
  const claims = decode(body);
  return header && claims ? { header, claims, signature } : undefined;
}

export function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(text: string): JsonObject | undefined {
  return parseObject(Buffer.from(text, 'base64url').toString());
}

function parseJwk(text: string): JsonObject | undefined {
  return text.trimStart().startsWith('{') ? parseObject(text) : undefined;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const CURVES: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === 'rsa') return 'RS256';
  if (asymmetricKeyType === 'ed25519') return 'EdDSA';
  const curve = asymmetricKeyDetails?.namedCurve;
  const alg = { prime256v1: 'ES256', secp384r1: 'ES384', secp521r1: 'ES512' }[curve ?? ''];
  if (alg !== undefined) return alg;
  throw new IsthmusError(
    'INVALID_OPTION',
    `Tokens are not signed with a key of the type ${asymmetricKeyType}`,
  );
}
