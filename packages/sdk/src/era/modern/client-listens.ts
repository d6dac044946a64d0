import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { CallerIdentity, Change, ForeignChange, ListenEnd, OpenListen } from '../../exchange/call.js';
import type { ResultListener } from '../../exchange/late-result.js';
import type { OutboundRequest } from '../../exchange/pending-request.js';
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type { SubscriptionFilter } from '../../wire/model.js';
import type { TenantCaller } from '../client/tenant-caller.js';
import { META } from '../meta-keys.js';
import { carriedMeta } from '../reports.js';
import { changeOf } from '../subscriptions.js';

/** What a subscription is opened for. */
export interface ListenPlan {
  readonly wanted: SubscriptionFilter;
  readonly as: CallerIdentity | undefined;
  onChange(change: Change): void;
}

/** What subscriptions do to their connection. */
interface ListenSurroundings {
  sendListen(id: RequestId, listen: ClientListen): void;
  cancel(id: RequestId, why: string): void;
  /** Ends a request with a local failure. False if it is not pending. */
  reject(id: RequestId, error: IsthmusError): boolean;
}

/** The subscriptions that this client has opened. Messages are matched by `subscriptionId` only (SUB-009). */
export class ClientListens {
  readonly surroundings: ListenSurroundings;
  readonly #open = new Map<RequestId, ClientListen>();

  constructor(surroundings: ListenSurroundings) {
    this.surroundings = surroundings;
  }

  has(id: RequestId): boolean {
    return this.#open.has(id);
  }

  add(id: RequestId, listen: ClientListen): void {
    this.#open.set(id, listen);
  }

  delete(id: RequestId): void {
    this.#open.delete(id);
  }

  /** True if the notification belongs to an open subscription. */
  deliver(method: string, params: JsonObject): boolean {
    const meta = params['_meta'];
    const id = isJsonObject(meta) ? meta[META.subscriptionId] : undefined;
    const listen = isRequestId(id) ? this.#open.get(id) : undefined;
    if (!listen) return false;
    if (method === 'notifications/subscriptions/acknowledged') listen.acknowledge(params['notifications']);
    else listen.plan.onChange(changeOf(method, params) ?? foreignChange(method, params));
    return true;
  }
}

/**
 * A subscription: its request, and what is told of the answer. A class that keeps nothing of its opening, since a bridge
 * may have one for each of thousands of sessions.
 */
export class ClientListen implements OutboundRequest, ResultListener {
  readonly owner: TenantCaller;
  readonly plan: ListenPlan;
  readonly #listens: ClientListens;
  #id: RequestId | undefined;
  /** Undefined when it is acknowledged, or has ended before. */
  #opening: Deferred<OpenListen> | undefined = createDeferred<OpenListen>();
  /** When it is acknowledged, somebody waits for its end. */
  #tellEnd: ((end: ListenEnd) => void) | undefined;

  constructor(listens: ClientListens, owner: TenantCaller, plan: ListenPlan) {
    this.#listens = listens;
    this.owner = owner;
    this.plan = plan;
  }

  get what(): string {
    return 'subscriptions/listen';
  }

  /** Longer than any process lives: a subscription has no timeout. */
  get timeoutMs(): number {
    return FOREVER_MS;
  }

  /** Sends the request with `open`, and settles when the server has acknowledged the subscription. */
  opened(open: () => void): Promise<OpenListen> {
    const { promise } = this.#opening ?? createDeferred<OpenListen>();
    open();
    return promise;
  }

  send(id: RequestId): void {
    this.#id = id;
    this.#listens.add(id, this);
    this.#listens.surroundings.sendListen(id, this);
  }

  giveUp(id: RequestId, why: string): void {
    this.#listens.surroundings.cancel(id, why);
  }

  acknowledge(notifications: unknown): void {
    const opening = this.#opening;
    this.#opening = undefined;
    if (!opening) return;
    const honoured = (isJsonObject(notifications) ? notifications : {}) as SubscriptionFilter;
    const ended = new Promise<ListenEnd>((resolve) => {
      this.#tellEnd = resolve;
    });
    const stop = () => this.stop(new IsthmusError('CANCELLED', 'no longer needed'));
    opening.resolve({ honoured, ended, stop });
  }

  stop(reason: IsthmusError): void {
    const { surroundings } = this.#listens;
    if (this.#id !== undefined && surroundings.reject(this.#id, reason))
      surroundings.cancel(this.#id, reason.message);
  }

  complete(): void {
    this.#over(undefined);
  }

  fail(error: unknown): void {
    this.#over(error);
  }

  #over(error: unknown): void {
    if (this.#id !== undefined) this.#listens.delete(this.#id);
    this.#tellEnd?.({ error });
    this.#opening?.reject(
      error ?? new IsthmusError('INVALID_RESULT', 'The subscription ended before it was acknowledged'),
    );
    this.#opening = undefined;
  }
}

const FOREVER_MS = 2 ** 40;

/** A notification of an extension, without the name of this subscription. */
function foreignChange(method: string, { _meta: _left, ...params }: JsonObject): ForeignChange {
  const _meta = carriedMeta({ _meta: _left });
  return { kind: 'foreign', method, params: _meta ? { ...params, _meta } : params };
}
