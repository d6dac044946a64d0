import { createDeferred, type Deferred } from '../../async/deferred.js';

/** Closed while the receiver has enough to do. */
export class Gate {
  #closed: Deferred<void> | undefined;

  hold(held: boolean): void {
    if (held) this.#closed ??= createDeferred<void>();
    else {
      this.#closed?.resolve();
      this.#closed = undefined;
    }
  }

  /** Nothing to wait for while it is open. */
  passed(): Promise<void> | undefined {
    return this.#closed?.promise;
  }
}
