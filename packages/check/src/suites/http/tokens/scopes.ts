import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import { scopesOf } from '../../../tokens/token-set.js';
import type { Answer } from '../client/answer.js';
import { openNamedSession } from '../client/session.js';
import { bearer, challengeParameter, needGood, operations, type TokenOperation } from './ask-with-token.js';

const about = { suite: 'http', over: ['http'], lane: 'own', level: 'SHOULD' } as const;

/** What a resource server does with tokens that are valid and not enough. */
export const tokenScopeChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-tokens/weak',
    title: 'Answers a token with too few scopes with 403 and insufficient_scope',
    era: 'none',
    rules: ['AUTH-036', 'AUTH-041'],
    hint: 'Answer with HTTP 403 and WWW-Authenticate: Bearer error="insufficient_scope", scope="…", resource_metadata="…". Leave offline_access out.',
    async run(context) {
      const { refusal, what } = await refusalOfWeak(context);
      if (refusal.status !== 403)
        context.fail(`${what} with the weak token was answered with ${refusal.said}`, 'HTTP 403');
      const error = challengeParameter(refusal, 'error');
      if (error !== 'insufficient_scope')
        context.fail(`error of the challenge is ${JSON.stringify(error)}`, 'error="insufficient_scope"');
      for (const name of ['scope', 'resource_metadata']) {
        if (!challengeParameter(refusal, name)) context.fail(`the challenge has no ${name}`, `${name}="…"`);
      }
      if (challengeParameter(refusal, 'scope')?.split(' ').includes('offline_access'))
        context.fail('the challenge asks for offline_access', 'the scopes of the operation alone');
      return `${what}: HTTP 403 with scope="${challengeParameter(refusal, 'scope')}"`;
    },
  },
  {
    ...about,
    id: 'http-tokens/weak-complete',
    title: 'Names all scopes that an operation needs in one challenge',
    era: 'modern',
    rules: ['AUTH-036'],
    hint: 'Put every scope of the operation into the challenge, not only the first one that is missing.',
    async run(context) {
      const { refusal, operation, what } = await refusalOfWeak(context);
      const named = (challengeParameter(refusal, 'scope') ?? '').split(' ').filter(Boolean);
      if (refusal.status !== 403 || named.length === 0) return context.skip('the refusal names no scope');
      const stronger = context.tokens.withScopes([...scopesOf(context.tokens.of('weak')), ...named]);
      if (stronger === undefined) return context.skip('it needs the key of the issuer (--token-key)');
      const answer = await operation.ask(stronger);
      return answer.status === 200
        ? `${what} is served with ${named.join(' ')}`
        : context.fail(
            `with the scopes of the challenge, ${what} was answered with ${answer.said}`,
            'HTTP 200',
          );
    },
  },
  {
    ...about,
    id: 'http-tokens/broad',
    title: 'Accepts a broader scope that implies the scope that is needed',
    level: 'MUST',
    era: 'modern',
    rules: ['AUTH-039'],
    hint: 'Treat a scope that contains another one as enough for both.',
    async run(context) {
      const good = await needGood(context);
      const broad = context.tokens.of('broad');
      if (broad === undefined)
        return context.skip('no token with a broader scope was given (--token broad=…, --broad-scope)');
      for (const { what, ask } of await operations(context)) {
        if ((await ask(good)).status !== 200) continue;
        const answer = await ask(broad);
        if (answer.status !== 200)
          context.fail(`${what} with the broader scope was answered with ${answer.said}`, 'HTTP 200');
      }
      return 'it was accepted wherever the good token was';
    },
  },
  {
    ...about,
    id: 'http-tokens/sessions-apart',
    title: 'Binds a session to its user',
    era: 'legacy',
    rules: ['SESS-012'],
    hint: 'Keep the user with the session, and answer requests of others with 404.',
    async run(context) {
      await needGood(context);
      const other = context.tokens.of('other');
      if (other === undefined)
        return context.skip('no token of another user was given (--token other=…, --token-key)');
      const session = await openNamedSession(context);
      const answer = await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' }, bearer(other));
      return answer.status >= 400 && answer.status < 500
        ? `HTTP ${answer.status}`
        : context.fail(`another user was answered with ${answer.said} in the session`, 'a refusal');
    },
  },
];

interface WeakRefusal {
  readonly operation: TokenOperation;
  readonly what: string;
  readonly refusal: Answer;
}

/** The first operation that is refused with the weak token. Fails if all are served. */
async function refusalOfWeak(context: CheckContext): Promise<WeakRefusal> {
  const good = await needGood(context);
  const weak = context.tokens.of('weak');
  if (weak === undefined)
    return context.skip('no token with too few scopes was given (--token weak=…, --weak-scope)');
  for (const operation of await operations(context)) {
    const refusal = await operation.ask(weak);
    if (refusal.status === 200 || (await operation.ask(good)).status !== 200) continue;
    return { operation, what: operation.what, refusal };
  }
  return context.fail(
    'everything was served with the weak token',
    'HTTP 403 for an operation that needs more',
  );
}
