import type { ClientCheck } from '../../checks/check.js';
import { fail, pass, skip } from '../../checks/check.js';
import type { View } from '../../view.js';
import { loginIn, NO_LOGIN, type SeenLoginRequest } from '../login-view.js';
import { LOGIN_NAMES } from '../scenarios/index.js';
import { GIVEN_ID, GIVEN_SECRET } from '../scenarios/tokens.js';
import { each, loginCheck, logsIn } from './outcomes.js';

/** Who the client is for an authorization server. */
export const IDENTITY: readonly ClientCheck[] = [
  loginCheck({
    id: 'login/given-client',
    title: 'Uses the id that it was given before any other way to get one',
    level: 'SHOULD',
    rules: ['AUTH-011'],
    since: '2025-11-25',
    hint: 'With an id for this authorization server, do not register and do not use a metadata document.',
    on: ['login-given-client'],
    judge(view, facts) {
      if (!knowsLogin(view)) return skip(NO_HINTS);
      const other = idsOf(view).find(({ id }) => id !== GIVEN_ID);
      return other
        ? fail(`The client calls itself ${other.id}`, `client_id=${GIVEN_ID}`, other.request)
        : logsIn(view, facts);
    },
  }),
  loginCheck({
    id: 'login/document-first',
    title: 'Uses a metadata document in the place of a registration, where the authorization server reads it',
    level: 'SHOULD',
    rules: ['AUTH-011', 'AUTH-016'],
    since: '2026-07-28',
    hint: 'Publish a client id metadata document, and use its address as client_id when client_id_metadata_document_supported is true.',
    on: ['login-document'],
    judge(view, facts) {
      const [registered] = loginIn(view).of('register');
      return registered
        ? fail('The client registered', 'The address of its metadata document as client_id', registered)
        : logsIn(view, facts);
    },
  }),
  loginCheck({
    id: 'login/document-address',
    title: 'Has an https address with a path as client_id, if it is an address',
    level: 'MUST',
    rules: ['AUTH-012'],
    since: '2025-11-25',
    hint: 'Publish the metadata document at an https address with a path.',
    on: ['login-document'],
    judge(view) {
      const ids = idsOf(view).filter(({ id }) => /^[a-z][a-z0-9+.-]*:/i.test(id));
      if (ids.length === 0) return skip('the client id is not an address');
      const bad = ids.find(({ id }) => !isDocumentAddress(id));
      return bad
        ? fail(`client_id is ${bad.id}`, 'https, and a path', bad.request)
        : pass(`It is ${ids[0]!.id}`);
    },
  }),
  loginCheck({
    id: 'login/application-type',
    title: 'Says in a registration which type of application it is',
    level: 'MUST',
    rules: ['AUTH-013'],
    since: '2026-07-28',
    hint: 'Register with application_type "native" for loopback redirect URIs, and "web" for https ones.',
    on: LOGIN_NAMES,
    judge: (view) =>
      each(
        view,
        'register',
        ({ json }) => {
          const { application_type: type, redirect_uris: uris } = json;
          const web = Array.isArray(uris) && uris.every((uri) => String(uri).startsWith('https:'));
          // An app may claim an https address (RFC 8252, 7.2).
          const fits = type === 'native' || (type === 'web' && web);
          return fits
            ? undefined
            : `application_type is ${JSON.stringify(type)} with ${JSON.stringify(uris)}`;
        },
        { expected: '"native", or "web" with https redirect URIs', seen: 'It did' },
      ),
  }),
  loginCheck({
    id: 'login/registration-refused',
    title: 'Ends the login when its registration is refused',
    level: 'MUST',
    rules: ['AUTH-013'],
    since: '2026-07-28',
    hint: 'Expect invalid_redirect_uri. Try another redirect URI or tell the user, and do not go on without an id.',
    on: ['login-registration-refused'],
    judge(view) {
      const login = loginIn(view);
      if (login.of('register').length === 0) return skip('the client did not register');
      const [page] = login.of('authorize');
      if (page) return fail('The client went on without a registration', 'No authorization request', page);
      if (view.ended && view.succeeded)
        return fail('The client exited with 0', 'A failure that the user sees');
      return pass('It ended the login there');
    },
  }),
  loginCheck({
    id: 'login/given-client-bound',
    title: 'Sends an id and a secret only to the authorization server that they are for',
    level: 'MUST',
    rules: ['AUTH-014'],
    since: '2026-07-28',
    hint: 'Keep the issuer with the credentials, and compare it with the issuer that the server names.',
    on: ['login-foreign-client'],
    judge(view) {
      if (!knowsLogin(view)) return skip(NO_HINTS);
      const leak = loginIn(view).requests.find(
        (request) =>
          request.issuer === '/foreign' && (carries(request, GIVEN_SECRET) || carries(request, GIVEN_ID)),
      );
      return leak
        ? fail(`The client sent them to ${leak.path}`, 'Nothing of them', leak)
        : pass('It sent nothing of them');
    },
  }),
  loginCheck({
    id: 'login/issuers-apart',
    title: 'Sends nothing of one authorization server to another, and registers anew',
    level: 'MUST',
    rules: ['AUTH-010', 'AUTH-015'],
    since: '2026-07-28',
    hint: 'Keep clients and tokens by issuer. When a server names another issuer, begin with nothing.',
    on: ['login-issuer-changes'],
    judge(view) {
      const login = loginIn(view);
      const secrets = login.requests
        .filter(({ issuer }) => issuer === '/old')
        .flatMap(({ answer }) => OF_ISSUER.map((member) => answer[member]))
        .filter((value) => typeof value === 'string');
      const toNew = login.requests.filter(({ issuer }) => issuer === '/new');
      if (secrets.length === 0) return skip(NO_LOGIN);
      const leak = toNew.find((request) => secrets.some((secret) => carries(request, secret)));
      if (leak) return fail(`The client sent something of /old to ${leak.path}`, 'Nothing of it', leak);
      return toNew.length > 0 ? pass('It began with nothing') : skip('the client did not log in again');
    },
  }),
];

const OF_ISSUER = ['client_id', 'client_secret', 'access_token', 'refresh_token'];
const NO_HINTS = 'the client did not say that it has read MCP_LOGIN';

/** A client that uses MCP_LOGIN says so on stderr. */
function knowsLogin({ transcript }: View): boolean {
  return /^mcp-login: read$/m.test(transcript.end.stderr);
}

/** What the client calls itself, wherever it does. */
function idsOf(view: View): { readonly id: string; readonly request: SeenLoginRequest }[] {
  return loginIn(view).requests.flatMap((request) => {
    const basic = /^basic +(.+)$/i.exec(request.head.headers['authorization'] ?? '')?.[1];
    const id =
      request.params.get('client_id') ?? (basic && Buffer.from(basic, 'base64').toString().split(':')[0]);
    return id ? [{ id, request }] : [];
  });
}

/** Whether a request has a text anywhere, in any of the usual encodings. */
function carries({ head, body, params }: SeenLoginRequest, text: string): boolean {
  const basic = Buffer.from(/^basic +(.+)$/i.exec(head.headers['authorization'] ?? '')?.[1] ?? '', 'base64');
  const places = [head.path, body, ...params.values(), head.headers['authorization'] ?? '', basic.toString()];
  return places.some((place) => place.includes(text));
}

function isDocumentAddress(id: string): boolean {
  if (!URL.canParse(id)) return false;
  const { protocol, pathname, hash } = new URL(id);
  return protocol === 'https:' && pathname !== '/' && hash === '';
}
