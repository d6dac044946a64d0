import { type Clock, within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError, ProtocolError } from '../../errors.js';
import type { Change, ListenEnd, OpenListen } from '../../exchange/call.js';
import { ErrorCode } from '../../wire/error-codes.js';
import type { ServerCapabilities, SubscriptionFilter } from '../../wire/model.js';
import { isPartOf } from '../subscriptions.js';

/**
 * `listen` for a legacy session. List changes come unsolicited and are filtered here. Resources are subscribed to on the
 * server once, for any number of subscriptions, and unsubscribed when the last one stops.
 */
export class LegacySubscriptions {
  readonly #capabilities: ServerCapabilities;
  readonly #clock: Clock;
  readonly #request: SubscriptionRequest;
  readonly #open = new Set<Subscription>();
  readonly #uses = new Map<string, Use>();

  constructor(capabilities: ServerCapabilities, clock: Clock, request: SubscriptionRequest) {
    this.#capabilities = capabilities;
    this.#clock = clock;
    this.#request = request;
  }

  async open(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
  ): Promise<OpenListen> {
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
    const ended = createDeferred<ListenEnd>();
    subscription.end = (error) => ended.resolve({ error });
    this.#open.add(subscription);
    try {
      await Promise.all(
        [...subscription.uris].map((uri) => this.#subscribeIfPossible(uri, subscription, timeoutMs)),
      );
    } catch (error) {
      this.#stop(subscription);
      throw error;
    }
    return { honoured: honoured(subscription), ended: ended.promise, stop: () => this.#stop(subscription) };
  }

  deliver(change: Change): void {
    for (const { uris, kinds, onChange } of [...this.#open]) {
      // SUB-016: an update may name a sub-resource of the subscribed one.
      const wanted = change.kind === 'resource' ? covers(uris, change.uri) : kinds.has(change.kind);
      if (wanted) onChange(change);
    }
  }

  ended(error: Error): void {
    for (const subscription of this.#open) subscription.end(error);
    this.#open.clear();
    this.#uses.clear();
  }

  /** Some servers declare subscriptions and do not have the method: then the URI is not honoured. */
  async #subscribeIfPossible(uri: string, subscription: Subscription, timeoutMs: number): Promise<void> {
    try {
      await this.#subscribe(uri, timeoutMs);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== ErrorCode.MethodNotFound) throw error;
      subscription.uris.delete(uri);
      this.#uses.delete(uri);
    }
  }

  /** Later subscriptions to a URI wait for the same answer as the first, each with its own timeout. */
  async #subscribe(uri: string, timeoutMs: number): Promise<void> {
    let use = this.#uses.get(uri);
    if (use) use.count += 1;
    else {
      const over = new AbortController();
      const consent = this.#request('resources/subscribe', uri, FOREVER_MS, over.signal);
      use = { count: 1, consent, timeoutMs, over, given: false };
      const begun = use;
      consent.then(
        () => {
          begun.given = true;
        },
        () => {},
      );
      this.#uses.set(uri, use);
    }
    if (await within(this.#clock, timeoutMs, use.consent)) return void (await use.consent);
    const message = `resources/subscribe was not answered within ${timeoutMs} ms`;
    throw new IsthmusError('TIMED_OUT', message, { sent: 'maybe' });
  }

  #stop(subscription: Subscription): void {
    if (!this.#open.delete(subscription)) return;
    for (const uri of subscription.uris) {
      const use = this.#uses.get(uri);
      if (!use) continue;
      use.count -= 1;
      if (use.count > 0) continue;
      this.#uses.delete(uri);
      if (!use.given) use.over.abort(new IsthmusError('CANCELLED', 'no longer needed'));
      const undo = () => this.#request('resources/unsubscribe', uri, use.timeoutMs);
      use.consent.then(undo).catch(() => {});
    }
    subscription.end(undefined);
  }
}

/** Sends a request about a URI; the signal cancels it. */
type SubscriptionRequest = (
  method: string,
  uri: string,
  timeoutMs: number,
  signal?: AbortSignal,
) => Promise<unknown>;

/** A subscribed URI: the number of subscriptions, and the server's consent. */
interface Use {
  count: number;
  readonly consent: Promise<unknown>;
  readonly timeoutMs: number;
  readonly over: AbortController;
  given: boolean;
}

/** Longer than any process lives: the waiting subscriptions have their own timeouts. */
const FOREVER_MS = 2 ** 40;

interface Subscription {
  readonly uris: Set<string>;
  readonly kinds: ReadonlySet<string>;
  readonly onChange: (change: Change) => void;
  end: (error: unknown) => void;
}

function covers(uris: ReadonlySet<string>, uri: string): boolean {
  return uris.has(uri) || [...uris].some((whole) => isPartOf(uri, whole));
}

function honoured({ uris, kinds }: Subscription): SubscriptionFilter {
  return {
    ...(kinds.has('tools') && { toolsListChanged: true }),
    ...(kinds.has('prompts') && { promptsListChanged: true }),
    ...(kinds.has('resources') && { resourcesListChanged: true }),
    ...(uris.size > 0 && { resourceSubscriptions: [...uris] }),
  };
}
