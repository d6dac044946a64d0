import type { ClientCheck } from '../../checks/check.js';
import { fail, pass, skip } from '../../checks/check.js';
import type { Head, View } from '../../view.js';
import { loginIn, NO_LOGIN } from '../login-view.js';
import { LOGIN_NAMES } from '../scenarios/index.js';
import { FIRST_SCOPE, SPECIAL } from '../scenarios/tokens.js';
import { wordsOf } from '../servers/issuer.js';
import { READ, WRITE } from '../servers/protected-server.js';
import { each, loginCheck, logsIn } from './outcomes.js';

const OFFLINE = 'offline_access';

/** What the client asks for, and what it does with its tokens. */
export const TOKENS: readonly ClientCheck[] = [
  loginCheck({
    id: 'login/bearer',
    title: 'Sends its token as Authorization: Bearer on every request',
    level: 'MUST',
    rules: ['AUTH-027', 'AUTH-045'],
    hint: 'Set the header on every POST, GET and DELETE, also inside of a session.',
    on: LOGIN_NAMES,
    judge(view) {
      const { tokens } = loginIn(view);
      const first = tokens[0];
      const later = first ? view.heads.filter((head) => placeOf(view, head) > first.index) : [];
      // A redirect to another origin gets no token.
      const own = later.filter(({ headers }) => headers['host']?.startsWith('127.0.0.1'));
      if (own.length === 0) return skip('the client sent nothing after it got a token');
      const bare = own.find(
        (head) => !tokens.some(({ value }) => head.headers['authorization'] === `Bearer ${value}`),
      );
      return bare
        ? fail(
            `${bare.method} ${bare.path} has no Authorization: Bearer with its token`,
            'The token',
            at(view, bare),
          )
        : pass(`${own.length} requests had it`);
    },
  }),
  loginCheck({
    id: 'login/not-in-address',
    title: 'Never sends a token in an address',
    level: 'MUST',
    rules: ['AUTH-028'],
    hint: 'Send tokens in the header Authorization only.',
    on: LOGIN_NAMES,
    judge(view) {
      const { tokens, refreshTokens } = loginIn(view);
      if (tokens.length === 0) return skip('the client got no token');
      const all = [...tokens, ...refreshTokens];
      const leak = [...view.heads, ...view.asides].find(({ path }) =>
        all.some(({ value }) => path.includes(value)),
      );
      return leak
        ? fail(
            `${leak.method} ${leak.path.split('?')[0]} has a token in its query`,
            'No token',
            at(view, leak),
          )
        : pass('No address had one');
    },
  }),
  loginCheck({
    id: 'login/own-tokens',
    title: 'Sends a server only the token of its own authorization server, and to no other origin',
    level: 'MUST',
    rules: ['AUTH-029'],
    hint: 'Keep tokens by server and issuer. Remove Authorization when a redirect leads to another origin.',
    on: ['login-issuer-changes', 'login-redirected'],
    judge(view) {
      const { tokens } = loginIn(view);
      if (tokens.length === 0) return skip('the client got no token');
      const foreign = view.heads.find(
        ({ headers }) =>
          headers['host']?.startsWith('localhost') && tokens.some(({ value }) => has(headers, value)),
      );
      if (foreign) return fail('The client sent its token to another origin', 'No token', at(view, foreign));
      const next = tokens.find(({ issuer }) => issuer === '/new');
      const old = tokens.filter(({ issuer }) => issuer === '/old');
      const stale =
        next &&
        view.heads.find(
          (head) => placeOf(view, head) > next.index && old.some(({ value }) => has(head.headers, value)),
        );
      return stale
        ? fail('The client sent the token of the old authorization server', 'The new token', at(view, stale))
        : pass('It sent its token to the server that it is for');
    },
  }),
  loginCheck({
    id: 'login/scopes',
    title: 'Asks for the scopes of the challenge, else for those of the metadata, else for none',
    level: 'SHOULD',
    rules: ['AUTH-034'],
    since: '2025-11-25',
    hint: 'Take scope of the challenge. Without it, take all of scopes_supported. Without that, leave the parameter out.',
    on: ['login-sound', 'login-scopes-listed', 'login-scopes-unknown'],
    judge(view) {
      const wanted =
        { 'login-sound': [FIRST_SCOPE], 'login-scopes-listed': [READ, WRITE] }[view.scenario.name] ?? [];
      return each(
        view,
        'authorize',
        ({ params }) => {
          const asked = wordsOf(params.get('scope')).filter((scope) => scope !== OFFLINE);
          const same = asked.length === wanted.length && wanted.every((scope) => asked.includes(scope));
          return same ? undefined : `scope is ${JSON.stringify(params.get('scope'))}`;
        },
        { expected: wanted.length > 0 ? wanted.join(' ') : 'No scope', seen: 'It did' },
      );
    },
  }),
  loginCheck({
    id: 'login/challenged-scope',
    title: 'Asks for a challenged scope that the metadata does not list',
    level: 'MUST',
    rules: ['AUTH-035'],
    since: '2025-11-25',
    hint: 'The scopes of a challenge need not be in scopes_supported.',
    on: ['login-scope-unlisted'],
    judge: (view) =>
      each(
        view,
        'authorize',
        ({ params }) =>
          wordsOf(params.get('scope')).includes(SPECIAL)
            ? undefined
            : `scope is ${JSON.stringify(params.get('scope'))}`,
        { expected: SPECIAL, seen: 'It did' },
      ),
  }),
  loginCheck({
    id: 'login/step-up',
    title: 'Asks for its earlier scopes and the challenged one when a scope is missing',
    level: 'SHOULD',
    rules: ['AUTH-037'],
    since: '2026-07-28',
    hint: 'After 403 with insufficient_scope, log in again with the union of the scopes.',
    on: ['login-step-up'],
    judge(view, facts) {
      if (view.named('tools/call').length === 0) return skip('the client did not call the tool');
      const [first, second] = loginIn(view).of('authorize');
      if (!first) return skip(NO_LOGIN);
      const before = wordsOf(first.params.get('scope'));
      if (before.includes(WRITE)) return skip('the client had asked for the scope at once');
      if (!second) return logsIn(view, facts);
      const asked = wordsOf(second.params.get('scope'));
      const lost = [...before, WRITE].filter((scope) => !asked.includes(scope));
      return lost.length > 0
        ? fail(`The second request asks for "${asked.join(' ')}"`, `also ${lost.join(' ')}`, second)
        : logsIn(view, facts);
    },
  }),
  loginCheck({
    id: 'login/step-up-limited',
    title: 'Gives up when more scopes do not help',
    level: 'SHOULD',
    rules: ['AUTH-038'],
    since: '2025-11-25',
    hint: 'Count the attempts for each operation, and end after two or three.',
    on: ['login-step-up-endless'],
    judge(view) {
      const pages = loginIn(view).of('authorize');
      if (pages.length === 0) return skip(NO_LOGIN);
      return pages.length > MOST_LOGINS
        ? fail(`The client logged in ${pages.length} times`, `At most ${MOST_LOGINS} times`, pages.at(-1))
        : pass(`It logged in ${pages.length === 1 ? 'once' : `${pages.length} times`}`);
    },
  }),
  loginCheck({
    id: 'login/renewed',
    title: 'Gets a new token when its token has ended',
    level: 'MUST',
    rules: ['AUTH-007'],
    hint: 'React to 401 also in the middle of a session: refresh the token, or log in again.',
    on: ['login-expires', 'login-expires-for-good'],
    judge: logsIn,
  }),
  loginCheck({
    id: 'login/refresh-token-assumed',
    title: 'Does not take a refresh token for granted',
    level: 'MUST',
    rules: ['AUTH-040'],
    since: '2026-07-28',
    hint: 'Refresh only with a token that you got. Ask for offline_access only if the authorization server lists it.',
    on: ['login-expires-for-good'],
    judge(view) {
      const login = loginIn(view);
      if (login.tokens.length === 0) return skip('the client got no token');
      const guess = login.of('token').find(({ params }) => params.get('grant_type') === 'refresh_token');
      if (guess) return fail('The client refreshes without a refresh token', 'A new login', guess);
      const offline = login
        .of('authorize')
        .find(({ params }) => wordsOf(params.get('scope')).includes(OFFLINE));
      return offline
        ? fail('The client asks for offline_access, which is not listed', 'No offline_access', offline)
        : pass('It assumed nothing');
    },
  }),
  loginCheck({
    id: 'login/refresh-token-secret',
    title: 'Sends a refresh token only to the authorization server that issued it',
    level: 'MUST',
    rules: ['AUTH-040'],
    since: '2026-07-28',
    hint: 'Use refresh tokens in the body of token requests to their issuer, and nowhere else.',
    on: LOGIN_NAMES,
    judge(view) {
      const { refreshTokens, requests } = loginIn(view);
      if (refreshTokens.length === 0) return skip('the client got no refresh token');
      const leak = view.transcript.entries.findIndex((entry) => {
        const owners = refreshTokens.filter(
          ({ value }) =>
            (entry.kind === 'in' && entry.text.includes(value)) ||
            (entry.kind === 'head' && (entry.path.includes(value) || has(entry.headers, value))),
        );
        if (owners.length === 0) return false;
        const to = requests.find(({ head }) => 'exchange' in entry && head.exchange === entry.exchange);
        return !owners.every(({ issuer }) => to?.kind === 'token' && to.issuer === issuer);
      });
      return leak >= 0
        ? fail('The client sent its refresh token somewhere else', 'Token requests only', { index: leak })
        : pass('It went nowhere else');
    },
  }),
  loginCheck({
    id: 'login/stored-privately',
    title: 'Stores tokens in files that only its user can read',
    level: 'MUST',
    rules: ['AUTH-043'],
    hint: 'Create the file with mode 0600, or use the keychain of the system.',
    on: LOGIN_NAMES,
    judge(view) {
      const { entries } = view.transcript;
      if (!entries.some(({ kind }) => kind === 'stored')) return skip('no file of the client has a token');
      const open = entries.findIndex((entry) => entry.kind === 'stored' && (entry.mode & 0o077) !== 0);
      const entry = entries[open];
      return entry?.kind === 'stored'
        ? fail(`${entry.file} has a token and the mode ${entry.mode.toString(8)}`, '600', { index: open })
        : pass('Only its user can read them');
    },
  }),
];

const MOST_LOGINS = 3;

function has(headers: Head['headers'], value: string): boolean {
  return Object.values(headers).some((each) => each.includes(value));
}

function placeOf({ transcript }: View, head: Head): number {
  return transcript.entries.indexOf(head);
}

function at(view: View, head: Head): { index: number } {
  return { index: placeOf(view, head) };
}
