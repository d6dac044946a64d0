import { messageOf } from '../errors.js';
import { askServer } from './discovery/ask-server.js';
import { loginChallenge } from './discovery/challenge.js';
import { findLoginFacts, loginNetwork } from './discovery/login-facts.js';
import { type OAuthOptions, resolveOAuth } from './options.js';

/** What a login at a server would need. Found out without beginning one. */
export interface LoginExplanation {
  /** What the server answers to a request without a login. */
  readonly status: number;
  /** Where the server describes itself. Undefined: it does not. */
  readonly metadataFrom: string | undefined;
  readonly issuer: string | undefined;
  readonly resource: string | undefined;
  /** What the server asks for. */
  readonly scopes: readonly string[];
  /** How the client can get an id there: `metadata document`, `registration`. An id of your own is always possible. */
  readonly registration: readonly string[];
  readonly hasDeviceCode: boolean;
  /** Why a login would fail. */
  readonly problem: string | undefined;
  readonly warnings: readonly string[];
}

/** Reads everything that the server and its authorization server publish about a login. */
export async function explainLogin(server: URL, options: OAuthOptions = {}): Promise<LoginExplanation> {
  const warnings: string[] = [];
  const settings = resolveOAuth({ ...options, onWarning: (warning) => void warnings.push(warning) });
  const network = loginNetwork(server, settings);
  const { status, wwwAuthenticate } = await askServer(server, network.http);
  const challenge = loginChallenge(wwwAuthenticate);
  const nothing = { metadataFrom: undefined, issuer: undefined, resource: undefined, registration: [] };
  try {
    const { metadata, published, resource } = await findLoginFacts(
      server,
      challenge,
      network,
      settings,
      undefined,
    );
    const asked = challenge?.scopes ?? [];
    if (metadata.isAssumed) warnings.push(ASSUMED);
    const registration = [
      ...(metadata.takesClientMetadataUrl ? ['metadata document'] : []),
      ...(metadata.registrationEndpoint !== undefined ? ['registration'] : []),
    ];
    const hasIdentity =
      settings.clientId !== undefined ||
      metadata.registrationEndpoint !== undefined ||
      (metadata.takesClientMetadataUrl && settings.clientMetadataUrl !== undefined);
    return {
      status,
      metadataFrom: published?.from,
      issuer: metadata.issuer,
      resource,
      scopes: asked.length > 0 ? asked : (published?.scopesSupported ?? []),
      registration,
      hasDeviceCode: metadata.deviceAuthorizationEndpoint !== undefined,
      problem: hasIdentity
        ? undefined
        : `${metadata.issuer} registers no clients itself: register one there and give its id (--client-id)`,
      warnings,
    };
  } catch (error) {
    const scopes = challenge?.scopes ?? [];
    return { ...nothing, status, scopes, hasDeviceCode: false, problem: messageOf(error), warnings };
  }
}

const ASSUMED =
  'The server names no authorization server. It may have no login and take a key: --header "Authorization: Bearer KEY" sends it';
