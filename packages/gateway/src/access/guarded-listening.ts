import { ProtocolError } from '@isthmus/sdk/internal/errors.js';
import type {
  Change,
  OpenListen,
  Peer,
  ServedSession,
  Service,
  SessionKeeper,
} from '@isthmus/sdk/internal/exchange/call.js';
import { ErrorCode } from '@isthmus/sdk/internal/wire/error-codes.js';
import type { SubscriptionFilter } from '@isthmus/sdk/internal/wire/model.js';
import { deriveSession } from '../pipeline/derive.js';
import type { AccessPolicy } from './access-policy.js';

/** What clients hear of a server without a call: subscriptions, and the news of a legacy session. */
export class GuardedListening {
  readonly #inner: Service;
  readonly #server: string;
  readonly #access: AccessPolicy;

  constructor(inner: Service, server: string, access: AccessPolicy) {
    this.#inner = inner;
    this.#server = server;
    this.#access = access;
  }

  /** The rules may change while the subscription is open, so each change is judged when it comes. */
  listen(peer: Peer, wanted: SubscriptionFilter, onChange: (change: Change) => void): Promise<OpenListen> {
    const open = this.#openPart(peer, wanted);
    const isNothing = Object.keys(open).length === 0 && Object.keys(wanted).length > 0;
    if (isNothing) return Promise.resolve({ honoured: {}, ended: new Promise<never>(() => {}), stop() {} });
    return this.#inner.listen!(peer, open, (change) => {
      if (this.#mayHear(peer, change)) onChange(change);
    });
  }

  session(session: ServedSession): SessionKeeper {
    const { peer } = session;
    const changed = (change: Change) => {
      if (this.#mayHear(peer, change)) session.changed(change);
    };
    const keeper = this.#inner.session!(deriveSession(session, changed));
    return {
      begin: () => keeper.begin(),
      setLogLevel: (level) => keeper.setLogLevel(level),
      subscribe: async (uri) => {
        if (!this.#mayUse(peer, 'resources/subscribe')) throw this.#closed();
        await keeper.subscribe(uri);
      },
      unsubscribe: (uri) => keeper.unsubscribe(uri),
      rootsChanged: () => keeper.rootsChanged(),
      end: () => keeper.end(),
    };
  }

  #closed(): ProtocolError {
    const data = { reason: 'DENIED', sent: 'no' };
    return new ProtocolError(ErrorCode.InternalError, `${this.#server} is not open to this caller`, data);
  }

  #openPart(peer: Peer, wanted: SubscriptionFilter): SubscriptionFilter {
    if (!this.#mayUse(peer, 'subscriptions/listen')) return {};
    const { promptsListChanged, resourcesListChanged, resourceSubscriptions, ...rest } = wanted;
    return {
      ...rest,
      ...(promptsListChanged !== undefined && this.#mayUse(peer, 'prompts/list') && { promptsListChanged }),
      ...(resourcesListChanged !== undefined &&
        this.#mayUse(peer, 'resources/list') && { resourcesListChanged }),
      ...(resourceSubscriptions !== undefined &&
        this.#mayUse(peer, 'resources/subscribe') && { resourceSubscriptions }),
    };
  }

  #mayHear(peer: Peer, { kind }: Change): boolean {
    switch (kind) {
      case 'prompts':
        return this.#mayUse(peer, 'prompts/list');
      case 'resources':
        return this.#mayUse(peer, 'resources/list');
      case 'resource':
        return this.#mayUse(peer, 'resources/subscribe');
      default:
        return this.#mayUse(peer, 'subscriptions/listen');
    }
  }

  #mayUse({ principal, scopes }: Peer, method: string): boolean {
    const access = this.#access;
    const caller = { principal, scopes };
    const isAllowed =
      method === 'subscriptions/listen'
        ? access.allowsEntry(caller, this.#server)
        : access.allowsRest(caller, this.#server);
    if (!isAllowed || !access.hasScopes) return isAllowed;
    const needed = access.scopesOf(this.#server).neededFor(method, undefined, () => undefined);
    return access.covers(caller, needed ?? []);
  }
}
