import type { Cluster } from '@isthmus/sdk/internal/cluster/cluster.js';
import type { HttpExchange } from '@isthmus/sdk/internal/transport/http-server/exchange/exchange.js';
import { forwardRequest } from '@isthmus/sdk/internal/transport/http-server/replicas/forward.js';
import { PeerExchange } from '@isthmus/sdk/internal/transport/peers/peer-exchange.js';
import { peersOf } from '@isthmus/sdk/internal/transport/peers/peers.js';
import type { ConnectPages } from './connect-pages.js';
import { isCallback } from './connect-paths.js';

/**
 * Gives a page of a login to the member of the cluster that has begun the login: a browser may reach any of them. The
 * ids of tickets and logins, and the states, end with the name of that member.
 */
export class ConnectRouter {
  readonly #pages: ConnectPages;
  readonly #cluster: Cluster | undefined;

  constructor(pages: ConnectPages, cluster: Cluster | undefined) {
    this.#pages = pages;
    this.#cluster = cluster;
    if (!cluster) return;
    peersOf(cluster).server.handle(SERVICE, (exchange) => {
      if (!this.answer(exchange.target.split('?')[0]!, exchange)) exchange.refuseAsNotHere();
    });
  }

  /** False: it is another path. */
  answer(path: string, exchange: HttpExchange): boolean {
    if (!path.startsWith('/connect/')) return false;
    if (exchange.method !== 'POST') this.#route(path, exchange, undefined);
    else {
      exchange.body(MAX_FORM, (body) => {
        this.#route(path, exchange, body.kind === 'bytes' ? body.bytes : Buffer.alloc(0));
      });
    }
    return true;
  }

  #route(path: string, exchange: HttpExchange, body: Buffer | undefined): void {
    const query = new URLSearchParams(exchange.target.split('?')[1] ?? '');
    const form = new URLSearchParams(body?.toString());
    const to = this.#otherOwner(path, query, form);
    const serve = () => this.#pages.answer(path, exchange, query, form);
    if (!to || exchange instanceof PeerExchange) return serve();
    const whole = { admitted: { exchange, principal: undefined, headers: {} }, body };
    // A member that has just gone has taken its logins along: the page says that it is not open any more.
    void forwardRequest(peersOf(this.#cluster!).client, to, SERVICE, whole).over.then(
      (failure) => failure && serve(),
    );
  }

  #otherOwner(path: string, query: URLSearchParams, form: URLSearchParams) {
    const members = this.#cluster?.members;
    if (!members) return undefined;
    const named = isCallback(path)
      ? query.get('state')
      : (query.get('t') ?? form.get('t') ?? form.get('login'));
    const owner = /\.(\w{1,32})$/.exec(named ?? '')?.[1];
    return owner === undefined || members.isSelf(owner) ? undefined : members.find(owner);
  }
}

const SERVICE = 'connect';
const MAX_FORM = 16 * 1024;
