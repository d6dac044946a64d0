import { randomBytes } from 'node:crypto';
import { clientKey } from '../../../exchange/client-key.js';
import type { Connection } from '../../../exchange/connection.js';
import { FairShare } from '../../../exchange/fair-share.js';
import { decodeLine } from '../../../wire/codec.js';
import { withTraceOf } from '../../trace-headers.js';
import { authorizeRequest } from '../admission/authorize.js';
import { isJson } from '../admission/guard.js';
import { type RequestLimiter, readBody } from '../admission/request-limits.js';
import type { AdmittedRequest } from '../exchange/admitted-request.js';
import type { HttpEndpointSettings } from '../options.js';
import type { WholeRequest } from '../replicas/endpoint-replicas.js';
import type { RoutedRequest } from '../replicas/find-owner.js';
import { SseConnection } from './sse-2024-connection.js';

/** The transport of 2024-11-05: one stream for everything that the server sends, and a path for POSTs. */
export class SseConnections {
  readonly #settings: HttpEndpointSettings;
  readonly #limiter: RequestLimiter;
  readonly #open = new Map<string, SseConnection>();
  readonly #shares = new FairShare<SseConnection>();
  /** Set if other processes have connections, too. */
  replicas: SseReplicas | undefined;

  constructor(settings: HttpEndpointSettings, limiter: RequestLimiter) {
    this.#settings = settings;
    this.#limiter = limiter;
  }

  handle(path: 'sse' | 'message', admitted: AdmittedRequest, accept: (connection: Connection) => void): void {
    const { exchange, headers } = admitted;
    const method = path === 'sse' ? 'GET' : 'POST';
    if (exchange.method !== method) return exchange.respond(405, { ...headers, allow: method });
    if (path === 'message') return this.#message(admitted);
    authorizeRequest(admitted, this.#settings, undefined, () => this.#begin(admitted, accept));
  }

  keepAlive(now: number): void {
    for (const connection of this.#open.values()) connection.keepAlive(now, this.#settings.keepAliveMs);
  }

  #begin(admitted: AdmittedRequest, accept: (connection: Connection) => void): void {
    const { exchange, principal, headers } = admitted;
    const { maxSessions, clock, sse } = this.#settings;
    const who = clientKey({ principal, remote: exchange.remote });
    if (this.#shares.size >= maxSessions && !this.#makeRoom(who)) {
      return exchange.respond(503, { ...headers, 'retry-after': '1' });
    }
    const id = this.replicas?.mint(principal) ?? randomBytes(24).toString('base64url');
    const connection = new SseConnection(admitted, id, this.#limiter, () => clock.now());
    this.#open.set(id, connection);
    this.#shares.set(who, connection);
    void connection.closed.then(() => {
      this.#open.delete(id);
      this.#shares.delete(who, connection);
    });
    accept(connection);
    const [from] = (exchange.written ?? exchange.target).split('?') as [string];
    connection.sendEndpoint(`${relativePath(from, sse!.messagePath)}?sessionId=${id}`);
  }

  /** Ends a connection of the client that has more than this one: the one that was not used for longest. */
  #makeRoom(who: string): boolean {
    const displacement = this.#shares.displacedBy(who);
    if (displacement.kind !== 'from') return false;
    let found: SseConnection | undefined;
    for (const each of this.#shares.itemsOf(displacement.who)) {
      if (!found || isLessUseful(each, found)) found = each;
    }
    if (found) this.#shares.delete(displacement.who, found);
    found?.close();
    return found !== undefined;
  }

  #message(admitted: AdmittedRequest): void {
    const { exchange, principal, headers } = admitted;
    if (!isJson(exchange.header('content-type'))) return exchange.respond(415, headers);
    const id = new URLSearchParams(exchange.target.split('?')[1] ?? '').get('sessionId') ?? '';
    const connection = this.#open.get(id);
    if (!connection || connection.principal !== principal) {
      if (!this.replicas) return exchange.respond(404, headers);
      return this.#messageElsewhere(id, admitted, this.replicas);
    }
    readBody(admitted, this.#settings, (bytes, entered) => {
      const message = withTraceOf(decodeLine(bytes), exchange);
      authorizeRequest(entered, this.#settings, message, () =>
        connection.post(entered, message, bytes.length),
      );
    });
  }

  /** Another process may have the stream that the message belongs to. */
  #messageElsewhere(id: string, admitted: AdmittedRequest, replicas: SseReplicas): void {
    readBody(admitted, this.#settings, (body, entered) => {
      void replicas.routeStream(id, { admitted: entered, body }).then((routed) => {
        if (routed !== 'answered') entered.exchange.respond(404, entered.headers);
      });
    });
  }
}

/** What the connections of an endpoint need of the cluster. */
export interface SseReplicas {
  mint(principal: string | undefined): string;
  routeStream(id: string, whole: WholeRequest): Promise<RoutedRequest>;
}

function isLessUseful(a: SseConnection, b: SseConnection): boolean {
  return a.running > 0 === b.running > 0 ? a.lastUsedAt < b.lastUsedAt : a.running === 0;
}

/**
 * The absolute path `to` as a reference relative to `from`. Behind a proxy that adds a prefix, a client resolves it
 * against the URL that it used, with the prefix.
 */
export function relativePath(from: string, to: string): string {
  const here = from.split('/').slice(1, -1);
  const there = to.split('/').slice(1);
  let common = 0;
  while (common < here.length && common < there.length - 1 && here[common] === there[common]) common += 1;
  const up = here.slice(common).map(() => '..');
  const reference = [...up, ...there.slice(common)].join('/');
  // `?…` alone means the same path, and a first segment with a colon would be read as a scheme.
  return reference === '' || /^[^/]*:/.test(reference) ? `./${reference}` : reference;
}
