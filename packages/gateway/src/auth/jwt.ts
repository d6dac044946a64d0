import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type {
  CredentialState,
  Refusal,
  ResourcePlace,
} from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { JWTHeaderParameters, JWTPayload, JWTVerifyOptions } from 'jose';
import { type Scheme, type SchemeVerdict, UNKNOWN } from './credentials.js';
import { createKeySource, KeysUnavailable } from './jwks.js';

/** Access tokens that an authorization server issues and signs (RFC 9068 and similar). */
export interface JwtOptions {
  /** Where the public keys are. Fetched with the first token, kept for ten minutes. */
  readonly jwksUrl: string;
  /** One of these must be in `aud`, so that tokens for other servers are not accepted. */
  readonly audience: string | readonly string[];
  /** The issuer (`iss`). Default: any issuer whose token is signed with these keys. */
  readonly issuer?: string | readonly string[];
  /** All of them must be in `scope` (or `scp`); otherwise 403. */
  readonly requiredScopes?: readonly string[];
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
  const { requiredScopes = [], principalClaim = 'sub', clockTolerance = 30 } = options;
  const audience = listOf(options.audience);
  if (audience.length === 0) {
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
  const badScope = requiredScopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (badScope !== undefined) {
    throw new IsthmusError(
      'INVALID_OPTION',
      `jwt.requiredScopes: ${JSON.stringify(badScope)} is not a scope`,
    );
  }
  const keys = createKeySource({ ...options, clock, warn });
  const issuer = options.issuer === undefined ? undefined : listOf(options.issuer);
  const rules: JWTVerifyOptions = {
    algorithms: ASYMMETRIC,
    audience,
    clockTolerance,
    // A token without it would be valid for ever.
    requiredClaims: ['exp'],
    ...(issuer && { issuer }),
  };
  return async ({ bearer, resource }) => {
    // A JWT has three parts. Anything else belongs to another scheme.
    if (bearer === undefined || bearer.split('.').length !== 3) return UNKNOWN;
    const { jwtVerify, errors } = await import('jose');
    try {
      const { payload, protectedHeader } = await jwtVerify(bearer, await keys(), {
        ...rules,
        currentDate: new Date(clock.now()),
      });
      const problem = kindProblem(protectedHeader, payload);
      if (problem !== undefined) return invalid(problem);
      const meant = listOf(payload.aud ?? []).filter((each) => audience.includes(each));
      if (!isMeantFor(meant, resource)) return invalid('The token is for another path of this server');
      const goodUntil = (payload.exp! + clockTolerance) * 1000;
      const standing = (): CredentialState => (clock.now() < goodUntil ? 'good' : 'expired');
      return judge(payload, principalClaim, requiredScopes, standing);
    } catch (error) {
      if (error instanceof KeysUnavailable) return refused({ status: 503, retryAfterMs: error.retryAfterMs });
      if (error instanceof errors.JWTExpired) return invalid('The token has expired');
      if (error instanceof errors.JWTClaimValidationFailed)
        return invalid(`The claim ${error.claim} does not fit`);
      return invalid('The token cannot be verified');
    }
  };
}

function judge(
  payload: JWTPayload,
  principalClaim: string,
  required: readonly string[],
  standing: () => CredentialState,
): SchemeVerdict {
  const who = payload[principalClaim];
  if (typeof who !== 'string' || who === '' || /\p{Cc}/u.test(who)) {
    return invalid('The token has no subject (sub)');
  }
  const has = new Set(scopesOf(payload));
  if (!required.every((scope) => has.has(scope))) {
    const challenge = `error="insufficient_scope", scope="${required.join(' ')}"`;
    return refused({ status: 403, challenge });
  }
  // The first | separates the two, whatever the subject contains.
  const issuer = (payload.iss ?? '').replaceAll('|', '%7C');
  return { kind: 'known', principal: `jwt:${issuer}|${who}`, scopes: [...has], claims: payload, standing };
}

/** RFC 8693, §4.2: one string with spaces. Some authorization servers write lists, or `scp`. */
function scopesOf({ scope, scp }: JWTPayload): string[] {
  return [scope, scp].flat().flatMap((each) => (typeof each === 'string' ? each.split(' ') : []));
}

/** `why` is fixed text. Nothing of the request may get into a header. */
function invalid(why: string): SchemeVerdict {
  return refused({ status: 401, challenge: `error="invalid_token", error_description="${why}"` });
}

function refused(refusal: Refusal): SchemeVerdict {
  return { kind: 'refused', refusal };
}

function listOf(value: string | readonly string[]): string[] {
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
): string | undefined {
  const kind = typ?.toLowerCase().replace(/^application\//, '');
  if (kind === 'at+jwt') return undefined;
  if (kind !== undefined && kind !== 'jwt') return 'The token is of a kind that opens nothing here';
  // Some authorization servers have the kind in a claim.
  const claimed = typeof payload['typ'] === 'string' ? payload['typ'].toLowerCase() : undefined;
  if (claimed === 'bearer' || claimed === 'at+jwt') return undefined;
  const isIdToken = claimed === 'id' || ID_CLAIMS.some((name) => payload[name] !== undefined);
  return isIdToken ? 'The token is an ID token; an access token is needed' : undefined;
}

/** Claims of OpenID Connect Core §2 and §3.3.2.11 that only ID tokens have. */
const ID_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'] as const;

/**
 * Whether a token with these audiences is valid for the requested resource. An audience that is a URL of this gateway names
 * a path, and is valid there and below (AUTH-030). Any other audience is a name, and is valid for the whole gateway.
 */
export function isMeantFor(audiences: readonly string[], place: ResourcePlace | undefined): boolean {
  if (!place) return audiences.length > 0;
  return audiences.some((audience) => {
    const path = pathOf(audience);
    if (path === undefined || !place.roots.some((root) => isAtOrBelow(path, partsOf(root)))) {
      // The root of the gateway, a URL of something else, or not a URL.
      return true;
    }
    return place.own.some((own) => isAtOrBelow(partsOf(own), path));
  });
}

/** The segments of the path of a URL; undefined for what is not an HTTP URL. */
function pathOf(audience: string): readonly string[] | undefined {
  if (!/^https?:/i.test(audience) || !URL.canParse(audience)) return undefined;
  return partsOf(new URL(audience).pathname);
}

function partsOf(path: string): readonly string[] {
  return path
    .split('/')
    .filter((part) => part !== '')
    .map(decoded);
}

function isAtOrBelow(path: readonly string[], above: readonly string[]): boolean {
  return above.every((part, at) => path[at] === part);
}

/** `c++` and `c%2B%2B` are the same. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
