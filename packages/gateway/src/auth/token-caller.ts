import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type {
  CoversScopes,
  CredentialState,
  Refusal,
  RefusedCaller,
} from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { SchemeVerdict } from './credentials.js';

/** How the claims of a token become a caller. */
export interface CallerRules {
  /** All of them must be in `scope` (or `scp`); otherwise 403. */
  readonly requiredScopes: readonly string[];
  /** The claim with the scopes of a token that has neither `scope` nor `scp`. */
  readonly scopeClaim?: string | undefined;
  /** The claim that identifies the caller. */
  readonly principalClaim: string;
  /** Default: each scope that is needed must be there. */
  readonly covers?: CoversScopes | undefined;
}

/** The caller of a token that is valid. `claims`: of a JWT, or of the answer of an introspection endpoint. */
export function toCaller(
  claims: JsonObject,
  issuer: string,
  { requiredScopes, scopeClaim, principalClaim, covers = hasEach }: CallerRules,
  life: { readonly expiresAt: number; standing(): CredentialState | Promise<CredentialState> },
): SchemeVerdict {
  const who = subjectOf(claims, principalClaim);
  if (who === undefined) return invalidToken('The token has no subject (sub)');
  const scopes = [...new Set(scopesOf(claims, scopeClaim))];
  const clientId = clientIdOf(claims);
  const principal = principalOf(issuer, who);
  const grant = {
    principal,
    ...{ scopes, claims, expiresAt: life.expiresAt, standing: life.standing },
    ...(requiredScopes.length > 0 && { requiredScopes }),
    ...(clientId !== undefined && { clientId }),
  };
  if (!covers(scopes, requiredScopes)) {
    const challenge = 'error="insufficient_scope"';
    const why = 'The token has not the scopes that every caller needs';
    const caller = { principal, clientId };
    return refusedToken({ status: 403, challenge, why, scopes: requiredScopes, caller, grant });
  }
  return { kind: 'known', ...grant };
}

const hasEach: CoversScopes = (granted, needed) => needed.every((scope) => granted.includes(scope));

/** The first | separates the two, whatever the subject contains. */
function principalOf(issuer: string, who: string): string {
  return `jwt:${issuer.replaceAll('|', '%7C')}|${who}`;
}

/** The owner of a token that is genuine, and refused for another reason. Undefined: the token does not say it. */
export function ownerOf(
  claims: JsonObject,
  issuer: string,
  { principalClaim }: Pick<CallerRules, 'principalClaim'>,
): RefusedCaller | undefined {
  const who = subjectOf(claims, principalClaim);
  return who === undefined
    ? undefined
    : { principal: principalOf(issuer, who), clientId: clientIdOf(claims) };
}

function subjectOf(claims: JsonObject, principalClaim: string): string | undefined {
  const who = claims[principalClaim];
  return typeof who === 'string' && who !== '' && !/\p{Cc}/u.test(who) ? who : undefined;
}

/** RFC 9068 has `client_id`. Others write `azp` (Keycloak, Auth0, Entra), `cid` (Okta) or `appid` (Entra). */
export function clientIdOf(claims: JsonObject): string | undefined {
  const found = CLIENT_CLAIMS.map((name) => claims[name]).find((value) => typeof value === 'string');
  return found as string | undefined;
}

const CLIENT_CLAIMS = ['client_id', 'azp', 'cid', 'appid'] as const;

/**
 * RFC 8693, §4.2: one string with spaces. Some authorization servers write lists, or `scp`. The other claim never adds to
 * these: it has what the owner may do, and they have what the client may do in the owner's name.
 */
function scopesOf(claims: JsonObject, otherClaim: string | undefined): string[] {
  const { scope, scp } = claims;
  const other = scope === undefined && scp === undefined && otherClaim !== undefined && claims[otherClaim];
  return [scope, scp, other]
    .flat()
    .flatMap((each) => (typeof each === 'string' ? each.split(' ') : []))
    .filter((each) => each !== '');
}

/**
 * Why a token that is bound to a key is refused (RFC 9449, RFC 8705). Whether its sender has the key is not checked here, and as
 * a bearer token a stolen one would be good.
 */
export function boundProblem({ cnf }: JsonObject): string | undefined {
  return cnf === undefined ? undefined : 'The token is bound to a key; bearer tokens are accepted here';
}

/** `why` is fixed text. Nothing of the request may get into a header. `caller`: the owner of a token that is genuine. */
export function invalidToken(why: string, caller?: RefusedCaller): SchemeVerdict {
  const challenge = `error="invalid_token", error_description="${why}"`;
  return refusedToken({ status: 401, challenge, why, ...(caller && { caller }) });
}

export function refusedToken(refusal: Refusal): SchemeVerdict {
  return { kind: 'refused', refusal };
}

/** RFC 6749, §3.3. */
export function checkScopes(scopes: readonly string[], option: string): void {
  const bad = scopes.find((scope) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope));
  if (bad !== undefined) {
    throw new IsthmusError('INVALID_OPTION', `${option}: ${JSON.stringify(bad)} is not a scope`);
  }
  if (scopes.includes('offline_access')) {
    const why = 'offline_access is about refresh tokens, and opens nothing here: leave it out';
    throw new IsthmusError('INVALID_OPTION', `${option}: ${why}`);
  }
}
