import { createHash, randomBytes } from 'node:crypto';
import { IsthmusError } from '../../errors.js';

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
