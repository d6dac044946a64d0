import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { listenWithTasks } from '@isthmus/sdk/internal/era/listen-with-tasks.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Change, ListenEnd, OpenListen, Peer, Service } from '@isthmus/sdk/internal/exchange/call.js';
import { clientKey } from '@isthmus/sdk/internal/exchange/client-key.js';
import { FairShare } from '@isthmus/sdk/internal/exchange/fair-share.js';
import type { SubscriptionFilter } from '@isthmus/sdk/internal/wire/model.js';
import { Callers } from './callers.js';
import { allTaken, type Excess, type ListenLimits, listensExcess } from './excess.js';

/** Bounds the open subscriptions. They cost little and last long, so a request does not wait for one: it is refused. */
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
    const excess = listensExcess(
      this.#server,
      displaced ? this.open - 1 : this.open,
      caller.open,
      this.#limits,
    );
    if (excess) throw this.#refuse(excess, peer);
    const given = createDeferred<ListenEnd>();
    const over = () => {
      if (subscription.isOver) return;
      subscription.isOver = true;
      this.#shares.delete(client, subscription);
      caller.open -= 1;
    };
    const subscription: Subscription = {
      client,
      state: displaced ? 'opening in the slot of another' : 'opening',
      isOver: false,
      end: () => {
        over();
        given.resolve({ error: new IsthmusError('BUSY', GIVEN_UP) });
      },
    };
    // The slot changes hands now, so that a third client cannot get it. It is given back if this one does not open.
    if (displaced) this.#shares.delete(displaced.client, displaced);
    this.#shares.set(client, subscription);
    caller.open += 1;
    try {
      const opening = this.#open(peer, wanted, onChange);
      await Promise.race([opening, given.promise]);
      if (subscription.isOver) {
        void opening.then(({ stop }) => stop(), ignore);
        throw this.#refuse(allTaken(this.#server, this.#limits), peer);
      }
      const there = await opening;
      subscription.state = 'open';
      displaced?.end();
      void there.ended.then(over, over);
      void given.promise.then(() => there.stop());
      const stop = () => {
        over();
        there.stop();
      };
      return { honoured: there.honoured, ended: Promise.race([there.ended, given.promise]), stop };
    } catch (error) {
      over();
      if (displaced && !displaced.isOver) this.#shares.set(displaced.client, displaced);
      throw error;
    }
  }

  async #open(
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ): Promise<OpenListen> {
    const service = this.#service;
    if (service.listen) return service.listen(peer, wanted, onChange);
    return listenWithTasks(service, peer, wanted, onChange, async (rest) => watched(service, rest, onChange));
  }

  /**
   * The oldest subscription of the client that has most, if that is more than this client will have. One that is still
   * opening is taken only if none is open. One that is opening in the slot of another is not taken: that slot is not
   * free yet.
   */
  #displacedBy(client: string): Subscription | undefined {
    const displacement = this.#shares.displacedBy(client);
    if (displacement.kind !== 'from') return undefined;
    let opening: Subscription | undefined;
    for (const each of this.#shares.itemsOf(displacement.who)) {
      if (each.state === 'open') return each;
      if (each.state === 'opening') opening ??= each;
    }
    return opening;
  }
}

interface Subscription {
  readonly client: string;
  state: 'opening' | 'opening in the slot of another' | 'open';
  /** It has ended, or was ended for another client. */
  isOver: boolean;
  /** Ends it for another client. */
  end(): void;
}

const ignore = () => {};

const GIVEN_UP =
  'All subscriptions are taken, and this client has most of them: this one was ended for another client';

/** For a service without `listen`. The caller filters by kind; resource URIs are filtered here. */
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
