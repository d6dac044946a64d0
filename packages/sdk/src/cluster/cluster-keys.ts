import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { invalidArgument } from '../arguments.js';

/** What a key is for. A value that was made for one purpose is not accepted for another. */
export type KeyPurpose =
  | 'session-id'
  | 'request-state'
  | 'peer'
  | 'member'
  | 'record'
  | 'events'
  | 'news'
  | 'rate'
  | 'era';

/** The keys of a cluster, derived from its secrets. The first secret seals and signs, all of them open and verify. */
export interface ClusterKeys {
  /** A name of each secret, in order. It tells nothing of the secret. */
  readonly names: readonly string[];
  /** One key of 32 bytes for each secret, in order. */
  derive(purpose: KeyPurpose, context?: string): readonly Uint8Array[];
  /** 16 bytes. */
  mac(purpose: KeyPurpose, ...parts: readonly (string | Uint8Array)[]): Buffer;
  /** The same with each secret, in order. */
  macs(purpose: KeyPurpose, ...parts: readonly (string | Uint8Array)[]): readonly Buffer[];
  verify(purpose: KeyPurpose, mac: Uint8Array, ...parts: readonly (string | Uint8Array)[]): boolean;
  /** Seals values that belong to `context`, and to nothing else. */
  sealer(purpose: KeyPurpose, context: string): Sealer;
}

export interface Sealer {
  seal(plain: Uint8Array): Buffer;
  /** Undefined for a value that is forged, altered, of another context, or sealed with a key that is not in the ring. */
  open(sealed: Uint8Array): Buffer | undefined;
  /** The same value, sealed with the first secret. Undefined: it is already, or it cannot be opened. */
  renew(sealed: Uint8Array): Buffer | undefined;
}

/** `secrets`: of at least 32 characters each, made by a generator of random numbers. */
export function createClusterKeys(secrets: string | readonly string[]): ClusterKeys {
  const list = typeof secrets === 'string' ? [secrets] : secrets;
  if (!Array.isArray(list) || list.length === 0) throw invalidArgument(`A cluster needs a secret; ${HOW_TO}`);
  for (const secret of list) {
    if (typeof secret === 'string' && secret.length >= MIN_SECRET) continue;
    throw invalidArgument(`A secret of a cluster has at least ${MIN_SECRET} characters; ${HOW_TO}`);
  }
  const derive = (purpose: KeyPurpose, context = '') =>
    list.map((secret) => new Uint8Array(hkdfSync('sha256', secret, '', `isthmus ${purpose} ${context}`, 32)));
  const cached = new Map<KeyPurpose, readonly Uint8Array[]>();
  const keysFor = (purpose: KeyPurpose) => {
    const keys = cached.get(purpose) ?? derive(purpose);
    cached.set(purpose, keys);
    return keys;
  };
  const macs: ClusterKeys['macs'] = (purpose, ...parts) => keysFor(purpose).map((key) => macWith(key, parts));
  return {
    names: macs('member', 'name of the secret').map((mac) => mac.toString('base64url')),
    derive,
    mac: (purpose, ...parts) => macWith(keysFor(purpose)[0]!, parts),
    macs,
    verify: (purpose, mac, ...parts) =>
      mac.length === MAC_BYTES && keysFor(purpose).some((key) => timingSafeEqual(mac, macWith(key, parts))),
    sealer: (purpose, context) =>
      createSealer(derive(purpose, context), Buffer.from(`${purpose} ${context}`)),
  };
}

function macWith(key: Uint8Array, parts: readonly (string | Uint8Array)[]): Buffer {
  const hmac = createHmac('sha256', key);
  let text = '';
  // With their lengths, so that no two lists of parts are the same bytes. Texts in a row are given together: most of the time
  // goes into each update.
  for (const part of parts) {
    text += `${Buffer.byteLength(part)}:`;
    if (typeof part === 'string') text += part;
    else {
      hmac.update(text).update(part);
      text = '';
    }
  }
  return hmac.update(text).digest().subarray(0, MAC_BYTES);
}

/** AES-256-GCM: a version, the nonce, the tag, then the ciphertext. */
function createSealer(keys: readonly Uint8Array[], context: Buffer): Sealer {
  const seal = (plain: Uint8Array) => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', keys[0]!, nonce).setAAD(context);
    const text = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([FORMAT, nonce, cipher.getAuthTag(), text]);
  };
  const openWithOneOf = (some: readonly Uint8Array[], sealed: Uint8Array): Buffer | undefined => {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
    if (bytes.length < HEAD_BYTES || bytes[0] !== FORMAT[0]) return undefined;
    const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
    const tag = bytes.subarray(1 + NONCE_BYTES, HEAD_BYTES);
    for (const key of some) {
      const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(context).setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(bytes.subarray(HEAD_BYTES)), decipher.final()]);
      } catch {
        // Another key may open it.
      }
    }
    return undefined;
  };
  return {
    seal,
    open: (sealed) => openWithOneOf(keys, sealed),
    renew(sealed) {
      const others = keys.slice(1);
      const plain = others.length > 0 ? openWithOneOf(others, sealed) : undefined;
      return plain && seal(plain);
    },
  };
}

const FORMAT = Buffer.from([1]);
const NONCE_BYTES = 12;
const HEAD_BYTES = 1 + NONCE_BYTES + 16;
const MAC_BYTES = 16;
const MIN_SECRET = 32;
const HOW_TO = 'make one with: openssl rand -base64 32';
