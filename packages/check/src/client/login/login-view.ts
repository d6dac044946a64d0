import { createHash } from 'node:crypto';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { ClientFacts, Opinion } from '../checks/check.js';
import { skip } from '../checks/check.js';
import type { Head, View } from '../view.js';
import { parseObject } from './servers/issuer.js';

/** A request of a login: for metadata, a registration, a page, or a token. */
export interface SeenLoginRequest {
  readonly kind: 'resource' | 'issuer' | 'register' | 'authorize' | 'token';
  readonly head: Head;
  readonly index: number;
  /** Without the query. */
  readonly path: string;
  /** The path of the issuer that it belongs to, for endpoints. */
  readonly issuer: string;
  /** Of the query or the form. */
  readonly params: URLSearchParams;
  readonly json: JsonObject;
  readonly body: string;
  /** What the server answered. */
  readonly answer: JsonObject;
  readonly answeredAt: number;
}

/** The login of one run, as its servers saw it. */
export interface LoginView {
  readonly requests: readonly SeenLoginRequest[];
  of(kind: SeenLoginRequest['kind']): readonly SeenLoginRequest[];
  /** Access tokens, with the issuer and the place of the answer. */
  readonly tokens: readonly IssuedToken[];
  readonly refreshTokens: readonly IssuedToken[];
}

interface IssuedToken {
  readonly value: string;
  readonly issuer: string;
  readonly index: number;
}

export function loginIn(view: View): LoginView {
  const known = SEEN.get(view);
  if (known) return known;
  const requests = view.asides.flatMap((head): SeenLoginRequest[] => {
    const found = toRequest(view, head);
    return found ? [found] : [];
  });
  const issued = (member: string) =>
    requests.flatMap(({ kind, answer, issuer, answeredAt }): IssuedToken[] => {
      const value = answer[member];
      return kind === 'token' && typeof value === 'string' ? [{ value, issuer, index: answeredAt }] : [];
    });
  const login: LoginView = {
    requests,
    of: (kind) => requests.filter((each) => each.kind === kind),
    tokens: issued('access_token'),
    refreshTokens: issued('refresh_token'),
  };
  SEEN.set(view, login);
  return login;
}

/** Many checks look at the same view. */
const SEEN = new WeakMap<View, LoginView>();

function toRequest({ transcript: { entries } }: View, head: Head): SeenLoginRequest | undefined {
  const [path = '', query = ''] = head.path.split('?');
  const kind = kindOf(path);
  if (kind === undefined) return undefined;
  const of = entries.flatMap((entry, at) =>
    'exchange' in entry && entry.exchange === head.exchange ? [{ entry, at }] : [],
  );
  const body = of.flatMap(({ entry }) => (entry.kind === 'in' ? [entry.text] : [])).join('');
  const out = of.find(({ entry }) => entry.kind === 'out');
  const text = out?.entry.kind === 'out' ? out.entry.text : '';
  return {
    kind,
    head,
    index: entries.indexOf(head),
    path,
    issuer: path.replace(/\/(register|authorize|token)(\/.*)?$/, ''),
    params: new URLSearchParams(kind === 'token' ? body : query),
    json: parseObject(body),
    body,
    answer: parseObject(text),
    answeredAt: out?.at ?? Number.POSITIVE_INFINITY,
  };
}

function kindOf(path: string): SeenLoginRequest['kind'] | undefined {
  if (/oauth-protected-resource|^\/custom\//.test(path)) return 'resource';
  if (/oauth-authorization-server|openid-configuration/.test(path)) return 'issuer';
  const [, name] = /^(?:\/[a-z]+)?\/(register|authorize|token)(?:\/.*)?$/.exec(path) ?? [];
  return name as SeenLoginRequest['kind'] | undefined;
}

/** S256 of a verifier (RFC 7636). */
export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}

/** Why a rule that began with a revision does not bind this client; undefined when it does. */
export function unbound(
  view: View,
  facts: ClientFacts,
  since: '2025-11-25' | '2026-07-28',
): Opinion | undefined {
  if (facts.modern) return undefined;
  const offered = view.named('initialize').map(({ params }) => String(params['protocolVersion']));
  if (since === '2025-11-25' && offered.some((each) => each >= since)) return undefined;
  return skip(`it is a rule of ${since}, and the client speaks older revisions only`);
}

/** The client never began to log in: nothing of a login can be seen. */
export const NO_LOGIN = 'the client did not begin to log in';
