import { createHash, randomBytes, type webcrypto } from 'node:crypto';
import { IsthmusError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

/**
 * The content of `requestState`, encrypted: the client returns it, but can neither read nor change it, nor use it with
 * another request (MRTR-009 … MRTR-012).
 */
type RequestState = ParkedState | ReplayState;

/** Names a call that is parked in a process. Each round has a new id, so a state can be used once (MRTR-013). */
export interface ParkedState {
  readonly kind: 'parked';
  readonly id: string;
  /** The server that parked the call: replicas can open each other's states, but cannot resume each other's calls. */
  readonly home: string;
}

/** The handler's own state; the server keeps nothing. */
export interface ReplayState {
  readonly kind: 'replay';
  readonly value: unknown;
}

/** What a state is bound to. All of it must match in the next round. */
export interface StateBinding {
  readonly digest: string;
  readonly principal: string | undefined;
}

export interface StateSeal {
  /** `member`: the process that can resume it, where there are several. Others can read it, and only that. */
  seal(state: RequestState, binding: StateBinding, expiresAt: number, member?: string): Promise<string>;
  /** `undefined` for a state that is forged, altered, foreign or expired; the client is told no more than that. */
  open(text: string, binding: StateBinding, now: number): Promise<RequestState | undefined>;
}

/** JWE with direct AES-256-GCM. Replicas that share a key can continue each other's replay states. */
export function createStateSeal(given?: StateKey | readonly StateKey[]): StateSeal {
  let keys = given === undefined ? undefined : createStateKeys(given);
  // A key of our own is made for the first state: few servers ever have one, and `node:crypto` takes long to load.
  const keysNow = () => {
    keys ??= createStateKeys([randomBytes(32)]);
    return keys;
  };
  return {
    async seal(state, binding, expiresAt, member) {
      const { CompactEncrypt } = await loadEncrypt();
      const { sealing } = keysNow();
      const body = { ...state, digest: binding.digest, principal: binding.principal ?? null, expiresAt };
      return new CompactEncrypt(Buffer.from(JSON.stringify(body)))
        .setProtectedHeader({
          alg: 'dir',
          enc: 'A256GCM',
          kid: sealing.name,
          ...(member !== undefined && { member }),
        })
        .encrypt(await keyOf(sealing));
    },
    async open(text, binding, now) {
      const { compactDecrypt } = await loadDecrypt();
      let body: unknown;
      try {
        const { plaintext } = await compactDecrypt(text, ({ kid }) => keyOf(keysNow().find(kid)), {
          keyManagementAlgorithms: ['dir'],
          contentEncryptionAlgorithms: ['A256GCM'],
        });
        body = JSON.parse(Buffer.from(plaintext).toString('utf8'));
      } catch {
        return undefined;
      }
      if (!isJsonObject(body)) return undefined;
      if (body['digest'] !== binding.digest) return undefined;
      if (body['principal'] !== (binding.principal ?? null)) return undefined;
      if (typeof body['expiresAt'] !== 'number' || body['expiresAt'] <= now) return undefined;
      return body as unknown as RequestState;
    },
  };
}

/** The member that a state names. It is authenticated only when the state is opened. */
export function memberOfState(text: string): string | undefined {
  const end = text.indexOf('.');
  if (end < 0 || end > MAX_HEADER) return undefined;
  try {
    const header: unknown = JSON.parse(Buffer.from(text.slice(0, end), 'base64url').toString());
    const member = isJsonObject(header) ? header['member'] : undefined;
    return typeof member === 'string' ? member : undefined;
  } catch {
    return undefined;
  }
}

const MAX_HEADER = 512;

/**
 * A digest of what must be the same in the next round: the method, and the params without `_meta` and the members of the
 * round (MRTR-023). The order of keys does not matter.
 */
export function digestRequest(method: string, params: JsonObject): string {
  const { _meta, inputResponses, requestState, ...rest } = params;
  return createHash('sha256').update(method).update('\n').update(canonicalJson(rest)).digest('base64url');
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    if (!isJsonObject(inner)) return inner;
    const sorted: [string, unknown][] = Object.keys(inner)
      .sort()
      .map((name) => [name, inner[name]]);
    return Object.fromEntries(sorted);
  });
}

/** Made once: to import a key takes longer than to use it. */
async function keyOf(named: NamedKey | undefined): Promise<webcrypto.CryptoKey> {
  if (!named) throw new Error('no such key');
  named.key ??= crypto.subtle.importKey('raw', named.secret, 'AES-GCM', false, ['encrypt', 'decrypt']);
  return named.key;
}

let encrypting: Promise<typeof import('jose/jwe/compact/encrypt')> | undefined;
let decrypting: Promise<typeof import('jose/jwe/compact/decrypt')> | undefined;

/** Loaded by the first question. */
function loadEncrypt() {
  encrypting ??= import('jose/jwe/compact/encrypt');
  return encrypting;
}

/** Loaded by the first answer. */
function loadDecrypt() {
  decrypting ??= import('jose/jwe/compact/decrypt');
  return decrypting;
}

/** 32 bytes, or the same as base64url text. */
export type StateKey = string | Uint8Array;

/** The keys of `requestState`: the first seals, all open. Several are for a key rotation. */
interface StateKeys {
  readonly sealing: NamedKey;
  /** Undefined if there is no such key. */
  find(name: string | undefined): NamedKey | undefined;
}

interface NamedKey {
  /** Identifies the key without revealing it. */
  readonly name: string;
  readonly secret: Uint8Array;
  /** The same for the cryptography of the platform, from its first use on. */
  key: Promise<webcrypto.CryptoKey> | undefined;
}

function createStateKeys(given: StateKey | readonly StateKey[]): StateKeys {
  const list = isList(given) ? given : [given];
  const keys = list.map((key) => named(toSecret(key)));
  const [sealing] = keys;
  if (!sealing) throw new IsthmusError('INVALID_OPTION', `stateKey is an empty list; ${HOW_TO_MAKE_ONE}`);
  return {
    sealing,
    // States of earlier versions do not name their key.
    find: (name) => (name === undefined ? sealing : keys.find((key) => key.name === name)),
  };
}

function named(secret: Uint8Array): NamedKey {
  const digest = createHash('sha256').update('isthmus request-state key name\n').update(secret).digest('hex');
  return { name: digest.slice(0, 8), secret, key: undefined };
}

function isList(given: StateKey | readonly StateKey[]): given is readonly StateKey[] {
  return Array.isArray(given);
}

function toSecret(key: StateKey): Uint8Array {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64url') : key;
  if (bytes instanceof Uint8Array && bytes.length === 32) return bytes;
  throw new IsthmusError(
    'INVALID_OPTION',
    `stateKey must be 32 bytes (as bytes, or as base64url text), got ${describeKey(bytes)}; ${HOW_TO_MAKE_ONE}`,
  );
}

function describeKey(bytes: unknown): string {
  return bytes instanceof Uint8Array ? `${bytes.length} bytes` : typeof bytes;
}

const HOW_TO_MAKE_ONE = `make one with: node -p "require('crypto').randomBytes(32).toString('base64url')"`;
