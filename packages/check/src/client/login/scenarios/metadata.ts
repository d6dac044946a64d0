import type { Scenario, Script } from '../../model.js';
import { legacy } from '../../scenarios/base-servers.js';
import type { IssuerBehaviour, MetadataForm } from '../servers/issuer.js';
import {
  challengeFor,
  NAMED_FORM,
  PATH_FORM,
  type ProtectedServerBehaviour,
  protectedServer,
  READ,
  ROOT_FORM,
  resourceDocument,
} from '../servers/protected-server.js';

export const BOTH_ERAS = ['modern', 'legacy'] as const;

/** A scenario of logins. All are over HTTP. */
export function login(
  name: string,
  title: string,
  behaviour: () => ProtectedServerBehaviour,
  more: Partial<Pick<Scenario, 'serves' | 'login'>> = {},
): Scenario {
  return {
    name,
    title,
    over: ['http'],
    serves: BOTH_ERAS,
    login: () => ({}),
    open: (): Script => protectedServer(behaviour()),
    ...more,
  };
}

/** The issuer that the right metadata names, and one that wrong metadata names. */
export const RIGHT: IssuerBehaviour = { path: '/right' };
export const WRONG: IssuerBehaviour = { path: '/wrong' };
const right = (about: { origin: string }) => resourceDocument(about, '/right');
const wrong = (about: { origin: string }) => resourceDocument(about, '/wrong');
const bare = () => `Bearer scope="${READ}"`;

/** A server whose authorization server has its metadata at one of the well-known addresses. */
function issuerAt(name: string, title: string, path: string, metadataAt: MetadataForm): Scenario {
  return login(name, title, () => ({
    // The metadata at the root belongs to another issuer.
    issuers: [{ path, metadataAt }, ...(path === '' ? [] : [{ path: '' }])],
  }));
}

/** Where the metadata is. */
export const METADATA_SCENARIOS: readonly Scenario[] = [
  login('login-sound', 'A server that wants a token, with everything in its place', () => ({})),
  login(
    'login-challenges',
    'A server whose 401 has several challenges, and names metadata at a place of its own',
    () => ({
      challenge: ({ origin }) =>
        `Negotiate, Basic realm="not, this", Bearer error="invalid_token", scope=${READ}, resource_metadata="${origin}${NAMED_FORM}"`,
      resources: { [NAMED_FORM]: (about) => resourceDocument(about) },
    }),
  ),
  login(
    'login-metadata-named',
    'A server whose challenge names metadata, and whose well-known addresses have other metadata',
    () => ({
      issuers: [RIGHT, WRONG],
      challenge: (about) => challengeFor(about, NAMED_FORM),
      resources: { [NAMED_FORM]: right, [PATH_FORM]: wrong, [ROOT_FORM]: wrong },
    }),
  ),
  login(
    'login-metadata-path',
    'A server with metadata at the well-known address with its path, and other metadata at the root',
    () => ({
      issuers: [RIGHT, WRONG],
      challenge: bare,
      resources: { [PATH_FORM]: right, [ROOT_FORM]: wrong },
    }),
  ),
  login('login-metadata-root', 'A server with metadata at the well-known address without its path', () => ({
    challenge: bare,
    resources: { [ROOT_FORM]: (about) => resourceDocument(about) },
  })),
  issuerAt('login-issuer-openid', 'An issuer without a path, with OpenID metadata only', '', 'openid'),
  issuerAt('login-issuer-path', 'An issuer with a path, with OAuth metadata', '/tenant', 'oauth'),
  issuerAt(
    'login-issuer-path-openid',
    'An issuer with a path, with OpenID metadata before its path',
    '/tenant',
    'openid',
  ),
  issuerAt(
    'login-issuer-path-appended',
    'An issuer with a path, with OpenID metadata after its path',
    '/tenant',
    'openid-appended',
  ),
  login(
    'login-issuer-mismatch',
    'An authorization server whose metadata names another issuer',
    () => ({
      issuers: [{ metadata: (document) => ({ ...document, issuer: 'https://other.example' }) }],
    }),
    { serves: [] },
  ),
  login(
    'login-resource-mismatch',
    'A server whose metadata describes another server',
    () => ({
      resources: {
        [PATH_FORM]: (about) => ({ ...resourceDocument(about), resource: 'https://other.example/mcp' }),
      },
    }),
    { serves: [] },
  ),
  login(
    'login-private-metadata',
    'A server whose challenge names metadata at an address that is not loopback, without https',
    () => ({
      challenge: ({ origin }) =>
        `Bearer scope="${READ}", resource_metadata="${unspecified(origin)}${NAMED_FORM}"`,
      resources: { [NAMED_FORM]: (about) => resourceDocument(about) },
    }),
    { serves: [] },
  ),
  login(
    'login-private-redirect',
    'A server whose metadata redirects to an address that is not loopback, without https',
    () => ({
      aside(request) {
        if (request.path !== PATH_FORM) return false;
        request.status(302, '', { location: `${unspecified(request.origin)}${NAMED_FORM}` });
        return true;
      },
      resources: { [NAMED_FORM]: (about) => resourceDocument(about) },
    }),
    { serves: [] },
  ),
  login(
    'login-2025-03-26',
    'A server of 2025-03-26 without any metadata, whose endpoints are the default ones',
    () => ({
      server: () => legacy({ revision: '2025-03-26' }),
      issuers: [{ metadataAt: 'nowhere', respond: (response) => response.delete('iss') }],
      challenge: () => 'Bearer',
      resources: {},
    }),
    { serves: ['legacy'] },
  ),
  login(
    'login-2025-03-26-metadata',
    'A server of 2025-03-26 with metadata of its authorization server at the root',
    () => ({
      server: () => legacy({ revision: '2025-03-26' }),
      issuers: [
        {
          metadata: ({ issuer, ...document }) => ({
            ...document,
            issuer,
            authorization_endpoint: `${String(issuer)}/own/authorize`,
            token_endpoint: `${String(issuer)}/own/token`,
            registration_endpoint: `${String(issuer)}/own/register`,
          }),
        },
        {
          path: '/own',
          metadataAt: 'nowhere',
          respond: (response, { origin }) => response.set('iss', origin),
        },
      ],
      challenge: () => 'Bearer',
      resources: {},
    }),
    { serves: ['legacy'] },
  ),
];

/** It reaches this machine, but it is not a loopback address. */
function unspecified(origin: string): string {
  return origin.replace('127.0.0.1', '0.0.0.0');
}
