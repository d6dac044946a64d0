import type { AuthorizationServerMetadata } from '@isthmus/sdk/internal/oauth/discovery/authorization-server.js';
import type { CredentialState } from '@isthmus/sdk/internal/transport/http-server/options.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { isMeantFor, ownAudiences } from './audience.js';
import type { Presented, SchemeVerdict } from './credentials.js';
import { type JwtOptions, listOf } from './jwt.js';
import { KnownTokens, type KnownTokensOptions } from './known-tokens.js';
import { boundProblem, invalidToken, ownerOf, refusedToken, toCaller } from './token-caller.js';

export interface IntrospectionOptions
  extends KnownTokensOptions,
    Pick<JwtOptions, 'audience' | 'resource' | 'requiredScopes' | 'scopeClaim' | 'principalClaim'> {}

/**
 * Asks the authorization server whether a token is active (RFC 7662). An active token is asked about again after 30 s at
 * the latest, another one after 5 s. The same token is never asked about twice at once.
 */
export function createIntrospection(
  options: IntrospectionOptions,
): (presented: Presented, server: AuthorizationServerMetadata) => Promise<SchemeVerdict> {
  const { clock, requiredScopes = [], scopeClaim, principalClaim = 'sub' } = options;
  const audience = { names: listOf(options.audience), resource: options.resource };
  const answers = new KnownTokens(options);
  return async ({ bearer = '', resource, remote, covers }, server) => {
    if (!TOKEN.test(bearer)) return invalidToken('The token cannot be read');
    const asked = { token: bearer, remote };
    const state = await answers.stateOf(asked, server);
    if (state.kind === 'away') return refusedToken({ status: 503, retryAfterMs: state.until - clock.now() });
    if (state.kind === 'inactive') return invalidToken('The token is not active');
    const { claims } = state;
    // AUTH-S-005: some servers say it in `resource`.
    const audiences = [...textsOf(claims['aud']), ...textsOf(claims['resource'])];
    const meant = ownAudiences(audiences, audience, resource);
    const invalid = (why: string) => invalidToken(why, ownerOf(claims, server.issuer, { principalClaim }));
    if (meant.length === 0) return invalid('The token is for another server');
    if (!isMeantFor(meant, resource)) return invalid('The token is for another path of this server');
    const bound = boundProblem(claims);
    if (bound !== undefined) return invalid(bound);
    const expiresAt = state.expiresAt ?? Number.POSITIVE_INFINITY;
    const standing = async (): Promise<CredentialState> => {
      if (clock.now() >= expiresAt) return 'expired';
      const now = await answers.stateOf(asked, server);
      return now.kind === 'inactive' ? 'revoked' : 'good';
    };
    const issuer = typeof claims['iss'] === 'string' ? claims['iss'] : server.issuer;
    if (issuer !== server.issuer) return invalidToken('The token is of another issuer');
    const subject = claims[principalClaim] ?? clientSubject(claims);
    const named = { ...claims, [principalClaim]: subject };
    const rules = { requiredScopes, scopeClaim, principalClaim, covers };
    const verdict = toCaller(named, issuer, rules, { expiresAt, standing });
    if (verdict.kind !== 'known' || state.expiresAt !== undefined) return verdict;
    const { expiresAt: _never, ...rest } = verdict;
    return rest;
  };
}

/** A token that a client got for itself has no user. */
function clientSubject({ client_id: id }: JsonObject): string | undefined {
  return typeof id === 'string' ? `client:${id}` : undefined;
}

function textsOf(value: unknown): string[] {
  return [value].flat().filter((each) => typeof each === 'string') as string[];
}

/** RFC 6750, §2.1. Nothing else is sent to the authorization server. */
const TOKEN = /^[\w.~+/-]{1,8192}=*$/;
