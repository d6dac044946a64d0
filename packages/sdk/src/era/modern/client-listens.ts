import { createDeferred, type Deferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import type { Change, ForeignChange, ListenEnd, OpenListen } from '../../exchange/call.js';
import { isJsonObject, isRequestId, type JsonObject, type RequestId } from '../../wire/json-rpc.js';
import type { SubscriptionFilter } from '../../wire/model.js';
import { META } from '../meta-keys.js';
import { carriedMeta } from '../reports.js';
import { changeOf } from '../subscriptions.js';

/** The subscriptions that this client has opened. Messages are matched by `subscriptionId` only (SUB-009). */
export class ClientListens {
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
    listen.onChange(changeOf(method, params) ?? foreignChange(method, params));
    return true;
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

/** A notification of an extension, without the name of this subscription. */
function foreignChange(method: string, { _meta: _left, ...params }: JsonObject): ForeignChange {
  const _meta = carriedMeta({ _meta: _left });
  return { kind: 'foreign', method, params: _meta ? { ...params, _meta } : params };
}

interface Listen {
  readonly acknowledged: Deferred<OpenListen>;
  readonly ended: Deferred<ListenEnd>;
  readonly onChange: (change: Change) => void;
  readonly stop: () => void;
}
