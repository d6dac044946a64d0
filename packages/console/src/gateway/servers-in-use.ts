import type { CallRow } from '../contract.js';
import type { Announcer } from '../stores/announcer.js';

/** The servers that the page calls at this moment. The frames of its calls are kept on both sides of the gateway. */
export class ServersInUse {
  readonly #calls = new Map<string, Set<number>>();

  constructor(changes: Announcer<CallRow>) {
    changes.watch(({ id, own, server, state }) => {
      if (!own || server === undefined) return;
      const open = this.#calls.get(server) ?? new Set();
      if (state === 'done') open.delete(id);
      else open.add(id);
      if (open.size === 0) this.#calls.delete(server);
      else this.#calls.set(server, open);
    });
  }

  has(server: string): boolean {
    return this.#calls.has(server);
  }
}
