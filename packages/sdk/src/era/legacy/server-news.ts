import { ProtocolError } from '../../errors.js';
import type { Change, ServedSession, SessionKeeper } from '../../exchange/call.js';
import type { InboundCall } from '../../exchange/inbound-calls.js';
import { ErrorCode } from '../../wire/error-codes.js';
import { type JsonObject, notificationMessage, type RequestId } from '../../wire/json-rpc.js';
import type { LogEntry, LoggingLevel, ServerCapabilities } from '../../wire/model.js';
import { isLoggingLevel, reaches } from '../reports.js';
import { type ServerDialectContext, sendInPassing } from '../server-dialect-context.js';
import { notificationOf, SubscribedUris, WaitingChanges } from '../subscriptions.js';

/**
 * What a legacy client is told without asking each time: changes and log messages. It chooses them with
 * `logging/setLevel` and `resources/subscribe`.
 */
export class ServerNews {
  readonly #side: ServerDialectContext;
  readonly #session: NewsSession;
  readonly #subscribed = new SubscribedUris();
  /** Changes that wait for room in the output. */
  #overdue: WaitingChanges | undefined;
  /** INIT-012: a session uses only what the handshake declared. */
  #declared: ServerCapabilities | undefined;
  #logLevel: LoggingLevel | undefined;
  #unwatch: (() => void) | undefined;
  /** Set if the service keeps something for each session. */
  #keeper: SessionKeeper | undefined;
  /** No more changes are sent. */
  #isRetired = false;

  constructor(side: ServerDialectContext, session: NewsSession) {
    this.#side = side;
    this.#session = session;
  }

  get isRetired(): boolean {
    return this.#isRetired;
  }

  get logLevel(): LoggingLevel | undefined {
    return this.#logLevel;
  }

  /** Throws if the service refuses the session. */
  open(declared: ServerCapabilities, served: ServedSession): void {
    this.#declared = declared;
    this.#keeper = this.#side.service.session?.(served);
  }

  /** The client is ready. */
  begin(): void {
    if (this.#keeper) return this.#keeper.begin();
    this.#unwatch = this.#side.service.watch(
      (change) => this.publish(change),
      () => this.missed(),
    );
  }

  retire(): void {
    this.#unwatch?.();
    this.#unwatch = undefined;
    this.#isRetired = true;
  }

  end(): void {
    this.#keeper?.end();
  }

  /** False: the service does not want to know. */
  rootsChanged(): boolean {
    this.#keeper?.rootsChanged();
    return this.#keeper !== undefined;
  }

  /** Answers `logging/setLevel`. */
  setLogLevel({ level }: JsonObject): JsonObject | Promise<JsonObject> {
    requireCapability('logging/setLevel', this.#side.service.capabilities().logging);
    if (!isLoggingLevel(level)) {
      throw new ProtocolError(ErrorCode.InvalidParams, 'level must be one of debug … emergency');
    }
    if (!this.#keeper) {
      this.#logLevel = level;
      return {};
    }
    return this.#keeper.setLogLevel(level).then(() => {
      this.#logLevel = level;
      return {};
    });
  }

  /** Answers `resources/subscribe` and `resources/unsubscribe`. */
  subscribe(method: string, { uri }: JsonObject, id: RequestId): JsonObject | Promise<JsonObject> {
    const { service, connection } = this.#side;
    requireCapability(method, !connection.brief && service.capabilities().resources?.subscribe);
    if (typeof uri !== 'string') throw new ProtocolError(ErrorCode.InvalidParams, 'uri must be a string');
    if (method === 'resources/subscribe') this.#subscribed.add(uri);
    else this.#subscribed.delete(uri);
    if (!this.#keeper) return {};
    this.#session.learnGrant(id);
    return this.#subscribeThere(this.#keeper, method, uri);
  }

  async #subscribeThere(keeper: SessionKeeper, method: string, uri: string): Promise<JsonObject> {
    if (method !== 'resources/subscribe') {
      await keeper.unsubscribe(uri);
      return {};
    }
    try {
      await keeper.subscribe(uri);
    } catch (error) {
      this.#subscribed.delete(uri);
      throw error;
    }
    return {};
  }

  /** LOG-011: until the client sets a level, the server chooses. Behind a keeper the upstream has chosen already. */
  log(entry: LogEntry, about: InboundCall['id'] | undefined): void {
    const threshold = this.#logLevel ?? (this.#keeper ? 'debug' : 'info');
    if (this.#declared?.logging && reaches(entry.level, threshold))
      sendInPassing(this.#side, 'notifications/message', { ...entry }, about);
  }

  publish(change: Change): void {
    if (this.#isRetired) return;
    // A keeper reports only subscribed resources, or sub-resources of them (SUB-016).
    const isWanted =
      change.kind === 'resource'
        ? this.#keeper !== undefined || this.#subscribed.has(change.uri)
        : change.kind === 'foreign' || this.#declared?.[change.kind] !== undefined;
    if (!isWanted) return;
    if (this.#side.connection.congested) {
      this.#overdue ??= new WaitingChanges();
      this.#overdue.keep(change);
      return;
    }
    const { method, params } = notificationOf(change);
    const hasParams = Object.keys(params).length > 0;
    this.#side.connection.send(notificationMessage(method, hasParams ? params : undefined));
  }

  /** There is room in the output again. */
  drained(): void {
    const overdue = this.#overdue;
    this.#overdue = undefined;
    for (let change = overdue?.take(); change; change = overdue?.take()) this.publish(change);
  }

  /** Changes may have been missed, so everything may have changed. */
  missed(): void {
    for (const kind of ['tools', 'prompts', 'resources'] as const) this.publish({ kind });
    for (const uri of this.#subscribed.all) this.publish({ kind: 'resource', uri });
  }
}

interface NewsSession {
  /** Notes the scopes of this request, for what is subscribed with it. */
  learnGrant(id: RequestId): void;
}

function requireCapability(method: string, capability: unknown): void {
  if (!capability) throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}
