import { createDeferred } from '../../async/deferred.js';
import type { Change, OpenListen } from '../../exchange/call.js';
import type { ServerCapabilities, SubscriptionFilter } from '../../wire/model.js';

/**
 * `listen` for a legacy session: list changes come unsolicited and are filtered here, resources are subscribed
 * to on the server, once for however many listen, and unsubscribed when the last one stops.
 */
export class LegacySubscriptions {
  readonly #capabilities: ServerCapabilities;
  readonly #request: (method: string, uri: string) => Promise<unknown>;
  readonly #open = new Set<Subscription>();
  readonly #uses = new Map<string, number>();

  constructor(capabilities: ServerCapabilities, request: (method: string, uri: string) => Promise<unknown>) {
    this.#capabilities = capabilities;
    this.#request = request;
  }

  async open(wanted: SubscriptionFilter, onChange: (change: Change) => void): Promise<OpenListen> {
    const { tools, prompts, resources } = this.#capabilities;
    const subscription: Subscription = {
      uris: new Set(resources?.subscribe ? (wanted.resourceSubscriptions ?? []) : []),
      kinds: new Set([
        ...(wanted.toolsListChanged && tools?.listChanged ? ['tools'] : []),
        ...(wanted.promptsListChanged && prompts?.listChanged ? ['prompts'] : []),
        ...(wanted.resourcesListChanged && resources?.listChanged ? ['resources'] : []),
      ]),
      onChange,
      end: () => {},
    };
    const ended = createDeferred<boolean>();
    subscription.end = ended.resolve;
    this.#open.add(subscription);
    try {
      await Promise.all([...subscription.uris].map((uri) => this.#subscribe(uri)));
    } catch (error) {
      this.#stop(subscription);
      throw error;
    }
    return { honoured: honoured(subscription), ended: ended.promise, stop: () => this.#stop(subscription) };
  }

  deliver(change: Change): void {
    for (const { uris, kinds, onChange } of [...this.#open]) {
      // SUB-016: an update may name a part of what was subscribed to.
      const wanted = change.kind === 'resource' ? covers(uris, change.uri) : kinds.has(change.kind);
      if (wanted) onChange(change);
    }
  }

  ended(): void {
    for (const subscription of this.#open) subscription.end(false);
    this.#open.clear();
    this.#uses.clear();
  }

  async #subscribe(uri: string): Promise<void> {
    const uses = this.#uses.get(uri) ?? 0;
    this.#uses.set(uri, uses + 1);
    if (uses === 0) await this.#request('resources/subscribe', uri);
  }

  #stop(subscription: Subscription): void {
    if (!this.#open.delete(subscription)) return;
    for (const uri of subscription.uris) {
      const uses = (this.#uses.get(uri) ?? 1) - 1;
      if (uses > 0) this.#uses.set(uri, uses);
      else {
        this.#uses.delete(uri);
        this.#request('resources/unsubscribe', uri).catch(() => {});
      }
    }
    subscription.end(true);
  }
}

interface Subscription {
  readonly uris: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
  readonly onChange: (change: Change) => void;
  end: (inOrder: boolean) => void;
}

function covers(uris: ReadonlySet<string>, uri: string): boolean {
  if (uris.has(uri)) return true;
  for (const whole of uris) if (uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`)) return true;
  return false;
}

function honoured({ uris, kinds }: Subscription): SubscriptionFilter {
  return {
    ...(kinds.has('tools') && { toolsListChanged: true }),
    ...(kinds.has('prompts') && { promptsListChanged: true }),
    ...(kinds.has('resources') && { resourcesListChanged: true }),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  };
}
