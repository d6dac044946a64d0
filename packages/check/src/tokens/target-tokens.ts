import type { CheckTarget } from '../wire/targets.js';
import type { CheckTokens, TokenSet } from './token-set.js';

/** The tokens of a run. Without a good token, it is the one that the target is used with. */
export function tokensFor(target: CheckTarget, tokens: CheckTokens = {}): CheckTokens {
  if (target.transport !== 'http' || tokens.given?.good !== undefined || tokens.signer) return tokens;
  const header = Object.entries(target.headers).find(([name]) => isAuthorization(name))?.[1];
  const [, good] = /^bearer +(\S+)$/i.exec(header ?? '') ?? [];
  return good === undefined ? tokens : { ...tokens, given: { ...tokens.given, good } };
}

/** The good token is the credential of ordinary requests. */
export function withToken(target: CheckTarget, tokens: TokenSet): CheckTarget {
  const good = tokens.of('good');
  if (target.transport !== 'http' || good === undefined) return target;
  const others = Object.entries(target.headers).filter(([name]) => !isAuthorization(name));
  return { ...target, headers: { ...Object.fromEntries(others), authorization: `Bearer ${good}` } };
}

function isAuthorization(name: string): boolean {
  return name.toLowerCase() === 'authorization';
}
