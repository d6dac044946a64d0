import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Change, ListenEnd, OpenListen, Peer } from '@isthmus/sdk/internal/exchange/call.js';
import type { SubscriptionFilter } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember, Hearer } from './members.js';

/**
 * A subscription to several servers at once. What some of them cannot tell of, others may; a bad one tells nothing.
 * It outlives each of them: one that ended or was not there yet is listened to again when it comes.
 */
export class ListenToAll implements Hearer {
  readonly #peer: Peer;
  readonly #wanted: SubscriptionFilter;
  readonly #onChange: (change: Change) => void;
  readonly #open = new Map<AggregateMember, OpenListen>();
  readonly #opening = new Set<AggregateMember>();
  readonly #ended = createDeferred<ListenEnd>();
  #isOver = false;
  /** Called when nobody listens any more. */
  onEnd = () => {};

  constructor(peer: Peer, wanted: SubscriptionFilter, onChange: (change: Change) => void) {
    this.#peer = peer;
    this.#wanted = wanted;
    this.#onChange = onChange;
  }

  /** Settles when each server that can be asked has answered. */
  async begin(parts: readonly AggregateMember[]): Promise<OpenListen> {
    await Promise.all(parts.map((part) => this.#listenTo(part)));
    const open = [...this.#open.values()];
    const uris = new Set(open.flatMap(({ honoured }) => honoured.resourceSubscriptions ?? []));
    const { toolsListChanged, promptsListChanged, resourcesListChanged } = this.#wanted;
    // Lists may change with a server that comes later, so each of these is honoured in any case.
    const honoured: SubscriptionFilter = {
      ...(toolsListChanged && { toolsListChanged }),
      ...(promptsListChanged && { promptsListChanged }),
      ...(resourcesListChanged && { resourcesListChanged }),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
    };
    return { honoured, ended: this.#ended.promise, stop: () => this.#stop() };
  }

  adopt(part: AggregateMember): void {
    void this.#listenTo(part);
  }

  drop(part: AggregateMember): void {
    this.#open.get(part)?.stop();
    this.#open.delete(part);
  }

  changed(change: Change): void {
    const { toolsListChanged, promptsListChanged, resourcesListChanged } = this.#wanted;
    const wanted = {
      tools: toolsListChanged,
      prompts: promptsListChanged,
      resources: resourcesListChanged,
      resource: false,
    };
    if (wanted[change.kind]) this.#onChange(change);
  }

  async #listenTo(part: AggregateMember): Promise<void> {
    if (this.#isOver || this.#open.has(part) || this.#opening.has(part)) return;
    this.#opening.add(part);
    try {
      const open = await part.service.listen?.(this.#peer, this.#wanted, this.#onChange);
      if (!open) return;
      if (this.#isOver) return open.stop();
      this.#open.set(part, open);
      void open.ended.then(() => {
        if (this.#open.get(part) === open) this.#open.delete(part);
      });
    } catch {
      // It is listened to when it comes.
    } finally {
      this.#opening.delete(part);
    }
  }

  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onEnd();
    for (const each of this.#open.values()) each.stop();
    this.#open.clear();
    this.#ended.resolve({ error: undefined });
  }
}
