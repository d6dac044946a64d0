import type { IncomingMessage, ServerResponse } from 'node:http';
import { NodeExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/node-exchange.js';
import type { UnreadAnswers } from '@isthmus/sdk/internal/transport/http-server/exchange/unread-answers.js';
import type { AccessControl, ConsoleUser } from '../access/access.js';
import type { AccessLevel, Bytes, RouteName, Routes } from '../contract.js';
import { ConsoleError, failureFor, invalid, notFound } from './console-error.js';
import { API_HEADERS } from './headers.js';
import { findRoute, ROUTE_RULES } from './route-table.js';

/** What a handler gets. */
export interface ApiRequest {
  readonly user: ConsoleUser;
  readonly key: string;
  /** The decoded segments of the path that stand for `:name`. */
  readonly segments: readonly string[];
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly exchange: NodeExchange;
}

/** `STREAMING`: the handler answers by itself. */
export type HandlerAnswer<Name extends RouteName> = Routes[Name]['answer'] | typeof STREAMING;
export type RouteHandler<Name extends RouteName> = (
  request: ApiRequest,
) => HandlerAnswer<Name> | Promise<HandlerAnswer<Name>>;

/** The routes that a face has. The others answer 404. */
export type Handlers = { readonly [Name in RouteName]?: RouteHandler<Name> };

export const STREAMING = Symbol('streaming');

export interface RouterOptions {
  readonly access: AccessControl;
  readonly handlers: Handlers;
  /** Whether payloads belong to clients of others, and need `record`. */
  readonly guardsPayloads: boolean;
}

/** Answers the requests of the page: finds the route, checks the key and its level, reads the body. */
export class Router {
  readonly #options: RouterOptions;

  constructor(options: RouterOptions) {
    this.#options = options;
  }

  /** `path`: what follows `api/`, without the query. Never throws. */
  handle(path: string, request: IncomingMessage, response: ServerResponse, unread: UnreadAnswers): void {
    const exchange = new NodeExchange(request, response, undefined, unread);
    this.#answer(path, exchange, response).catch((error: unknown) => {
      const { status, body } = failureFor(error);
      if (!response.headersSent) respondJson(exchange, status, body);
      else response.destroy();
    });
  }

  async #answer(path: string, exchange: NodeExchange, response: ServerResponse): Promise<void> {
    const segments = decodeSegments(path);
    const found = findRoute(exchange.method, segments);
    const key = exchange.header('isthmus-key');
    // An unknown route says so only to those who are in.
    const name = 'name' in found ? found.name : undefined;
    const user = name && ROUTE_RULES[name].level === 'none' ? undefined : await this.#user(key);
    if (!('name' in found)) {
      if (found.methods.length === 0) throw notFound(`There is no ${shown(path)}`);
      throw new ConsoleError(405, 'INVALID_OPTION', `${shown(path)} answers ${found.methods.join(', ')}`);
    }
    if (user) this.#checkLevel(found.name, user);
    const handler = this.#options.handlers[found.name] as RouteHandler<RouteName> | undefined;
    if (!handler) throw notFound(`This console has no ${shown(path)}`);
    const body = exchange.method === 'GET' ? undefined : await readJson(exchange);
    const answer = await handler({
      user: user ?? NOBODY,
      key: key ?? '',
      segments: found.segments,
      query: queryOf(exchange.target),
      body,
      exchange,
    });
    if (answer === STREAMING) return;
    if (isBytes(answer)) return sendBytes(response, answer);
    if (answer === undefined) return exchange.respond(204, API_HEADERS);
    respondJson(exchange, found.name === 'POST calls' ? 202 : 200, answer);
  }

  async #user(key: string | undefined): Promise<ConsoleUser> {
    const user = await this.#options.access.userWith(key);
    if (user) return user;
    throw new ConsoleError(401, 'UNAUTHORIZED', 'This needs a key, and there is none or it has expired', {
      hint: 'Open the link that isthmus prints, or run isthmus console for a new one',
    });
  }

  #checkLevel(name: RouteName, { levels, who }: ConsoleUser): void {
    const { level, hasPayloads } = ROUTE_RULES[name];
    const needed: readonly (AccessLevel | 'none')[] =
      hasPayloads && this.#options.guardsPayloads && !OWN_PAYLOADS.has(name) ? [level, 'record'] : [level];
    const missing = needed.find((each) => each !== 'none' && !levels.includes(each));
    if (missing === undefined) return;
    throw new ConsoleError(403, 'NOT_ALLOWED', `${who} may not do this: it needs the level ${missing}`);
  }
}

/** Their handlers decide: the calls that the user made are the user's own. */
const OWN_PAYLOADS: ReadonlySet<RouteName> = new Set([
  'GET calls/:id',
  'GET calls/:id/content/:index',
  'GET calls/:id/lens',
  'GET frames/:seq',
]);

const NOBODY: ConsoleUser = { who: '', levels: [] };
const MAX_BODY = 4 * 1024 * 1024;

function readJson(exchange: NodeExchange): Promise<unknown> {
  return new Promise((resolve, reject) => {
    exchange.body(MAX_BODY, (body) => {
      if (body.kind === 'too-large')
        return reject(new ConsoleError(413, 'INVALID_OPTION', `A body has at most ${MAX_BODY} bytes`));
      if (body.kind === 'gone') return reject(new ConsoleError(400, 'GONE', 'The request was interrupted'));
      if (body.bytes.length === 0) return resolve(undefined);
      // A form of another page cannot send this type without being asked first.
      if (!/^application\/json\s*(;|$)/i.test(exchange.header('content-type') ?? ''))
        return reject(new ConsoleError(415, 'INVALID_OPTION', 'The body must be application/json'));
      try {
        resolve(JSON.parse(body.bytes.toString()));
      } catch {
        reject(invalid('The body is not valid JSON'));
      }
    });
  });
}

function isBytes(answer: unknown): answer is Bytes {
  return (answer as Partial<Bytes> | null)?.bytes instanceof Uint8Array;
}

/** Never shown by the browser, whatever the server says that it is. */
function sendBytes(response: ServerResponse, { bytes, type, file }: Bytes): void {
  response.writeHead(200, {
    ...API_HEADERS,
    'content-type': type,
    'content-length': bytes.length,
    'content-disposition': `attachment; filename="${file.replace(/[^\w.-]/g, '_')}"`,
  });
  response.end(bytes);
}

export function respondJson(exchange: NodeExchange, status: number, value: unknown): void {
  exchange.respond(status, { ...API_HEADERS, 'content-type': 'application/json' }, JSON.stringify(value));
}

function decodeSegments(path: string): string[] {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    throw invalid('The path is not valid percent-encoding');
  }
}

/** A repeated name keeps its last value. */
function queryOf(target: string): Record<string, string> {
  const at = target.indexOf('?');
  if (at < 0) return {};
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of new URLSearchParams(target.slice(at + 1))) query[name] = value;
  return query;
}

function shown(path: string): string {
  return JSON.stringify(path.slice(0, 100));
}
