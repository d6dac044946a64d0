import { createHash, timingSafeEqual } from 'node:crypto';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { type Presented, UNKNOWN } from './credentials.js';

/** A key and the name of its caller. Keys with the same name belong to the same caller. */
export interface ApiKey {
  readonly name?: string;
  readonly key: string;
}

export type KeyVerdict =
  | { readonly kind: 'known'; readonly principal: string; readonly hash: Buffer }
  | { readonly kind: 'unknown' };

/** The accepted keys. Only their hashes are kept. */
export class KeyRing {
  readonly #keys: readonly { readonly hash: Buffer; readonly principal: string }[];

  /** `source` says in errors where the keys come from; the keys themselves are never named. */
  constructor(keys: readonly ApiKey[], source: string) {
    const principals = new Map<string, string>();
    this.#keys = keys.map(({ name, key }, index) => {
      const problem = problemOf(name, key);
      if (problem) throw new IsthmusError('INVALID_OPTION', `${source}: entry ${index + 1} ${problem}`);
      const hash = hashOf(key);
      const principal = `key:${name ?? hash.toString('hex').slice(0, 12)}`;
      const known = principals.get(hash.toString('hex'));
      if (known !== undefined && known !== principal) {
        const why = `entry ${index + 1} (${principal}) has the key of ${known}: it could be either of them`;
        throw new IsthmusError('INVALID_OPTION', `${source}: ${why}`);
      }
      principals.set(hash.toString('hex'), principal);
      return { hash, principal };
    });
  }

  judge({ tokens }: Presented): KeyVerdict {
    for (const token of tokens) {
      const found = this.#find(hashOf(token));
      if (found) return { kind: 'known', ...found };
    }
    return UNKNOWN;
  }

  /** Whether the key with this hash is accepted. */
  has(hash: Buffer): boolean {
    return this.#find(hash) !== undefined;
  }

  /** Takes the same time for any key, at any position in the list. */
  #find(presented: Buffer): { readonly hash: Buffer; readonly principal: string } | undefined {
    let found: { readonly hash: Buffer; readonly principal: string } | undefined;
    for (const key of this.#keys) if (timingSafeEqual(key.hash, presented)) found = key;
    return found;
  }
}

/** A warning about a key that is accepted, but weak. */
export function weaknessOf({ name, key }: ApiKey): string | undefined {
  if (key.length >= SHORT) return undefined;
  const which = name === undefined ? 'An API key' : `The API key of ${name}`;
  return `${which} has only ${key.length} characters and can be guessed: take 32 random ones`;
}

function problemOf(name: string | undefined, key: unknown): string | undefined {
  if (typeof key !== 'string' || key === '') return 'has no key';
  // Other characters may not arrive in a header as they were sent.
  if (!/^[\x21-\x7e]+$/.test(key)) return 'has a key that is not of visible ASCII characters';
  if (name !== undefined && (name.trim() === '' || /\p{Cc}/u.test(name)))
    return 'has a name that cannot be read';
  return undefined;
}

/** A fast hash is enough: unlike passwords, keys are random and long. */
function hashOf(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

const SHORT = 16;
