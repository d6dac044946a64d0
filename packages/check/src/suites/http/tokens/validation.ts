import type { Check } from '../../../model.js';
import type { CheckContext } from '../../../run/check-context.js';
import type { TokenSet } from '../../../tokens/token-set.js';
import { challengeParameter, NO_TOKENS, needGood, openWith } from './ask-with-token.js';

const about = { suite: 'http', over: ['http'], lane: 'own', era: 'none', level: 'MUST' } as const;

/** Which tokens a resource server accepts. The user gives them, or the key that signs them. */
export const tokenValidationChecks: readonly Check[] = [
  {
    ...about,
    id: 'http-tokens/good',
    title: 'Accepts a good token',
    level: 'SHOULD',
    rules: [],
    reason: 'A server that refuses the good token shows nothing about the others.',
    hint: 'Compare iss, aud and the key of the token with the configuration of the server.',
    async run(context) {
      const good = context.tokens.of('good');
      if (good === undefined) return context.skip(NO_TOKENS);
      const answer = await openWith(context, good);
      return answer.status === 200
        ? 'it was accepted'
        : context.fail(`the good token was answered with ${answer.said}`, 'HTTP 200');
    },
  },
  refusing('expired', {
    title: 'Refuses an expired token with 401',
    rules: ['AUTH-030', 'AUTH-031'],
    hint: 'Compare exp with the time, with at most a minute of tolerance.',
  }),
  refusing('foreign', {
    id: 'foreign-audience',
    title: 'Refuses a token for another audience with 401',
    rules: ['AUTH-030'],
    hint: 'Accept only tokens with this server in aud.',
  }),
  refusing('no-audience', {
    title: 'Refuses a token without an audience',
    level: 'SHOULD',
    rules: ['AUTH-030'],
    hint: 'A token without aud was not issued for this server in particular.',
  }),
  refusing('foreign-issuer', {
    title: 'Refuses a token of another issuer',
    level: 'SHOULD',
    rules: ['AUTH-030'],
    hint: 'Compare iss with the authorization servers of this server, also if the signature fits.',
  }),
  refusing('not-yet', {
    id: 'not-yet-valid',
    title: 'Refuses a token that is not valid yet',
    level: 'SHOULD',
    rules: ['AUTH-030'],
    hint: 'Compare nbf with the time.',
  }),
  refusing('changed', {
    title: 'Refuses a token whose claims were changed',
    rules: ['AUTH-030', 'AUTH-031'],
    hint: 'Verify the signature before you read the claims.',
  }),
  refusing('unsigned', {
    title: 'Refuses a token that says that it needs no signature',
    rules: ['AUTH-030', 'AUTH-031'],
    hint: 'Allow only the algorithms of your authorization server. Never allow "none".',
  }),
  refusing('strange-key', {
    title: 'Refuses a token that an unknown key has signed',
    rules: ['AUTH-030', 'AUTH-031'],
    hint: 'Use the keys and the algorithms of your authorization server only, never a key that the token brings or names.',
    also: { 'brought-key': 'that brings the key', 'public-secret': 'whose secret is the public key' },
  }),
  {
    ...about,
    id: 'http-tokens/says-invalid-token',
    title: 'Says error="invalid_token" when it refuses a token',
    level: 'SHOULD',
    rules: [],
    reason: 'RFC 6750, 3.1. Clients tell from it that a new token is needed, and not a new login method.',
    hint: 'Answer with WWW-Authenticate: Bearer error="invalid_token", …',
    async run(context) {
      await needGood(context);
      const bad = context.tokens.of('expired') ?? context.tokens.of('changed');
      if (bad === undefined) return context.skip('there is no expired token, and none that can be changed');
      const answer = await openWith(context, bad);
      if (answer.status !== 401) return context.skip(`an invalid token was answered with ${answer.said}`);
      const error = challengeParameter(answer, 'error');
      return error === 'invalid_token'
        ? 'it says invalid_token'
        : context.fail(`error is ${JSON.stringify(error)}`, 'invalid_token');
    },
  },
];

function refusing(kind: RefusedKind, { id = kind, also = {}, ...check }: RefusingCheck): Check {
  return {
    ...about,
    ...check,
    id: `http-tokens/${id}`,
    async run(context: CheckContext) {
      await needGood(context);
      const token = context.tokens.of(kind);
      if (token === undefined) return context.skip(whyNone(kind));
      const tokens = [['such a token', token], ...moreOf(context, also)] as const;
      for (const [what, each] of tokens) {
        const answer = await openWith(context, each);
        if (answer.status !== 401)
          return context.fail(`${what} was answered with ${answer.said}`, 'HTTP 401');
      }
      return 'HTTP 401';
    },
  };
}

type RefusedKind = Parameters<TokenSet['of']>[0];

interface RefusingCheck extends Pick<Check, 'title' | 'rules' | 'hint'> {
  readonly id?: string;
  readonly level?: Check['level'];
  /** Tokens with a similar fault, and what is special about them. */
  readonly also?: Partial<Record<RefusedKind, string>>;
}

function moreOf({ tokens }: CheckContext, also: Partial<Record<RefusedKind, string>>): [string, string][] {
  return Object.entries(also).flatMap(([kind, what]) => {
    const token = tokens.of(kind as RefusedKind);
    return token === undefined ? [] : [[`one ${what}`, token]];
  });
}

function whyNone(kind: string): string {
  if (['expired', 'foreign'].includes(kind))
    return `no such token was given (--token ${kind}=…, --token-key)`;
  return ['changed', 'unsigned', 'strange-key'].includes(kind)
    ? 'the good token is not a JWT'
    : 'such a token needs the key of the issuer (--token-key)';
}
