import type { Socket } from 'node:net';
import { clientKey } from '../exchange/client-key.js';
import { FairSlots } from '../exchange/fair-slots.js';

/**
 * The connections of a listener, shared between addresses: one address cannot have all of them. Clients of a Unix
 * socket have no address, and belong to one user: among them the first come first.
 */
export class ConnectionShare {
  readonly #places: FairSlots;

  constructor(max: number) {
    this.#places = new FairSlots(max);
  }

  /** False when it has to be closed at once. */
  admit(socket: Socket): boolean {
    const { remoteAddress: remote } = socket;
    if (remote === undefined) return true;
    // Each connection is a part of its own: between those of one address there is nothing to share.
    const place = this.#places.take({ who: clientKey({ principal: undefined, remote }), part: socket });
    if (typeof place === 'string') return false;
    socket.once('close', () => this.#places.release(place));
    return true;
  }
}
