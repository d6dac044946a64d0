import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AsideRequest } from '../../scripted/script.js';

/** A scripted authorization server. It shows no page: the authorization endpoint redirects at once. */
export interface IssuerBehaviour {
  /** The path of its issuer; empty for none. */
  readonly path?: string;
  /** Which of the well-known addresses has its metadata. Default `oauth`. */
  readonly metadataAt?: MetadataForm | 'nowhere';
  readonly metadata?: (document: JsonObject, origin: string) => JsonObject;
  /** Changes the response of the authorization endpoint. */
  readonly respond?: (response: URLSearchParams, about: RespondAbout) => void;
  /** Refuses every registration for its redirect URI. */
  readonly refusesRegistration?: boolean;
  /** Issues refresh tokens. Default true. */
  readonly refreshes?: boolean;
}

/** The well-known addresses of an issuer, in the order of the specification. */
export type MetadataForm = 'oauth' | 'openid' | 'openid-appended';

export interface RespondAbout {
  readonly issuer: string;
  readonly origin: string;
  readonly redirectUri: URL;
}

export interface Issuer {
  readonly path: string;
  /** Answers a request for this issuer. Returns whether it was one. */
  receive(request: AsideRequest): boolean;
  /** The scopes of a token that it has issued; undefined for any other. */
  scopesOf(token: string): readonly string[] | undefined;
}

export function createIssuer(behaviour: IssuerBehaviour): Issuer {
  const { path = '', metadataAt = 'oauth', refreshes = true } = behaviour;
  const tokens = new Map<string, readonly string[]>();
  const codes = new Map<string, readonly string[]>();
  const refreshTokens = new Map<string, readonly string[]>();
  const named = (kind: string) => `stage-${kind}${path.replaceAll('/', '-')}-${randomUUID()}`;

  const answers: Readonly<Record<string, (request: AsideRequest) => void>> = {
    register(request) {
      if (behaviour.refusesRegistration) {
        return send(request, 400, { error: 'invalid_redirect_uri', error_description: 'Not this one' });
      }
      const asked = parseObject(request.body);
      send(request, 201, {
        ...asked,
        client_id: named('client'),
        token_endpoint_auth_method: 'client_secret_post',
        client_secret: named('secret'),
        client_secret_expires_at: 0,
      });
    },
    authorize(request) {
      const { searchParams: asked } = new URL(request.path, request.origin);
      const target = asked.get('redirect_uri') ?? '';
      if (!URL.canParse(target)) return request.status(400, 'There is no redirect_uri');
      const redirectUri = new URL(target);
      const code = named('code');
      codes.set(code, wordsOf(asked.get('scope')));
      const issuer = `${request.origin}${path}`;
      const response = new URLSearchParams({ code, iss: issuer });
      const state = asked.get('state');
      if (state !== null) response.set('state', state);
      behaviour.respond?.(response, { issuer, origin: request.origin, redirectUri });
      for (const [name, value] of response) redirectUri.searchParams.set(name, value);
      request.status(302, '', { location: redirectUri.href });
    },
    token(request) {
      const form = new URLSearchParams(request.body);
      const isRefresh = form.get('grant_type') === 'refresh_token';
      const presented = form.get(isRefresh ? 'refresh_token' : 'code') ?? '';
      const known = isRefresh ? refreshTokens : codes;
      const scopes = known.get(presented);
      if (!scopes) return send(request, 400, { error: 'invalid_grant' });
      known.delete(presented);
      const token = named('access');
      tokens.set(token, scopes);
      const renewal = refreshes ? named('refresh') : undefined;
      if (renewal !== undefined) refreshTokens.set(renewal, scopes);
      send(request, 200, {
        access_token: token,
        token_type: 'Bearer',
        expires_in: 3600,
        ...(scopes.length > 0 && { scope: scopes.join(' ') }),
        ...(renewal !== undefined && { refresh_token: renewal }),
      });
    },
  };

  return {
    path,
    scopesOf: (token) => tokens.get(token),
    receive(request) {
      const [plain = ''] = request.path.split('?');
      if (metadataAt !== 'nowhere' && plain === metadataPath(path, metadataAt)) {
        const document = metadataOf(`${request.origin}${path}`);
        send(request, 200, behaviour.metadata?.(document, request.origin) ?? document);
        return true;
      }
      const [, name = ''] = plain.startsWith(`${path}/`) ? plain.slice(path.length).split('/') : [];
      const answer = answers[name];
      answer?.(request);
      return answer !== undefined;
    },
  };
}

export function metadataPath(path: string, form: MetadataForm): string {
  if (form === 'openid-appended') return `${path}/.well-known/openid-configuration`;
  return `/.well-known/${form === 'oauth' ? 'oauth-authorization-server' : 'openid-configuration'}${path}`;
}

function metadataOf(issuer: string): JsonObject {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_post', 'client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
    // OpenID Connect requires these two.
    jwks_uri: `${issuer}/keys`,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

export function send(request: AsideRequest, status: number, body: JsonObject): void {
  request.status(status, JSON.stringify(body), {
    'content-type': 'application/json',
    'cache-control': 'no-store',
  });
}

export function wordsOf(text: string | null | undefined): readonly string[] {
  return (text ?? '').split(' ').filter(Boolean);
}

export function parseObject(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
