import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { clientKey } from '../../exchange/client-key.js';
import { FairShare } from '../../exchange/fair-share.js';

/**
 * The connections of a web server. While there is room anybody may have them. At the bound an address that has less
 * gets one from the address that has most: the oldest of those that carry no request, or else of those whose request
 * has not arrived in full.
 */
export class SharedSockets {
  readonly #max: number;
  readonly #shares = new FairShare<Socket>();
  /** The latest answer of each: cheaper than to be told of the end of every one. */
  readonly #latest = new WeakMap<Socket, ServerResponse>();

  constructor(max: number) {
    this.#max = max;
  }

  admit(socket: Socket): void {
    const who = clientKey({ principal: undefined, remote: socket.remoteAddress });
    if (this.#shares.size >= this.#max && !this.#makeRoom(who)) return void socket.destroy();
    this.#shares.set(who, socket);
    socket.once('close', () => this.#shares.delete(who, socket));
  }

  /** A request has begun on this connection. */
  work(socket: Socket, response: ServerResponse): void {
    this.#latest.set(socket, response);
  }

  #makeRoom(who: string): boolean {
    const displacement = this.#shares.displacedBy(who);
    if (displacement.kind !== 'from') return false;
    let arriving: Socket | undefined;
    for (const socket of this.#shares.itemsOf(displacement.who)) {
      const latest = this.#latest.get(socket);
      if (!latest || latest.writableFinished) return this.#drop(displacement.who, socket);
      if (!latest.req.complete) arriving ??= socket;
    }
    return arriving !== undefined && this.#drop(displacement.who, arriving);
  }

  #drop(who: string, socket: Socket): true {
    this.#shares.delete(who, socket);
    socket.destroy();
    return true;
  }
}
