import type { Change, OpenListen, Peer, Service } from '../../exchange/call.js';
import type { SubscriptionFilter } from '../../wire/model.js';
import { Callers } from './callers.js';
import { type Excess, type ListenLimits, listensExcess } from './excess.js';

/** Lets so many subscriptions be open at once. They cost little and last long, so nobody waits for one. */
export class LimitedListens {
  readonly #service: Service;
  readonly #server: string;
  readonly #limits: ListenLimits;
  readonly #refuse: (excess: Excess, peer: Peer) => Error;
  readonly #callers = new Callers<{ open: number }>(
    () => ({ open: 0 }),
    ({ open }) => open === 0,
  );
  #open = 0;

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
    return this.#open;
  }

  async listen(
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ): Promise<OpenListen> {
    const caller = this.#callers.of(peer);
    const excess = listensExcess(this.#server, this.#open, caller.open, this.#limits);
    if (excess) throw this.#refuse(excess, peer);
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      this.#open -= 1;
      caller.open -= 1;
    };
    this.#open += 1;
    caller.open += 1;
    try {
      const there = this.#service.listen
        ? await this.#service.listen(peer, wanted, onChange)
        : watched(this.#service, wanted, onChange);
      void there.ended.then(over, over);
      const stop = () => {
        over();
        there.stop();
      };
      return { honoured: there.honoured, ended: there.ended, stop };
    } catch (error) {
      over();
      throw error;
    }
  }
}

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
