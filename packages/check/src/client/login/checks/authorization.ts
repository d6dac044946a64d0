import type { ClientCheck, Opinion } from '../../checks/check.js';
import { fail, pass, skip } from '../../checks/check.js';
import { MCP_PATH } from '../../scripted/script.js';
import type { View } from '../../view.js';
import { challengeOf, loginIn, NO_LOGIN, type SeenLoginRequest } from '../login-view.js';
import { FORGED_CODE, FORGED_TEXT } from '../scenarios/authorization.js';
import { LOGIN_NAMES } from '../scenarios/index.js';
import { originOf } from '../servers/protected-server.js';
import { each, loginCheck, stopsBefore } from './outcomes.js';

/** The client redeems no code of a response that is not the one it waits for. */
const redeemsNothing = (seen: string) =>
  stopsBefore(['token'], { after: 'authorize', seen, expected: 'No token request' });

/** The authorization request, and the response to it. */
export const AUTHORIZATION: readonly ClientCheck[] = [
  loginCheck({
    id: 'login/pkce',
    title: 'Uses PKCE with S256',
    level: 'MUST',
    rules: ['AUTH-024'],
    hint: 'Send code_challenge and code_challenge_method=S256 in the authorization request, and the matching code_verifier in the token request.',
    on: LOGIN_NAMES,
    judge(view) {
      const pages = loginIn(view).of('authorize');
      const challenges = pages.map(({ params }) => params.get('code_challenge') ?? '');
      const asked = each(
        view,
        'authorize',
        ({ params }) => {
          if (!params.get('code_challenge')) return 'The authorization request has no code_challenge';
          const method = params.get('code_challenge_method');
          return method === 'S256' ? undefined : `code_challenge_method is ${JSON.stringify(method)}`;
        },
        { expected: 'code_challenge with S256', seen: 'It did' },
      );
      if (asked.kind !== 'pass') return asked;
      const bad = loginIn(view)
        .of('token')
        .find(
          ({ params }) =>
            params.get('grant_type') === 'authorization_code' &&
            !challenges.includes(challengeOf(params.get('code_verifier') ?? '')),
        );
      return bad
        ? fail('code_verifier does not belong to a code_challenge', 'The verifier of the challenge', bad)
        : asked;
    },
  }),
  loginCheck({
    id: 'login/pkce-announced',
    title: 'Refuses an authorization server that does not say that it supports PKCE',
    level: 'MUST',
    rules: ['AUTH-025'],
    since: '2025-11-25',
    hint: 'Stop when the metadata has no code_challenge_methods_supported.',
    on: ['login-no-pkce'],
    judge: stopsBefore(['authorize', 'token'], {
      after: 'issuer',
      seen: 'The client went on without code_challenge_methods_supported',
      expected: 'No authorization request',
    }),
  }),
  loginCheck({
    id: 'login/resource-parameter',
    title: 'Names the server as resource in authorization and token requests',
    level: 'MUST',
    rules: ['AUTH-022'],
    hint: 'Send resource (RFC 8707) in both requests, and when you refresh a token.',
    on: ordinary(),
    judge: (view) =>
      both(view, ({ params, head }) => {
        const sent = params.get('resource');
        if (sent === null) return 'There is no resource';
        return isOfServer(sent, originOf(head.headers)) ? undefined : `resource is ${JSON.stringify(sent)}`;
      }),
  }),
  loginCheck({
    id: 'login/resource-canonical',
    title: 'Sends resource as the server publishes it',
    level: 'SHOULD',
    rules: ['AUTH-023'],
    hint: 'Send the value of resource in the metadata unchanged: without a fragment, and without a slash that is not there.',
    on: ordinary(),
    judge: (view) =>
      both(view, ({ params, head }) => {
        const sent = params.get('resource');
        const wanted = `${originOf(head.headers)}${MCP_PATH}`;
        return sent === null || sent === wanted ? undefined : `resource is ${sent} instead of ${wanted}`;
      }),
  }),
  loginCheck({
    id: 'login/state-sent',
    title: 'Sends a state that cannot be guessed',
    level: 'SHOULD',
    rules: ['AUTH-026'],
    hint: 'Send at least 128 random bits as state, new ones for every login.',
    on: LOGIN_NAMES,
    judge: (view) =>
      each(
        view,
        'authorize',
        ({ params }) =>
          (params.get('state') ?? '').length >= 16
            ? undefined
            : `state is ${JSON.stringify(params.get('state'))}`,
        { expected: 'A long random state', seen: 'It did' },
      ),
  }),
  loginCheck({
    id: 'login/state-verified',
    title: 'Drops a response with a state that it did not send',
    level: 'SHOULD',
    rules: ['AUTH-026'],
    hint: 'Compare state of the response with the one that you sent, before you use anything of it.',
    on: ['login-wrong-state'],
    judge: stopsBefore(['token'], {
      after: 'authorize',
      seen: 'The client redeemed the code of a response with a wrong state',
      expected: 'No token request with this code',
      matters: ({ params }) => params.get('code') === FORGED_CODE,
    }),
  }),
  loginCheck({
    id: 'login/iss-compared',
    title: 'Drops a response with the iss of another authorization server',
    level: 'MUST',
    rules: ['AUTH-018'],
    since: '2026-07-28',
    hint: 'Compare iss with the issuer that you recorded, also when the metadata does not announce it.',
    on: ['login-iss-wrong', 'login-iss-unannounced'],
    judge: redeemsNothing('The client redeemed the code of a response with another iss'),
  }),
  loginCheck({
    id: 'login/iss-required',
    title: 'Drops a response without iss when the metadata announces it',
    level: 'MUST',
    rules: ['AUTH-019'],
    since: '2026-07-28',
    hint: 'With authorization_response_iss_parameter_supported: true, a response without iss is not valid.',
    on: ['login-iss-missing'],
    judge: redeemsNothing('The client redeemed the code of a response without iss'),
  }),
  loginCheck({
    id: 'login/iss-exact',
    title: 'Compares iss character by character',
    level: 'MUST',
    rules: ['AUTH-020'],
    since: '2026-07-28',
    hint: 'Compare strings. Do not parse or normalize them.',
    on: ['login-iss-slash', 'login-iss-capitals'],
    judge: redeemsNothing('The client redeemed the code of a response whose iss only looks alike'),
  }),
  loginCheck({
    id: 'login/iss-error',
    title: 'Shows and follows nothing of an error with another iss',
    level: 'MUST',
    rules: ['AUTH-021'],
    since: '2026-07-28',
    hint: 'Check iss before you look at error, error_description and error_uri.',
    on: ['login-iss-error'],
    judge(view) {
      const [first] = loginIn(view).of('authorize');
      if (!first) return skip(NO_LOGIN);
      const followed = view.asides.find(({ path }) => path === `/${FORGED_TEXT}`);
      if (followed) {
        const about = { index: view.transcript.entries.indexOf(followed) };
        return fail('The client opened error_uri', 'Nothing of the error is used', about);
      }
      return view.transcript.end.stderr.includes(FORGED_TEXT)
        ? fail('The client wrote error_description to stderr', 'Nothing of the error is shown', first)
        : pass('It used nothing of the error');
    },
  }),
  loginCheck({
    id: 'login/issuer-recorded',
    title: 'Records the issuer before the login, and redeems the code only there',
    level: 'MUST',
    rules: ['AUTH-017'],
    since: '2026-07-28',
    hint: 'Keep issuer and token endpoint with the verifier and the state. Do not look for them again when the browser comes back.',
    on: ['login-mix-up'],
    judge: stopsBefore(['token'], {
      after: 'authorize',
      seen: 'The client sent the code of one authorization server to another',
      expected: 'No token request',
      matters: ({ issuer }) => issuer === '/wrong',
    }),
  }),
  loginCheck({
    id: 'login/pages',
    title: 'Opens only pages with https, or on this machine',
    level: 'MUST',
    rules: ['AUTH-047'],
    since: '2026-07-28',
    hint: 'Before you open an address, check that its scheme is https, or http with a loopback address.',
    on: ['login-script-page', 'login-file-page', 'login-plain-page'],
    judge(view, facts) {
      if (!facts.browses) return skip(NO_BROWSER);
      const opened = view.transcript.entries.findIndex((entry) => entry.kind === 'opened');
      const entry = view.transcript.entries[opened];
      if (entry?.kind !== 'opened') return pass('It opened nothing');
      return fail(`The client opened ${entry.url}`, 'No page is opened', { index: opened });
    },
  }),
  loginCheck({
    id: 'login/no-shell',
    title: 'Opens pages without a shell',
    level: 'MUST',
    rules: ['AUTH-048'],
    since: '2026-07-28',
    hint: 'Start the browser with the address as one argument, without a shell.',
    on: ['login-shell-page'],
    judge(view, facts) {
      if (!facts.browses) return skip(NO_BROWSER);
      const [page] = loginIn(view).of('authorize');
      if (!page) return skip('the client did not open the page');
      const path = decodeURIComponent(page.path);
      if (!path.endsWith('/$((6*7))'))
        return fail(`A shell has changed the address: ${path}`, SHELL_PATH, page);
      return page.params.has('redirect_uri')
        ? pass('The address came as it was')
        : fail('A shell has cut the address at an ampersand', SHELL_PATH, page);
    },
  }),
];

const NO_BROWSER = 'the client opens no browser here';
const SHELL_PATH = 'The whole address, with /authorize/$((6*7))';

/** The scenarios with metadata that says what the resource is, and an ordinary authorization server. */
function ordinary(): readonly string[] {
  return ['login-sound', 'login-expires', 'login-step-up', 'login-issuer-path', 'login-metadata-path'];
}

function both(view: View, problem: (request: SeenLoginRequest) => string | undefined): Opinion {
  const words = { expected: 'The address of the server', seen: 'It did' };
  const page = each(view, 'authorize', problem, words);
  return page.kind === 'pass' ? each(view, 'token', problem, words) : page;
}

function isOfServer(resource: string, origin: string): boolean {
  if (!URL.canParse(resource)) return false;
  const url = new URL(resource);
  return url.origin === origin && `${MCP_PATH}/`.startsWith(url.pathname.replace(/\/?$/, '/'));
}
