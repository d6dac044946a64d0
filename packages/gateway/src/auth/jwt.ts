import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { CredentialState } from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { JWTHeaderParameters, JWTPayload, JWTVerifyOptions } from 'jose';
import { type AudienceRule, isMeantFor, ownAudiences } from './audience.js';
import { type Scheme, UNKNOWN } from './credentials.js';
import { createKeySource, KeysUnavailable } from './jwks.js';
import { boundProblem, checkScopes, invalidToken, ownerOf, refusedToken, toCaller } from './token-caller.js';

/** Access tokens that an authorization server issues and signs (RFC 9068 and similar). */
export interface JwtOptions {
  /** Where the public keys are. Fetched with the first token, kept for ten minutes. */
  readonly jwksUrl: string;
  /** One of these must be in `aud`, so that tokens for other servers are not accepted. */
  readonly audience?: string | readonly string[];
  /** The public URL of the gateway. Tokens for it and for the URLs of its servers are accepted, too. */
  readonly resource?: string;
  /** The issuer (`iss`). Default: any issuer whose token is signed with these keys. */
  readonly issuer?: string | readonly string[];
  /** The only `typ` that is accepted, for example `at+jwt`. Default: access tokens of any usual kind. */
  readonly requireType?: string;
  /**
   * The keys also sign ID tokens. A token without `typ: at+jwt` then needs a claim that only access tokens have: an ID token
   * for a client whose id is one of the audiences would be accepted otherwise.
   */
  readonly mayHaveIdTokens?: boolean;
  /** All of them must be in `scope` (or `scp`); otherwise 403. */
  readonly requiredScopes?: readonly string[];
  /** The claim that has the scopes of a token that has neither `scope` nor `scp`: a list, or a text with spaces. */
  readonly scopeClaim?: string;
  /** The claim that identifies the caller. Default `sub`. */
  readonly principalClaim?: string;
  /** The allowed difference of the clocks, in seconds. Default 30. */
  readonly clockTolerance?: number;
  /** The timeout for fetching the keys. Default 5 s. */
  readonly timeoutMs?: number;
  /** Fetches the keys. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

export function createJwtCheck(
  options: JwtOptions,
  { clock, warn }: { readonly clock: Clock; readonly warn: (message: string) => void },
): Scheme {
  const { requiredScopes = [], scopeClaim, principalClaim = 'sub', clockTolerance = 30 } = options;
  const audience: AudienceRule = { names: listOf(options.audience), resource: options.resource };
  if (audience.names.length === 0 && audience.resource === undefined) {
    throw new IsthmusError(
      'INVALID_OPTION',
      'jwt.audience is needed: tokens for other servers must not be accepted here',
    );
  }
  if (!(clockTolerance >= 0)) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `jwt.clockTolerance is a number of seconds, got ${clockTolerance}`,
    );
  }
  checkScopes(requiredScopes, 'jwt.requiredScopes');
  const keys = createKeySource({ ...options, clock, warn });
  const issuer = options.issuer === undefined ? undefined : listOf(options.issuer);
  const checks: JWTVerifyOptions = {
    algorithms: ASYMMETRIC,
    clockTolerance,
    // A token without it would be valid for ever.
    requiredClaims: ['exp'],
    ...(issuer && { issuer }),
  };
  const owner = (payload: JWTPayload) => ownerOf(payload, payload.iss ?? '', { principalClaim });
  return async ({ bearer, resource, covers }) => {
    // A JWT has three parts. Anything else belongs to another scheme.
    if (bearer === undefined || bearer.split('.').length !== 3) return UNKNOWN;
    const { jwtVerify, errors } = await import('jose');
    try {
      const { payload, protectedHeader } = await jwtVerify(bearer, await keys(), {
        ...checks,
        currentDate: new Date(clock.now()),
      });
      const invalid = (why: string) => invalidToken(why, owner(payload));
      const problem = kindProblem(protectedHeader, payload, options) ?? boundProblem(payload);
      if (problem !== undefined) return invalid(problem);
      const meant = ownAudiences(listOf(payload.aud), audience, resource);
      if (meant.length === 0) return invalid('The claim aud does not fit');
      if (!isMeantFor(meant, resource)) return invalid('The token is for another path of this server');
      const goodUntil = (payload.exp! + clockTolerance) * 1000;
      const standing = (): CredentialState => (clock.now() < goodUntil ? 'good' : 'expired');
      const rules = { principalClaim, requiredScopes, scopeClaim, covers };
      return toCaller(payload, payload.iss ?? '', rules, { expiresAt: payload.exp! * 1000, standing });
    } catch (error) {
      if (error instanceof KeysUnavailable)
        return refusedToken({ status: 503, retryAfterMs: error.retryAfterMs });
      // The signature was verified before the claims.
      if (error instanceof errors.JWTExpired)
        return invalidToken('The token has expired', owner(error.payload));
      if (error instanceof errors.JWTClaimValidationFailed)
        return invalidToken(`The claim ${error.claim} does not fit`, owner(error.payload));
      return invalidToken('The token cannot be verified');
    }
  };
}

export function listOf(value: string | readonly string[] = []): string[] {
  return typeof value === 'string' ? [value] : [...value];
}

/** With a symmetric algorithm, anyone who has the public key could sign. */
const ASYMMETRIC = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/**
 * Why a token with a valid signature is not an access token. An ID token identifies a user to the application that
 * requested it, and gives no access (RFC 9068, §2.1 and §5).
 */
export function kindProblem(
  { typ }: Pick<JWTHeaderParameters, 'typ'>,
  payload: JWTPayload,
  { requireType, mayHaveIdTokens = false }: Pick<JwtOptions, 'requireType' | 'mayHaveIdTokens'> = {},
): string | undefined {
  const kind = typ === undefined ? undefined : typeName(typ);
  if (requireType !== undefined && kind !== typeName(requireType))
    return 'The token is not of the type that is needed';
  if (kind === 'at+jwt') return undefined;
  if (kind !== undefined && kind !== 'jwt') return 'The token is of a kind that opens nothing here';
  // Some authorization servers have the kind in a claim.
  const claimed = typeof payload['typ'] === 'string' ? payload['typ'].toLowerCase() : undefined;
  if (claimed === 'bearer' || claimed === 'at+jwt') return undefined;
  const isIdToken = claimed === 'id' || ID_CLAIMS.some((name) => payload[name] !== undefined);
  if (isIdToken) return 'The token is an ID token; an access token is needed';
  if (!mayHaveIdTokens || payload['gty'] === MACHINE_GRANT) return undefined;
  if (ACCESS_CLAIMS.some((name) => payload[name] !== undefined)) return undefined;
  return 'Nothing in the token says that it is an access token';
}

/** RFC 9068, §4: case does not count, and `application/` may be left out. */
function typeName(typ: string): string {
  return typ.toLowerCase().replace(/^application\//, '');
}

/** Claims of OpenID Connect Core §2 and §3.3.2.11 that only ID tokens have. */
const ID_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'] as const;

/** Claims of access tokens: RFC 9068, and what Okta (`cid`) and Entra (`scp`, `appid`, `azpacr`, `idtyp`) write. */
const ACCESS_CLAIMS = ['scope', 'scp', 'client_id', 'cid', 'appid', 'azpacr', 'idtyp'] as const;

/** Auth0 writes it into tokens that a client got for itself. This grant gives no ID tokens (RFC 6749, §4.4). */
const MACHINE_GRANT = 'client-credentials';
