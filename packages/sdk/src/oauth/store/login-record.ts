import { createHash } from 'node:crypto';

/** What is kept of a login. It has secrets: a store keeps it where only its user can read it. */
export interface LoginRecord {
  readonly v: 1;
  /** The URL of the server, without its query. */
  readonly server: string;
  /** The value of `resource` that was sent. */
  readonly resource: string | undefined;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | undefined;
  readonly client: LoginClient;
  /** Undefined: a new login is needed; `reason` says why. The registration of the client is kept. */
  readonly token: LoginToken | undefined;
  readonly reason: string | undefined;
  /** The user has allowed an authorization server at a private address. */
  readonly allowsPrivate?: boolean | undefined;
}

/** How the client is known to the authorization server. It is only used with the issuer of its record. */
export interface LoginClient {
  readonly kind: 'preregistered' | 'metadata-url' | 'registered';
  readonly id: string;
  /** Only of a client that was registered for this login. A configured secret stays where it came from. */
  readonly secret: string | undefined;
  /** The file with the secret of a configured client. */
  readonly secretFile?: string | undefined;
  readonly authMethod: TokenAuthMethod;
  readonly redirectUri: string | undefined;
  /** In milliseconds since 1970; undefined: never. */
  readonly expiresAt: number | undefined;
}

/** How a client identifies itself at the token endpoint of an authorization server. */
export type TokenAuthMethod = 'none' | 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt';

/** An access token, and what is needed to renew it. */
export interface LoginToken {
  readonly access: string;
  readonly refresh: string | undefined;
  /** In milliseconds since 1970; undefined: unknown. */
  readonly expiresAt: number | undefined;
  readonly obtainedAt: number;
  /** The scopes that were granted. */
  readonly scopes: readonly string[];
  /** The scopes that were asked for. A step-up asks for them again. */
  readonly requestedScopes: readonly string[];
  /** Grows by one with each token of this login. */
  readonly generation: number;
}

/** Keeps logins. The keys are file names: letters and digits only. */
export interface LoginStore {
  read(key: string): Promise<LoginRecord | undefined>;
  write(key: string, record: LoginRecord): Promise<void>;
  delete(key: string): Promise<void>;
  list(): Promise<readonly { readonly key: string; readonly record: LoginRecord }[]>;
  /** Runs the action while no other user of the store, also in another process, does so for the same key. */
  locked<T>(key: string, action: () => Promise<T>): Promise<T>;
}

/** Keeps logins as long as the process runs. */
export function memoryLoginStore(): LoginStore {
  const records = new Map<string, LoginRecord>();
  const last = new Map<string, Promise<unknown>>();
  return {
    read: async (key) => records.get(key),
    write: async (key, record) => void records.set(key, record),
    delete: async (key) => void records.delete(key),
    list: async () => [...records].map(([key, record]) => ({ key, record })),
    locked(key, action) {
      const turn = (last.get(key) ?? Promise.resolve()).then(action, action);
      last.set(
        key,
        turn.catch(() => {}),
      );
      return turn;
    },
  };
}

/** The key of the login for a server. Client credentials have a login of their own. */
export function loginKey(server: URL, clientCredentialsId?: string): string {
  const parts = [server.origin, server.pathname, server.search, clientCredentialsId ?? ''];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}
