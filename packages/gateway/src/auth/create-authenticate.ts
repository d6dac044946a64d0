import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { tell } from '@isthmus/sdk/internal/era/client-dialect-context.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type {
  Authenticate,
  CredentialState,
  Refusal,
} from '@isthmus/sdk/internal/transport/http-server/options.js';
import { type AuthServerOptions, createAuthServerCheck } from './auth-server.js';
import { openBearerFile } from './bearer-file.js';
import { readCredentials, type Scheme } from './credentials.js';
import { openDenyFile } from './deny-file.js';
import { createJwtCheck, type JwtOptions } from './jwt.js';
import { type ApiKey, KeyRing, weaknessOf } from './key-ring.js';

/** How callers are authenticated. A caller that one of these schemes accepts is let in. */
export interface AuthOptions {
  /** Accepted as `X-API-Key: KEY` and as `Authorization: Bearer KEY`. */
  readonly apiKeys?: readonly ApiKey[];
  /** A file of `name: token` or bare tokens, one a line, with `#` comments. Read again when it has changed. */
  readonly bearerFile?: string;
  /** Tokens of an authorization server. */
  readonly jwt?: JwtOptions;
  /** Authorization servers that say by themselves where their keys are. */
  readonly authServers?: readonly AuthServerOptions[];
  /** A file that names credentials, callers and clients that are refused although they are known. Read again when it has changed. */
  readonly denyFile?: string;
  /** Called with warnings for the operator: a weak key, a file that others can read, keys that cannot be fetched. */
  readonly onWarning?: (message: string) => void;
  readonly clock?: Clock;
}

export interface Authenticating {
  /** For `authenticate` of an HTTP endpoint; the same for any number of them. */
  readonly authenticate: Authenticate;
}

/**
 * A principal is the same name for the same caller, and never a secret: `key:NAME`, `key:` and the beginning of the
 * key's SHA-256, or `jwt:ISSUER|SUBJECT`.
 */
export function createAuthenticate(options: AuthOptions): Authenticating {
  const { apiKeys = [], bearerFile, jwt, authServers = [], denyFile, clock = systemClock } = options;
  const warn = (message: string) => tell('onWarning', options.onWarning, message);
  const schemes: Scheme[] = [];
  if (apiKeys.length > 0) {
    for (const key of apiKeys) warnOf(weaknessOf(key), warn);
    const ring = new KeyRing(apiKeys, 'apiKeys');
    schemes.push((presented) => ring.judge(presented));
  }
  if (bearerFile !== undefined) {
    const file = openBearerFile(bearerFile, { warn, clock });
    schemes.push(async (presented) => {
      const verdict = (await file.ring()).judge(presented);
      if (verdict.kind !== 'known') return verdict;
      // Keeps the hash, not the token.
      const { hash, principal } = verdict;
      const standing = async (): Promise<CredentialState> =>
        (await file.ring()).has(hash) ? 'good' : 'revoked';
      return { kind: 'known', principal, standing };
    });
  }
  if (jwt) schemes.push(createJwtCheck(jwt, { warn, clock }));
  for (const server of authServers) schemes.push(createAuthServerCheck(server, { warn, clock }));
  if (schemes.length === 0) {
    throw new IsthmusError(
      'INVALID_OPTION',
      'authentication needs at least one of apiKeys, bearerFile, jwt and authServers',
    );
  }
  const deny = denyFile === undefined ? undefined : openDenyFile(denyFile, { warn, clock });
  const scopes = jwt?.requiredScopes ?? authServers[0]?.requiredScopes;
  return {
    async authenticate(request) {
      const presented = readCredentials(request);
      if (presented.tokens.length === 0)
        return { status: 401, challenge: REALM, why: 'No credentials were sent', ...(scopes && { scopes }) };
      let refusal: Refusal | undefined;
      for (const scheme of schemes) {
        const found = await scheme(presented);
        const verdict = deny && found.kind === 'known' ? await deny.judge(found) : found;
        if (verdict.kind === 'known') return verdict.standing ? verdict : verdict.principal;
        if (verdict.kind === 'refused') refusal ??= verdict.refusal;
      }
      return (
        refusal ?? {
          status: 401,
          // The same for all: it says nothing of the keys and tokens that are valid.
          challenge: 'error="invalid_token", error_description="The credential is not valid here"',
          why: 'The credentials are not known here',
        }
      );
    },
  };
}

function warnOf(weakness: string | undefined, warn: (message: string) => void): void {
  if (weakness !== undefined) warn(weakness);
}

/** RFC 6750, §3: at least one parameter. */
const REALM = 'realm="mcp"';
