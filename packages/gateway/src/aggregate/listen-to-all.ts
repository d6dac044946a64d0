import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { Change, ListenEnd, OpenListen, Peer } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { SubscriptionFilter } from '@isthmus/sdk/internal/wire/model.js';
import type { AggregateMember, MemberObserver } from './members.js';
import { gather, type Wait } from './patience.js';
import type { SubscribedAddresses } from './shared-uris.js';

/**
 * A subscription to several servers at once. A server that refuses it is left out. The subscription outlives each server:
 * one that ended or was not there yet is subscribed to when it comes.
 */
export class ListenToAll implements MemberObserver {
  readonly peer: Peer;
  readonly #wanted: SubscriptionFilter;
  readonly #uris: SubscribedAddresses;
  readonly #onChange: (change: Change, from?: AggregateMember) => void;
  readonly #open = new Map<AggregateMember, OpenListen>();
  readonly #opening = new Set<AggregateMember>();
  readonly #ended = createDeferred<ListenEnd>();
  #isOver = false;
  /** Called when the client has ended the subscription. */
  onEnd = () => {};

  /** `from`: the server that tells of the change. Undefined: the aggregate itself. */
  constructor(
    peer: Peer,
    wanted: SubscriptionFilter,
    uris: SubscribedAddresses,
    onChange: (change: Change, from?: AggregateMember) => void,
  ) {
    this.peer = peer;
    this.#wanted = wanted;
    this.#uris = uris;
    this.#onChange = onChange;
  }

  /** Settles when these servers have answered. A server that hangs is subscribed to when it answers. */
  async begin(members: readonly AggregateMember[], wait: Wait): Promise<OpenListen> {
    await gather(
      wait,
      members.map((member) => ({ work: this.#listenTo(member), holding: 'briefly' as const })),
    );
    const open = [...this.#open.values()];
    const uris = new Set(
      [...this.#open].flatMap(([member, { honoured }]) =>
        (honoured.resourceSubscriptions ?? []).flatMap((uri) => this.#shownOf(member, uri)),
      ),
    );
    const { toolsListChanged, promptsListChanged, resourcesListChanged } = this.#wanted;
    // Members of the filter that extensions define are honoured as far as any server honours them.
    // A server that comes later changes the lists, so these are always honoured.
    const honoured: SubscriptionFilter = {
      ...jointForeign(open.map((each) => each.honoured)),
      ...(toolsListChanged && { toolsListChanged }),
      ...(promptsListChanged && { promptsListChanged }),
      ...(resourcesListChanged && { resourcesListChanged }),
      ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
    };
    return { honoured, ended: this.#ended.promise, stop: () => this.#stop() };
  }

  adopt(member: AggregateMember): void {
    void this.#listenTo(member);
  }

  drop(member: AggregateMember): void {
    this.#open.get(member)?.stop();
    this.#open.delete(member);
  }

  changed(change: Change): void {
    const { toolsListChanged, promptsListChanged, resourcesListChanged } = this.#wanted;
    const wanted = {
      tools: toolsListChanged,
      prompts: promptsListChanged,
      resources: resourcesListChanged,
      resource: false,
      foreign: false,
    };
    if (wanted[change.kind]) this.#onChange(change);
  }

  async #listenTo(member: AggregateMember): Promise<void> {
    if (this.#isOver || this.#open.has(member) || this.#opening.has(member)) return;
    this.#opening.add(member);
    try {
      const wanted = this.#wantedOf(member);
      if (!wanted) return;
      const open = await member.service.listen?.(this.peer, wanted, (change) => this.#tell(member, change));
      if (!open) return;
      if (this.#isOver) return open.stop();
      this.#open.set(member, open);
      void open.ended.then(() => {
        if (this.#open.get(member) === open) this.#open.delete(member);
      });
    } catch {
      // It is subscribed to when it comes back.
    } finally {
      this.#opening.delete(member);
    }
  }

  /** What this server is asked for. Undefined: all of it is at other servers. */
  #wantedOf(member: AggregateMember): SubscriptionFilter | undefined {
    const { resourceSubscriptions: shown, ...rest } = this.#wanted;
    if (!shown) return rest;
    const own = new Set(shown.flatMap((uri) => this.#uris.at(member, uri) ?? []));
    if (own.size > 0) return { ...rest, resourceSubscriptions: [...own] };
    return Object.keys(rest).length > 0 ? rest : undefined;
  }

  /** The addresses under which the client asked for a URI of this server. */
  #shownOf(member: AggregateMember, uri: string): readonly string[] {
    const { resourceSubscriptions = [] } = this.#wanted;
    const shown = resourceSubscriptions.filter((each) => this.#uris.at(member, each) === uri);
    return shown.length > 0 ? shown : [uri];
  }

  #tell(member: AggregateMember, change: Change): void {
    if (change.kind !== 'resource') return this.#onChange(change, member);
    const { resourceSubscriptions = [] } = this.#wanted;
    for (const uri of this.#uris.heardAs(member, change.uri, resourceSubscriptions))
      this.#onChange({ ...change, uri }, member);
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

/** The members that extensions define, of several filters. Lists are joined; of other values, the first is taken. */
function jointForeign(filters: readonly SubscriptionFilter[]): JsonObject {
  const joint: JsonObject = {};
  for (const filter of filters) {
    const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions, ...foreign } =
      filter;
    for (const [name, value] of Object.entries(foreign)) {
      const known = joint[name];
      joint[name] =
        Array.isArray(known) && Array.isArray(value) ? [...new Set([...known, ...value])] : (known ?? value);
    }
  }
  return joint;
}
