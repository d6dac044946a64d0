import type {
  Call,
  Change,
  EarlyMessage,
  HeaderParam,
  OpenListen,
  Peer,
  ServedSession,
  Service,
  SessionKeeper,
} from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type {
  CacheHints,
  Implementation,
  ServerCapabilities,
  SubscriptionFilter,
} from '@isthmus/sdk/internal/wire/model.js';

/** A service around another one, for those who change only a part of it. */
export class ServiceAround implements Service {
  protected readonly inner: Service;
  readonly headerParams?: (tool: string, principal?: string) => readonly HeaderParam[];
  readonly ready?: (opening: EarlyMessage, principal: string | undefined) => Promise<void> | undefined;
  readonly listen?: (
    peer: Peer,
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
  ) => Promise<OpenListen>;
  readonly session?: (session: ServedSession) => SessionKeeper;

  constructor(inner: Service) {
    this.inner = inner;
    // What the other one does not have, this one must not seem to have.
    if (inner.headerParams) this.headerParams = (tool, principal) => inner.headerParams!(tool, principal);
    if (inner.ready) this.ready = (opening, principal) => inner.ready!(opening, principal);
    if (inner.listen) this.listen = (peer, wanted, onChange) => inner.listen!(peer, wanted, onChange);
    if (inner.session) this.session = (session) => inner.session!(session);
  }

  get info(): Implementation {
    return this.inner.info;
  }

  get instructions(): string | undefined {
    return this.inner.instructions;
  }

  get discoveryCache(): CacheHints | undefined {
    return this.inner.discoveryCache;
  }

  capabilities(): ServerCapabilities {
    return this.inner.capabilities();
  }

  watch(onChange: (change: Change) => void): () => void {
    return this.inner.watch(onChange);
  }

  handle(call: Call): JsonObject | Promise<JsonObject> {
    return this.inner.handle(call);
  }
}
