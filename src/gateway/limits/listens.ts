import { createDeferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { Change, ListenEnd, OpenListen, Peer, Service } from '../../exchange/call.js';
import { clientKey } from '../../exchange/client-key.js';
import { FairShare } from '../../exchange/fair-share.js';
import type { SubscriptionFilter } from '../../wire/model.js';
import { Callers } from './callers.js';
import { type Excess, type ListenLimits, listensExcess } from './excess.js';

/** Lets so many subscriptions be open at once. They cost little and last long, so nobody waits for one. */
export class LimitedListens {
  readonly #service: Service;
  readonly #server: string;
  readonly #limits: ListenLimits;
  readonly #refuse: (excess: Excess, peer: Peer) => Error;
  readonly #callers = new Callers<{ open: number }>({
    create: () => ({ open: 0 }),
    isIdle: ({ open }) => open === 0,
  });
  readonly #shares = new FairShare<Subscription>();

  constructor(
    service: Service,
    server: string,
    limits: ListenLimits,
    refuse: (excess: Excess, peer: Peer) => Error,
  ) {
    this.#service = service;
    this.#server = server;
    this.#limits = limits;
    this.#refuse = refuse;
  }

  get open(): number {
    return this.#shares.size;
  }

  async listen(
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ): Promise<OpenListen> {
    const caller = this.#callers.of(peer);
    const client = clientKey(peer);
    const displaced = this.open < this.#limits.maxListens ? undefined : this.#displacedBy(client);
    // The one that gives way leaves its place to this one.
    const open = displaced ? this.open - 1 : this.open;
    const excess = listensExcess(this.#server, open, caller.open, this.#limits);
    if (excess) throw this.#refuse(excess, peer);
    const given = createDeferred<ListenEnd>();
    const subscription: Subscription = { end: () => {} };
    const over = () => {
      if (this.#shares.delete(client, subscription)) caller.open -= 1;
    };
    this.#shares.set(client, subscription);
    caller.open += 1;
    try {
      const there = this.#service.listen
        ? await this.#service.listen(peer, wanted, onChange)
        : watched(this.#service, wanted, onChange);
      const stop = () => {
        over();
        there.stop();
      };
      subscription.end = () => {
        stop();
        given.resolve({ error: new IsthmusError('BUSY', GIVEN_UP) });
      };
      void there.ended.then(over, over);
      displaced?.end();
      return { honoured: there.honoured, ended: Promise.race([there.ended, given.promise]), stop };
    } catch (error) {
      over();
      throw error;
    }
  }

  /** The oldest subscription of the client that has most, if that is more than this client will have. */
  #displacedBy(client: string): Subscription | undefined {
    const displacement = this.#shares.displacedBy(client);
    if (displacement.kind !== 'from') return undefined;
    const [oldest] = this.#shares.itemsOf(displacement.who);
    return oldest;
  }
}

interface Subscription {
  /** Gives it up for another client. */
  end(): void;
}

const GIVEN_UP =
  'All subscriptions are taken, and this client has most of them: this one was ended for another client';

/** For a service that only knows how to be watched. Kinds are told apart where it is served, addresses here. */
function watched(
  service: Service,
  wanted: SubscriptionFilter,
  onChange: (change: Change) => void,
): OpenListen {
  const uris = new Set(wanted.resourceSubscriptions);
  const stop = service.watch((change) => {
    if (change.kind !== 'resource' || uris.has(change.uri)) onChange(change);
  });
  return { honoured: wanted, ended: new Promise(() => {}), stop };
}
