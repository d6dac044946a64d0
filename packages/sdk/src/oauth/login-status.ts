import type { LoginRecord, LoginToken } from './store/login-record.js';

/** A login as people may see it: without any secret. */
export interface LoginStatus {
  readonly server: string;
  /** `busy`: a user is logging in. */
  readonly state: 'none' | 'valid' | 'stale' | 'needs-login' | 'busy';
  readonly issuer: string | undefined;
  readonly clientId: string | undefined;
  readonly scopes: readonly string[];
  /** In milliseconds since 1970. */
  readonly expiresAt: number | undefined;
  readonly isRenewable: boolean;
  readonly reason: string | undefined;
  /** The page of a login that is under way. */
  readonly page?: string | undefined;
}

/** The status of a stored login. */
export function statusOf(server: URL | string, record: LoginRecord | undefined, now: number): LoginStatus {
  const token = record?.token;
  const isRenewable = token?.refresh !== undefined;
  return {
    server: record?.server ?? String(server),
    state: stateOf(record, now),
    issuer: record?.issuer,
    clientId: record?.client.id,
    scopes: token?.scopes ?? [],
    expiresAt: token?.expiresAt,
    isRenewable,
    reason: record?.reason,
  };
}

function stateOf(record: LoginRecord | undefined, now: number): LoginStatus['state'] {
  if (!record) return 'none';
  const { token } = record;
  if (!token) return 'needs-login';
  if (!isOver(token, now)) return 'valid';
  return token.refresh === undefined ? 'needs-login' : 'stale';
}

/** The user has not come back in time. The authorization server may have shown an error, which only the user has seen. */
export class LoginNotFinished extends Error {
  override readonly name = 'LoginNotFinished';
}

/** When a token is renewed: a minute before its end, or a tenth of a short life. */
export function renewAt({ expiresAt, obtainedAt }: LoginToken): number {
  if (expiresAt === undefined) return Number.POSITIVE_INFINITY;
  return expiresAt - Math.min(60_000, (expiresAt - obtainedAt) / 10);
}

export function isOver(token: LoginToken | undefined, now: number): boolean {
  return token?.expiresAt !== undefined && token.expiresAt <= now;
}

/**
 * Text of another party for a message: short, without what a terminal would obey, and without the secrets that were sent
 * there, which some servers repeat.
 */
export function toldText(text: string, secrets: readonly string[] = []): string {
  const hidden = secrets.filter((each) => each.length > 3);
  const open = hidden.reduce((left, secret) => left.replaceAll(secret, '[hidden]'), text);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
  const plain = open.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, ' ');
  return plain.length > 300 ? `${plain.slice(0, 300)}…` : plain;
}
