import type { JWTHeaderParameters, JWTPayload } from 'jose';

/**
 * Why a token that is signed properly is no access token. An ID token says who somebody is to the application that
 * asked for it, and opens nothing (RFC 9068, §2.1 and §5).
 */
export function kindProblem(
  { typ }: Pick<JWTHeaderParameters, 'typ'>,
  payload: JWTPayload,
): string | undefined {
  const kind = typ?.toLowerCase().replace(/^application\//, '');
  if (kind === 'at+jwt') return undefined;
  if (kind !== undefined && kind !== 'jwt') return 'The token is of a kind that opens nothing here';
  // Some authorization servers say it in a claim.
  const claimed = typeof payload['typ'] === 'string' ? payload['typ'].toLowerCase() : undefined;
  if (claimed === 'bearer' || claimed === 'at+jwt') return undefined;
  const isIdToken = claimed === 'id' || ID_CLAIMS.some((name) => payload[name] !== undefined);
  return isIdToken ? 'The token is an ID token; an access token is needed' : undefined;
}

/** Claims of OpenID Connect Core §2 and §3.3.2.11 that only ID tokens have. */
const ID_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'] as const;
