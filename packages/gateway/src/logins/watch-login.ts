import type { GatewayServerSpec } from '../server-definition.js';

/** The stored login of a server, as one who waits for it sees it. */
export interface LoginWatch {
  /** Changes with each new token. Undefined: there is no login. Never rejects. */
  mark(): Promise<string | undefined>;
}

/** Undefined for a server that uses no stored login. */
export function loginWatch(spec: GatewayServerSpec): LoginWatch | undefined {
  if (spec.kind !== 'url' || spec.auth?.mode !== 'stored') return undefined;
  const { url } = spec;
  return {
    async mark() {
      // The first request loads them, too.
      const { loginKey } = await import('@isthmus/sdk/internal/oauth/store/login-record.js');
      const { userLoginStore } = await import('@isthmus/sdk/internal/oauth/store/user-logins.js');
      // A file that cannot be read is no login.
      const record = await userLoginStore()
        .read(loginKey(new URL(url)))
        .catch(() => undefined);
      return record?.token && `${record.issuer} ${record.token.obtainedAt} ${record.token.generation}`;
    },
  };
}
