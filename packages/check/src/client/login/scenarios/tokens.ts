import type { Scenario } from '../../model.js';
import { MCP_PATH } from '../../scripted/script.js';
import {
  type AuthorizationRefusal,
  challengeFor,
  PATH_FORM,
  READ,
  resourceDocument,
  unauthorized,
  WRITE,
} from '../servers/protected-server.js';
import { login } from './metadata.js';

/** The credentials that a client is given for the scenarios that need them. */
export const GIVEN_ID = 'stage-given-client';
export const GIVEN_SECRET = 'stage-given-secret';
/** A scope that only a challenge names. */
export const SPECIAL = 'mcp:special';
const EXPIRED = `error="invalid_token"`;

/** Who the client is, what it asks for, and what it does with its tokens. */
export const TOKEN_SCENARIOS: readonly Scenario[] = [
  login('login-document', 'An authorization server that reads the metadata documents of clients', () => ({
    issuers: [{ metadata: (document) => ({ ...document, client_id_metadata_document_supported: true }) }],
  })),
  login(
    'login-given-client',
    'A server for which the client was given an id and a secret',
    () => ({
      issuers: [{ metadata: (document) => ({ ...document, client_id_metadata_document_supported: true }) }],
    }),
    { login: (origin) => ({ clientId: GIVEN_ID, clientSecret: GIVEN_SECRET, issuer: origin }) },
  ),
  login(
    'login-foreign-client',
    'A server that names another authorization server than the one that the id and the secret are for',
    () => ({ issuers: [{ path: '/foreign' }] }),
    {
      serves: [],
      login: (origin) => ({ clientId: GIVEN_ID, clientSecret: GIVEN_SECRET, issuer: `${origin}/own` }),
    },
  ),
  login(
    'login-registration-refused',
    'An authorization server that refuses the redirect URI of every registration',
    () => ({ issuers: [{ refusesRegistration: true }] }),
    { serves: [] },
  ),
  login(
    'login-scopes-listed',
    'A server whose challenge has no scope, and whose metadata lists scopes',
    () => ({
      challenge: ({ origin }) => `Bearer resource_metadata="${origin}${PATH_FORM}"`,
    }),
  ),
  login('login-scopes-unknown', 'A server that names no scope', () => ({
    challenge: ({ origin }) => `Bearer resource_metadata="${origin}${PATH_FORM}"`,
    resources: {
      [PATH_FORM](about) {
        const { scopes_supported: _, ...document } = resourceDocument(about);
        return document;
      },
    },
  })),
  login(
    'login-scope-unlisted',
    'A server whose challenge has a scope that its metadata does not list',
    () => ({
      challenge: ({ origin }) => `Bearer scope="${SPECIAL}", resource_metadata="${origin}${PATH_FORM}"`,
    }),
  ),
  login('login-step-up', 'A server whose tool needs one more scope', () => ({
    refuses: ({ method, scopes, origin }) =>
      method === 'tools/call' && !scopes.includes(WRITE) ? insufficient(origin) : undefined,
  })),
  login(
    'login-step-up-endless',
    'A server whose tool always needs one more scope',
    () => ({ refuses: ({ method, origin }) => (method === 'tools/call' ? insufficient(origin) : undefined) }),
    { serves: [] },
  ),
  login('login-expires', 'A server whose first token ends after the list of tools', expiring(true)),
  login(
    'login-expires-for-good',
    'A server whose first token ends after the list of tools, without a refresh token',
    expiring(false),
  ),
  login(
    'login-issuer-changes',
    'A server that changes its authorization server after the list of tools',
    () => ({
      issuers: [{ path: '/old' }, { path: '/new' }],
      resources: {
        [PATH_FORM]: (about) => resourceDocument(about, about.served.has('tools/list') ? '/new' : '/old'),
      },
      refuses: ({ served, issuer, origin }) =>
        served.has('tools/list') && issuer === '/old'
          ? unauthorized(`${challengeFor({ origin })}, ${EXPIRED}`)
          : undefined,
    }),
  ),
  login(
    'login-redirected',
    'A server that redirects the call of its tool to another origin',
    () => ({
      refuses: ({ method, origin }) =>
        method === 'tools/call'
          ? { status: 307, headers: { location: `${origin.replace('127.0.0.1', 'localhost')}${MCP_PATH}` } }
          : undefined,
    }),
    { serves: [] },
  ),
];

function insufficient(origin: string): AuthorizationRefusal {
  const challenge = `Bearer error="insufficient_scope", scope="${WRITE}", resource_metadata="${origin}${PATH_FORM}"`;
  return { status: 403, headers: { 'www-authenticate': challenge } };
}

/** The token that listed the tools is not accepted any more. */
function expiring(refreshes: boolean) {
  return () => {
    let over: string | undefined;
    return {
      issuers: [{ refreshes }],
      refuses({ method, token, origin }: { method: string; token: string; origin: string }) {
        if (token === over) return unauthorized(`${challengeFor({ origin })}, ${EXPIRED}`);
        if (method === 'tools/list') over ??= token;
        return undefined;
      },
    };
  };
}

/** The scope of the first challenge. */
export const FIRST_SCOPE = READ;
