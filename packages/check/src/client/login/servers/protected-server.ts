import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Script } from '../../model.js';
import { dual } from '../../scenarios/base-servers.js';
import { type AsideRequest, isMcpPath, MCP_PATH } from '../../scripted/script.js';
import { createIssuer, type Issuer, type IssuerBehaviour, send } from './issuer.js';

/** What a scripted server with authorization is like. */
export interface ProtectedServerBehaviour {
  /** The MCP server behind it. Default: a correct server of both eras. */
  readonly server?: () => Script;
  /** The first one is the one that the metadata names. Default: one without a path. */
  readonly issuers?: readonly IssuerBehaviour[];
  /** Paths of protected resource metadata, and what is there. Default: the well-known path of the server. */
  readonly resources?: Readonly<Record<string, (about: ServedSoFar) => JsonObject>>;
  /** The value of WWW-Authenticate. */
  readonly challenge?: (about: ServedSoFar) => string;
  /** Whether a request with a token of an issuer is refused. Default: never. */
  readonly refuses?: (request: AdmittedRequest) => AuthorizationRefusal | undefined;
  /** Other requests that are not MCP. Returns whether it answered. */
  readonly aside?: (request: AsideRequest) => boolean;
}

export interface ServedSoFar {
  readonly origin: string;
  /** Messages with a good token so far, by method. */
  readonly served: ReadonlyMap<string, number>;
}

interface AdmittedRequest extends ServedSoFar {
  readonly method: string;
  readonly token: string;
  /** The path of the issuer of the token. */
  readonly issuer: string;
  readonly scopes: readonly string[];
}

export interface AuthorizationRefusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export const PATH_FORM = `/.well-known/oauth-protected-resource${MCP_PATH}`;
export const ROOT_FORM = '/.well-known/oauth-protected-resource';
/** A place that only a challenge can name. */
export const NAMED_FORM = '/custom/metadata.json';

/** The scopes of a protected server: for its lists, and for its calls. */
export const READ = 'mcp:read';
export const WRITE = 'mcp:write';

/** A correct document, for a server whose authorization server has this path. */
export function resourceDocument({ origin }: Pick<ServedSoFar, 'origin'>, issuer = ''): JsonObject {
  return {
    resource: `${origin}${MCP_PATH}`,
    authorization_servers: [`${origin}${issuer}`],
    scopes_supported: [READ, WRITE],
    bearer_methods_supported: ['header'],
  };
}

/** A correct challenge for a request without a token. */
export function challengeFor({ origin }: Pick<ServedSoFar, 'origin'>, metadata = PATH_FORM): string {
  return `Bearer scope="${READ}", resource_metadata="${origin}${metadata}"`;
}

/** An MCP server that wants a token, with its authorization servers on the same port. */
export function protectedServer(behaviour: ProtectedServerBehaviour = {}): Script {
  const inner = behaviour.server?.() ?? dual();
  const issuers = (behaviour.issuers ?? [{}]).map(createIssuer);
  const resources = behaviour.resources ?? {
    [PATH_FORM]: (about) => resourceDocument(about, issuers[0]?.path),
  };
  const served = new Map<string, number>();
  const refusalOf = (
    method: string,
    headers: Readonly<Record<string, string>>,
  ): AuthorizationRefusal | undefined => {
    const about = { origin: originOf(headers), served };
    const token = /^bearer +(.+)$/i.exec(headers['authorization'] ?? '')?.[1] ?? '';
    const issuer = issuers.find((each) => each.scopesOf(token) !== undefined);
    if (!issuer) return unauthorized(behaviour.challenge?.(about) ?? challengeFor(about));
    const scopes = issuer.scopesOf(token) ?? [];
    const refusal = behaviour.refuses?.({ ...about, method, token, issuer: issuer.path, scopes });
    if (!refusal) served.set(method, (served.get(method) ?? 0) + 1);
    return refusal;
  };
  return {
    ...inner,
    receive(turn) {
      if (!isMcpPath(turn.path)) return turn.status(404);
      const refusal = refusalOf(turn.method, turn.headers);
      if (refusal) turn.status(refusal.status, '', refusal.headers);
      else inner.receive(turn);
    },
    visit(visit) {
      const refusal = refusalOf(visit.method, visit.headers);
      if (!refusal) return inner.visit?.(visit) ?? false;
      visit.status(refusal.status, '', refusal.headers);
      return true;
    },
    aside: (request) =>
      behaviour.aside?.(request) || publish(request, resources, served) || ask(request, issuers),
  };
}

export function unauthorized(challenge: string): AuthorizationRefusal {
  return { status: 401, headers: { 'www-authenticate': challenge } };
}

/** Requests may come by another name of the same address. The protected server has one. */
export function originOf(headers: Readonly<Record<string, string>>): string {
  return `http://127.0.0.1:${/:(\d+)$/.exec(headers['host'] ?? '')?.[1] ?? ''}`;
}

function publish(
  request: AsideRequest,
  resources: NonNullable<ProtectedServerBehaviour['resources']>,
  served: ReadonlyMap<string, number>,
): boolean {
  const document = resources[request.path.split('?')[0] ?? ''];
  if (document) send(request, 200, document({ origin: request.origin, served }));
  return document !== undefined;
}

function ask(request: AsideRequest, issuers: readonly Issuer[]): boolean {
  return issuers.some((issuer) => issuer.receive(request));
}
