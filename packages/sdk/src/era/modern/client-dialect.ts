import type { Clock } from '../../async/clock.js';
import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { Change, ListenEnd, OpenListen, ServerFacts } from '../../exchange/call.js';
import type { OutboundRequests } from '../../exchange/outbound-requests.js';
import {
  type DecodedError,
  type DecodedNotification,
  type DecodedRequest,
  type DecodedResult,
  isJsonObject,
  isRequestId,
  type JsonObject,
  notificationMessage,
  type RequestId,
  requestMessage,
} from '../../wire/json-rpc.js';
import type { SubscriptionFilter } from '../../wire/model.js';
import {
  type ClientDialect,
  type ClientDialectContext,
  report,
  type Tenant,
  type TenantCaller,
  tell,
} from '../client-dialect-context.js';
import { META } from '../meta-keys.js';
import { toLog } from '../reports.js';
import type { ModernRevision } from '../revisions.js';
import { changeOf } from '../subscriptions.js';
import { ModernTenantCaller } from './tenant-caller.js';

/** What the tenants of a modern connection share. */
export interface SharedModernConnection {
  readonly revision: ModernRevision;
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly maxRounds: number;
  readonly requests: OutboundRequests;
  readonly listens: ClientListens;
  onChange(change: Change): void;
  sendRequest(id: RequestId, method: string, params: JsonObject): void;
  cancel(id: RequestId, reason: string): void;
  left(caller: ModernTenantCaller): void;
  /** A request that had asked for logs was given up, and the server may still run it. */
  gaveUp(id: RequestId, caller: ModernTenantCaller): void;
}

/** The client side of the modern era: requests are stateless, and the server sends none. */
export class ModernClientDialect implements ClientDialect, SharedModernConnection {
  readonly era = 'modern';
  readonly revision: ModernRevision;
  readonly server: ServerFacts;
  readonly clock: Clock;
  readonly maxRounds: number;
  readonly requests: OutboundRequests;
  readonly listens = new ClientListens();
  readonly #side: ClientDialectContext;
  readonly #callers = new Set<ModernTenantCaller>();
  readonly #lingering = new Map<RequestId, { readonly caller: ModernTenantCaller; readonly until: number }>();

  constructor(
    side: ClientDialectContext,
    requests: OutboundRequests,
    revision: ModernRevision,
    server: ServerFacts,
  ) {
    this.#side = side;
    this.clock = side.clock;
    this.maxRounds = side.maxRounds;
    this.requests = requests;
    this.revision = revision;
    this.server = server;
  }

  join(tenant: Tenant, hidden = false): TenantCaller {
    const caller = new ModernTenantCaller(tenant, this);
    if (!hidden) this.#callers.add(caller);
    return caller;
  }

  left(caller: ModernTenantCaller): void {
    this.#callers.delete(caller);
  }

  gaveUp(id: RequestId, caller: ModernTenantCaller): void {
    const now = this.clock.now();
    for (const [old, { until }] of this.#lingering) if (until <= now) this.#lingering.delete(old);
    this.#lingering.set(id, { caller, until: now + LINGER_MS });
  }

  onChange(change: Change): void {
    this.#side.onChange(change);
  }

  sendRequest(id: RequestId, method: string, params: JsonObject): void {
    this.#side.connection.send(requestMessage(id, method, params));
  }

  cancel(requestId: RequestId, reason: string): void {
    this.#side.connection.send(notificationMessage('notifications/cancelled', { requestId, reason }));
  }

  /** JRPC-013: a modern server must not send requests, and a client cannot answer one (JRPC-014). */
  request(request: DecodedRequest): void {
    report(this.#side, 'a modern server sent a request', request);
  }

  notification(notification: DecodedNotification, about?: RequestId): void {
    const { method, params = {} } = notification;
    switch (method) {
      case 'notifications/progress':
        if (this.requests.progress(params)) return;
        break;
      case 'notifications/message':
        return this.#log(params, about);
      case 'notifications/cancelled':
        // Some servers end a subscription like this (wire sheet §17).
        if (isRequestId(params['requestId']) && this.listens.has(params['requestId'])) {
          this.requests.settle({ kind: 'result', id: params['requestId'], result: {} });
          return;
        }
        break;
      default:
        if (this.listens.deliver(method, params)) return;
    }
    report(this.#side, 'a notification that matches nothing', notification);
  }

  response(response: DecodedResult | DecodedError): void {
    if (this.requests.settle(response)) return;
    if (response.id !== undefined) this.#lingering.delete(response.id);
    report(this.#side, 'an answer to no open request', response);
  }

  ended(error: Error): void {
    for (const caller of this.#callers) caller.ended(error);
  }

  /**
   * A log line names no request: it belongs to the only one that asked for logs. If several requests of one tenant did, it
   * belongs to that tenant; otherwise it belongs to none.
   */
  #log(params: JsonObject, about: RequestId | undefined): void {
    // Over HTTP it comes on the stream of its request.
    const told = about === undefined ? undefined : this.requests.get(about);
    if (told?.onLog) return told.onLog(params);
    const wanting = this.requests.open().filter((open) => open.wantsLogs);
    const [only, another] = wanting;
    const now = this.clock.now();
    const lingering = [...this.#lingering.values()].filter(({ until }) => until > now);
    const owners = new Set([...wanting.map(({ owner }) => owner), ...lingering.map(({ caller }) => caller)]);
    if (only?.onLog && !another && owners.size === 1) return only.onLog(params);
    const [owner] = owners.size > 0 ? owners : this.#callers;
    const caller = owners.size === 1 || (owners.size === 0 && this.#callers.size === 1) ? owner : undefined;
    if (caller instanceof ModernTenantCaller) caller.log(toLog(params));
    else tell('onLog', this.#side.onLog, toLog(params));
  }
}

/** How long a given-up call may still log. */
const LINGER_MS = 60_000;

/** The subscriptions that this client has opened. Messages are matched by `subscriptionId` only (SUB-009). */
class ClientListens {
  readonly #open = new Map<RequestId, Listen>();

  open(
    stop: () => void,
    onChange: (change: Change) => void,
  ): { begin(id: RequestId): void; acknowledged: Promise<OpenListen> } {
    const acknowledged = createDeferred<OpenListen>();
    const ended = createDeferred<ListenEnd>();
    return {
      acknowledged: acknowledged.promise,
      begin: (id) => {
        this.#open.set(id, { acknowledged, ended, onChange, stop });
      },
    };
  }

  has(id: RequestId): boolean {
    return this.#open.has(id);
  }

  /** True if the notification belongs to an open subscription. */
  deliver(method: string, params: JsonObject): boolean {
    const meta = params['_meta'];
    const id = isJsonObject(meta) ? meta[META.subscriptionId] : undefined;
    const listen = isRequestId(id) ? this.#open.get(id) : undefined;
    if (!listen) return false;
    if (method === 'notifications/subscriptions/acknowledged') {
      const honoured = (
        isJsonObject(params['notifications']) ? params['notifications'] : {}
      ) as SubscriptionFilter;
      listen.acknowledged.resolve({ honoured, ended: listen.ended.promise, stop: listen.stop });
      return true;
    }
    const change = changeOf(method, params);
    if (change) listen.onChange(change);
    return change !== undefined;
  }

  end(id: RequestId, error: unknown): void {
    const listen = this.#open.get(id);
    if (!listen) return;
    this.#open.delete(id);
    listen.ended.resolve({ error });
    listen.acknowledged.reject(
      error ?? new IsthmusError('INVALID_RESULT', 'The subscription ended before it was acknowledged'),
    );
    // The caller may not await it any more; the rejection must not end the process.
    listen.acknowledged.promise.catch(() => {});
  }
}

interface Listen {
  readonly acknowledged: Deferred<OpenListen>;
  readonly ended: Deferred<ListenEnd>;
  readonly onChange: (change: Change) => void;
  readonly stop: () => void;
}
