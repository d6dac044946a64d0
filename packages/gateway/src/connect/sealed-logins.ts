import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import { ByPrincipal } from '@isthmus/sdk/internal/exchange/by-principal.js';
import { type FileSeal, fileLoginStore } from '@isthmus/sdk/internal/oauth/store/file-store.js';
import { type LoginStore, memoryLoginStore } from '@isthmus/sdk/internal/oauth/store/login-record.js';
import { clusterLoginStore } from './shared-logins.js';

/** Where the logins of callers are kept. */
export interface LoginsOfCallers {
  /** The logins of one principal. Those of another one cannot be read with it. */
  of(principal: string): LoginStore;
}

export interface SealedFolder {
  readonly folder: string;
  /** 32 bytes as base64url. The first key seals, all keys open. */
  readonly keys: readonly string[];
}

/**
 * In a folder logins are sealed (AES-256-GCM), each in a file of its own. Without one, the members of a cluster have them in
 * common, and those of a single process end with it.
 */
export function loginsOfCallers(sealed: SealedFolder | undefined, cluster?: Cluster): LoginsOfCallers {
  if (!sealed && cluster) {
    const shared = clusterLoginStore(cluster);
    return { of: (principal) => forPrincipal(shared, principal) };
  }
  if (!sealed) {
    const stores = new ByPrincipal(() => memoryLoginStore(), MAX_CALLERS);
    return { of: (principal) => stores.of(principal) };
  }
  const store = fileLoginStore(sealed.folder, sealWith(sealed.keys));
  return { of: (principal) => forPrincipal(store, principal) };
}

/** The same store with keys of its own for each principal. */
function forPrincipal(store: LoginStore, principal: string): LoginStore {
  const own = (key: string) =>
    createHash('sha256')
      .update(JSON.stringify([principal, key]))
      .digest('hex')
      .slice(0, 32);
  return {
    read: (key) => store.read(own(key)),
    write: (key, record) => store.write(own(key), record),
    delete: (key) => store.delete(own(key)),
    list: async () => [],
    locked: (key, action) => store.locked(own(key), action),
  };
}

function sealWith(keys: readonly string[]): FileSeal {
  const all = keys.map((key) => Buffer.from(key, 'base64url'));
  if (all.length === 0 || all.some((key) => key.length !== 32)) {
    throw new IsthmusError('INVALID_OPTION', 'The keys that seal logins must be 32 bytes as base64url');
  }
  return {
    seal(text, name) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', all[0]!, iv).setAAD(Buffer.from(name));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return `${FORMAT}${Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')}\n`;
    },
    open(sealed, name) {
      const bytes = Buffer.from(sealed.trim().slice(FORMAT.length), 'base64url');
      for (const key of sealed.startsWith(FORMAT) ? all : []) {
        try {
          const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
          decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(12, 28));
          return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
        } catch {
          // Another key may have sealed it.
        }
      }
      throw new IsthmusError('INVALID_OPTION', 'A login is not sealed with one of the keys');
    },
  };
}

/** The callers whose logins are kept in memory. The least recently used one is forgotten. */
const MAX_CALLERS = 10_000;
const FORMAT = 'isthmus-sealed-1.';
