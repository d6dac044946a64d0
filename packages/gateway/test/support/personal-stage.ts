import type { UrlAuth } from '@isthmus/sdk/internal/config/server-spec.js';
import { decodeJwt } from 'jose';
import { onTestFinished } from 'vitest';
import {
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from '../../../../test/support/authorization-server.js';
import { startProtectedServer } from '../../../../test/support/protected-server.js';
import { createAuthenticate } from '../../src/auth/create-authenticate.js';
import type { GatewayServerSpec } from '../../src/server-definition.js';
import { AUDIENCE, ISSUER, openAuthority } from './auth.js';
import { type HouseOptions, openHouse } from './secured-gateway.js';

export const CLIENT_SECRET = 'a-secret-of-the-gateway-51';

/** The authorization server of a company, whose tokens open the gateway. */
export async function company() {
  const authority = await openAuthority();
  const tokens: string[] = [];
  return {
    /** Every token that it has issued. */
    tokens,
    /** A token of this person, for the gateway. */
    async tokenOf(sub: string, claims: Record<string, unknown> = {}): Promise<string> {
      const token = await authority.token({ sub, ...claims });
      tokens.push(token);
      return token;
    },
    authenticate: createAuthenticate({
      jwt: { jwksUrl: authority.jwksUrl, audience: AUDIENCE, issuer: ISSUER },
    }).authenticate,
    /** As an authorization server that trusts this one. */
    ownerOf: async (token: string): Promise<string> => {
      if (!tokens.includes(token)) throw new Error('not ours');
      return decodeJwt(token).sub!;
    },
  };
}

export type Company = Awaited<ReturnType<typeof company>>;

/** A remote server with an authorization server of its own. Both end with the test. */
export async function upstreamStage(
  options: AuthorizationServerOptions = {},
  more: { readonly instructions?: string } = {},
) {
  const authorization = await startAuthorizationServer(options);
  onTestFinished(() => authorization.close());
  const server = await startProtectedServer(authorization, { tellsAccount: true, ...more });
  onTestFinished(() => server.close());
  return { authorization, server };
}

export function remote(name: string, url: string, auth: UrlAuth): GatewayServerSpec {
  return { kind: 'url', name, url, transport: 'auto', headers: {}, auth };
}

/** A gateway that takes the tokens of a company. */
export function companyHouse(
  { authenticate }: Company,
  units: readonly GatewayServerSpec[],
  options: HouseOptions = {},
) {
  return openHouse(units, { ...options, endpoint: { authenticate, ...options.endpoint } });
}

export const EXCHANGE_CLIENT = {
  client_id: 'gateway',
  client_secret: CLIENT_SECRET,
  redirect_uris: [],
  response_types: [],
  grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange'],
};
