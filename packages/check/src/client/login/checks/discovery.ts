import type { ClientCheck } from '../../checks/check.js';
import { fail, pass, skip } from '../../checks/check.js';
import type { View } from '../../view.js';
import { loginIn, NO_LOGIN } from '../login-view.js';
import { LOGIN_NAMES } from '../scenarios/index.js';
import { type MetadataForm, metadataPath } from '../servers/issuer.js';
import { PATH_FORM, ROOT_FORM } from '../servers/protected-server.js';
import { each, loginCheck, logsIn, stopsBefore } from './outcomes.js';

const RESOURCE_SCENARIOS = ['login-metadata-named', 'login-metadata-path', 'login-metadata-root'];
const ISSUER_SCENARIOS = [
  'login-issuer-openid',
  'login-issuer-path',
  'login-issuer-path-openid',
  'login-issuer-path-appended',
];

/** How the client finds out where to log in. */
export const DISCOVERY: readonly ClientCheck[] = [
  loginCheck({
    id: 'login/works',
    title: 'Logs in when a server answers with 401',
    level: 'MUST',
    rules: ['AUTH-007'],
    hint: 'Read WWW-Authenticate of a 401, get a token from the authorization server of the server, and repeat the request.',
    on: ['login-sound', 'login-iss-not-sent'],
    judge: logsIn,
  }),
  loginCheck({
    id: 'login/challenges',
    title: 'Finds its challenge among several in WWW-Authenticate',
    level: 'MUST',
    rules: ['AUTH-007'],
    hint: 'Commas separate challenges and parameters, and values may be quoted or not (RFC 9110, 11.6.1). Take the challenge with the scheme Bearer.',
    on: ['login-challenges'],
    judge: logsIn,
  }),
  loginCheck({
    id: 'login/resource-metadata',
    title:
      'Uses the metadata that the challenge names, else the well-known address with the path, else the root',
    level: 'MUST',
    rules: ['AUTH-006'],
    since: '2025-11-25',
    hint: 'Take resource_metadata of the challenge. Without it, ask for /.well-known/oauth-protected-resource and the path of the server, and only after a 404 for the address without the path.',
    on: RESOURCE_SCENARIOS,
    judge(view, facts) {
      const login = loginIn(view);
      const wrong = login.requests.find(({ issuer }) => issuer === '/wrong');
      if (wrong) {
        return fail(
          'The client logs in where other metadata leads',
          'The first metadata in the order',
          wrong,
        );
      }
      const root = login.of('resource').find(({ path }) => path === ROOT_FORM);
      const path = login.of('resource').find((one) => one.path === PATH_FORM);
      if (root && (!path || path.index > root.index) && view.scenario.name !== 'login-metadata-named') {
        return fail('The client asked the root first', `${PATH_FORM} before ${ROOT_FORM}`, root);
      }
      return logsIn(view, facts);
    },
  }),
  loginCheck({
    id: 'login/issuer-metadata',
    title: 'Looks for the metadata of the authorization server in the order of the specification',
    level: 'MUST',
    rules: ['AUTH-008'],
    since: '2025-11-25',
    hint: 'For an issuer with a path: oauth-authorization-server before the path, openid-configuration before it, openid-configuration after it. Without a path: oauth-authorization-server, then openid-configuration.',
    on: ISSUER_SCENARIOS,
    judge(view, facts) {
      const asked = loginIn(view).of('issuer');
      const order = FORMS.map((form) => metadataPath(pathOf(view), form));
      let place = -1;
      for (const request of asked) {
        const found = order.indexOf(request.path);
        if (found < 0) return fail(`The client asked for ${request.path}`, order.join(', then '), request);
        if (found > place + 1)
          return fail(`The client left out ${order[place + 1]}`, order[place + 1]!, request);
        place = Math.max(place, found);
      }
      return asked.length === 0 ? skip(NO_LOGIN) : logsIn(view, facts);
    },
  }),
  loginCheck({
    id: 'login/issuer-identical',
    title: 'Does not use metadata that names another issuer',
    level: 'MUST',
    rules: ['AUTH-009'],
    since: '2026-07-28',
    hint: 'Compare issuer of the document with the identifier that its address was made from, character by character.',
    on: ['login-issuer-mismatch'],
    judge: stopsBefore(['register', 'authorize', 'token'], {
      after: 'issuer',
      seen: 'The client went on with metadata that names another issuer',
      expected: 'No registration and no authorization request',
    }),
  }),
  loginCheck({
    id: 'login/resource-covers',
    title: 'Does not log in with metadata that describes another server',
    level: 'SHOULD',
    rules: [],
    reason: 'RFC 9728, 3.3: metadata whose resource is not the one that was asked for must not be used.',
    hint: 'Compare resource of the document with the address of the server.',
    on: ['login-resource-mismatch'],
    since: '2026-07-28',
    judge: stopsBefore(['authorize', 'token'], {
      after: 'resource',
      seen: 'The client went on with metadata of another server',
      expected: 'No authorization request',
    }),
  }),
  loginCheck({
    id: 'login/safe-addresses',
    title: 'Fetches metadata over https or from a loopback address only, at every redirect',
    level: 'SHOULD',
    rules: ['AUTH-049'],
    since: '2026-07-28',
    hint: 'Check scheme and address before every request of a login, also after a redirect.',
    on: ['login-private-metadata', 'login-private-redirect'],
    judge(view) {
      const unsafe = view.asides.find(({ headers }) => headers['host']?.startsWith('0.0.0.0'));
      if (unsafe) {
        const about = { index: view.transcript.entries.indexOf(unsafe) };
        return fail(`The client asked http://${unsafe.headers['host']}`, 'No request to this address', about);
      }
      return view.heads.length === 0 ? skip(NO_LOGIN) : pass('It sent no request to this address');
    },
  }),
  loginCheck({
    id: 'login/older-servers',
    title: 'Logs in at servers of 2025-03-26, which have no metadata of their own',
    level: 'MUST',
    rules: ['AUTH-046'],
    hint: 'Without protected resource metadata, the authorization server is the origin of the server: its metadata, else /authorize, /token and /register.',
    on: ['login-2025-03-26', 'login-2025-03-26-metadata'],
    judge(view, facts) {
      const asked = loginIn(view).of('issuer');
      // A client that has dropped 2025-03-26 does not look there.
      if (facts.legacy && asked.length === 0 && loginIn(view).of('register').length === 0) {
        return skip('the client does not look for an authorization server at the origin of the server');
      }
      const own = view.scenario.name === 'login-2025-03-26-metadata';
      const past = loginIn(view).requests.find(
        ({ kind, issuer }) => own && ['register', 'authorize', 'token'].includes(kind) && issuer !== '/own',
      );
      return past
        ? fail(`The client used ${past.path}`, 'The endpoints of the metadata', past)
        : logsIn(view, facts);
    },
  }),
  loginCheck({
    id: 'login/redirect-uri',
    title: 'Comes back to a loopback or https address that it has registered',
    level: 'MUST',
    rules: ['AUTH-042'],
    hint: 'Use http://127.0.0.1:PORT/… or an https address as redirect_uri, and register the same one.',
    on: LOGIN_NAMES,
    judge(view) {
      const registered = loginIn(view)
        .of('register')
        .flatMap(({ json }) => json['redirect_uris'] ?? []);
      return each(
        view,
        'authorize',
        ({ params }) => {
          const uri = params.get('redirect_uri') ?? '';
          if (!isSafe(uri)) return `redirect_uri is ${JSON.stringify(uri)}`;
          const known = registered.length === 0 || registered.some((one) => isSameUri(String(one), uri));
          return known ? undefined : `redirect_uri is ${uri}, which was not registered`;
        },
        { expected: 'A registered loopback or https address', seen: 'It did' },
      );
    },
  }),
];

const FORMS: readonly MetadataForm[] = ['oauth', 'openid', 'openid-appended'];

function pathOf({ scenario }: View): string {
  return scenario.name.startsWith('login-issuer-path') ? '/tenant' : '';
}

function isSafe(uri: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { protocol, hostname } = new URL(uri);
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback);
}

/** The port of a loopback address may differ (RFC 8252, 7.3). */
function isSameUri(one: string, other: string): boolean {
  const plain = (uri: string) => uri.replace(/^(http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d+/, '$1');
  return plain(one) === plain(other);
}
