import { IsthmusError } from '../../errors.js';
import { CLIENT_CREDENTIALS } from '../../transport/http-client/options.js';
import { loginsWith, type OAuth } from '../oauth.js';
import type { OAuthOptions } from '../options.js';
import type { OfficialOAuthProvider } from './official-provider.js';

/** What a provider does not say. */
export type OAuthProviderOptions = Pick<
  OAuthOptions,
  | 'issuer'
  | 'resource'
  | 'assumePkce'
  | 'authorizeParams'
  | 'allowPrivateAddresses'
  | 'timeoutMs'
  | 'ask'
  | 'onWarning'
  | 'fetch'
  | 'clock'
>;

/**
 * Logs in with an `OAuthClientProvider` of the official SDK, version 1 or 2. The provider keeps the tokens and opens the page;
 * the login itself is that of `oauth()`. A request waits until the program has given the address that the browser came back to.
 *
 * ```ts
 * const auth = oauthProvider(provider);
 * const connecting = connect(http('https://example.com/mcp', { auth }));
 * auth.finish(callbackUrl); // in the handler of the redirect URL, in the place of transport.finishAuth()
 * ```
 */
export function oauthProvider(provider: OfficialOAuthProvider, options: OAuthProviderOptions = {}): OAuth {
  let own: string | undefined;
  return loginsWith(async (server) => {
    own ??= server.href;
    // The provider has one set of tokens, which must not go to a second server (AUTH-C-005).
    if (own !== server.href) throw invalid('a provider is for one server; make another one for this server');
    if (await provider.dpop?.()) throw invalid('DPoP is not supported');
    if (provider.redirectUrl === undefined && !provider.prepareTokenRequest) {
      throw invalid('a provider without a redirectUrl needs prepareTokenRequest');
    }
    // Loaded with the first request.
    const { providerSettings } = await import('./provider-settings.js');
    return providerSettings(provider, server, options);
  }, extensionsOf(provider));
}

function extensionsOf({ redirectUrl, clientMetadata }: OfficialOAuthProvider): OAuth['extensions'] {
  const usesCredentials = clientMetadata.grant_types?.includes('client_credentials') === true;
  return redirectUrl === undefined && usesCredentials ? CLIENT_CREDENTIALS : undefined;
}

function invalid(message: string): IsthmusError {
  return new IsthmusError('INVALID_OPTION', `oauthProvider: ${message}`, { sent: 'no' });
}
