import { systemClock } from '../../async/clock.js';
import { scopesOf } from '../discovery/challenge.js';
import { findLoginFacts, loginNetwork } from '../discovery/login-facts.js';
import { type LoginHooks, type OAuthSettings, resolveOAuth } from '../options.js';
import type { OAuthProviderOptions } from './oauth-provider.js';
import type { OfficialOAuthProvider } from './official-provider.js';
import { providerStore } from './provider-store.js';

/** The settings of a login whose tokens a provider keeps. */
export async function providerSettings(
  provider: OfficialOAuthProvider,
  server: URL,
  options: OAuthProviderOptions,
): Promise<OAuthSettings> {
  const { redirectUrl, clientMetadata, clientMetadataUrl } = provider;
  const { client_name: clientName, client_uri: clientUri, scope } = clientMetadata;
  // A provider that cannot save a registration has a client of its own.
  const found = provider.saveClientInformation ? undefined : await provider.clientInformation();
  const issuer = options.issuer ?? found?.issuer;
  const isUnattended = redirectUrl === undefined;
  const resolved = resolveOAuth({
    ...options,
    ...(found && { clientId: found.client_id }),
    ...(found?.client_secret !== undefined && { clientSecret: found.client_secret }),
    ...(issuer !== undefined && { issuer }),
    ...(clientName !== undefined && { clientName }),
    ...(clientUri !== undefined && { clientUri }),
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    ...(scope !== undefined && scope !== '' && { scopes: scopesOf(scope) }),
    ...(!isUnattended && {
      callback: { url: String(redirectUrl) },
      open: (page) => provider.redirectToAuthorization(page),
    }),
  });
  const settings = { ...resolved, hooks: hooksOf(provider) };
  const network = loginNetwork(server, settings);
  const store = providerStore({
    ...{ provider, server, issuer, clock: options.clock ?? systemClock },
    findFacts: (known) => findLoginFacts(server, undefined, network, { ...settings, issuer: known }, known),
  });
  return { ...settings, store, ...(isUnattended && { grant: 'client-credentials' as const }) };
}

function hooksOf(provider: OfficialOAuthProvider): LoginHooks {
  const { clientMetadata, redirectUrl, addClientAuthentication } = provider;
  return {
    registration: { ...clientMetadata },
    ...(provider.state && { state: () => provider.state!() }),
    ...(provider.validateResourceURL && {
      resource: async (server, published) => {
        const chosen = await provider.validateResourceURL!(server, published);
        // A URL object adds a slash to an origin; the published text has none (AUTH-C-052).
        if (chosen === undefined) return undefined;
        return published !== undefined && new URL(published).href === chosen.href ? published : chosen.href;
      },
    }),
    ...(redirectUrl === undefined && {
      async tokenParams({ issuer, resource, scope }) {
        await provider.saveAuthorizationServerUrl?.(issuer);
        if (resource !== undefined) await provider.saveResourceUrl?.(resource);
        return provider.prepareTokenRequest!(scope);
      },
    }),
    ...(addClientAuthentication && {
      authenticate: ({ headers, body, url, issuer }) =>
        addClientAuthentication.call(provider, headers, body, url, { issuer, token_endpoint: url }),
    }),
  };
}
