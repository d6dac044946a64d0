import { createHash, randomBytes } from 'node:crypto';
import { IsthmusError } from '../../errors.js';
import { isJsonObject, type JsonObject } from '../../wire/json-rpc.js';

/**
 * What travels in `requestState`, encrypted: the client carries it, but can neither read, change nor move it
 * to another request (MRTR-009 … MRTR-012).
 */
export type RequestState = ParkedState | ReplayState;

/** Names a handler that sleeps in this process. Each round has a new id, so a state is good for one use (MRTR-013). */
export interface ParkedState {
  readonly kind: 'parked';
  readonly id: string;
  /** The server in which the handler sleeps: replicas open each other's states, and cannot wake each other's handlers. */
  readonly home: string;
}

/** The handler's own state; nothing is remembered here. */
export interface ReplayState {
  readonly kind: 'replay';
  readonly value: unknown;
}

/** What a state is bound to. All of it must match when it comes back. */
export interface StateBinding {
  readonly digest: string;
  readonly principal: string | undefined;
}

export interface StateSeal {
  seal(state: RequestState, binding: StateBinding, expiresAt: number): Promise<string>;
  /** `undefined` for anything forged, altered, foreign or expired; the caller says no more than that. */
  open(text: string, binding: StateBinding, now: number): Promise<RequestState | undefined>;
}

/** JWE, direct AES-256-GCM. Replicas that share a key can go on with each other's replay states. */
export function createStateSeal(given?: StateKey | readonly StateKey[]): StateSeal {
  const keys = createStateKeys(given);
  return {
    async seal(state, binding, expiresAt) {
      const { CompactEncrypt } = await import('jose/jwe/compact/encrypt');
      const body = { ...state, digest: binding.digest, principal: binding.principal ?? null, expiresAt };
      return new CompactEncrypt(Buffer.from(JSON.stringify(body)))
        .setProtectedHeader({ alg: 'dir', enc: 'A256GCM', kid: keys.sealing.name })
        .encrypt(keys.sealing.secret);
    },
    async open(text, binding, now) {
      const { compactDecrypt } = await import('jose/jwe/compact/decrypt');
      let body: unknown;
      try {
        const { plaintext } = await compactDecrypt(text, ({ kid }) => secretOf(keys.find(kid)), {
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

/**
 * A digest of what must be the same in a retry: method and params without `_meta` and the round's own
 * members (MRTR-023). Key order does not matter.
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

function secretOf(key: NamedKey | undefined): Uint8Array {
  if (key) return key.secret;
  throw new Error('no such key');
}

/** 32 bytes, or the same as base64url text. */
export type StateKey = string | Uint8Array;

/** The keys of `requestState`: the first seals, all open. Several are for the time in which a key is replaced. */
export interface StateKeys {
  readonly sealing: NamedKey;
  /** By its name; undefined where there is no such key. */
  find(name: string | undefined): NamedKey | undefined;
}

export interface NamedKey {
  /** Says which key it is, and nothing about it. */
  readonly name: string;
  readonly secret: Uint8Array;
}

export function createStateKeys(given: StateKey | readonly StateKey[] | undefined): StateKeys {
  const list = given === undefined ? [randomBytes(32)] : isList(given) ? given : [given];
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
  return { name: digest.slice(0, 8), secret };
}

function isList(given: StateKey | readonly StateKey[]): given is readonly StateKey[] {
  return Array.isArray(given);
}

function toSecret(key: StateKey): Uint8Array {
  const bytes = typeof key === 'string' ? Buffer.from(key, 'base64url') : key;
  if (bytes instanceof Uint8Array && bytes.length === 32) return bytes;
  throw new IsthmusError(
    'INVALID_OPTION',
    `stateKey must be 32 bytes (as bytes, or base64url text), this is ${describeKey(bytes)}; ${HOW_TO_MAKE_ONE}`,
  );
}

function describeKey(bytes: unknown): string {
  return bytes instanceof Uint8Array ? `${bytes.length} bytes` : typeof bytes;
}

const HOW_TO_MAKE_ONE = `make one with: node -p "require('crypto').randomBytes(32).toString('base64url')"`;
