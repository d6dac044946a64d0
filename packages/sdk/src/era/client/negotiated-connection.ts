import { type Clock, systemClock, within } from '../../async/clock.js';
import { createDeferred } from '../../async/deferred.js';
import { IsthmusError } from '../../errors.js';
import { events } from '../../events.js';
import type { ServerFacts } from '../../exchange/call.js';
import type { Connection, Receiver } from '../../exchange/connection.js';
import { OutboundRequests } from '../../exchange/outbound-requests.js';
import {
  type Decoded,
  type InvalidMessage,
  type JsonRpcErrorBody,
  type RequestId,
  resultMessage,
} from '../../wire/json-rpc.js';
import { forgetResults } from '../../wire/passed-result.js';
import { type ClientConnectionSettings, type ClientDialect, tell } from '../client-dialect-context.js';
import type { EraVerdict } from './era-verdict.js';
import type { Tenant, TenantLimiter } from './tenant.js';
import { TenantCaller } from './tenant-caller.js';

/**
 * A connection to a server, and what its tenants share. Until the era is known it keeps what the server sends; then a
 * dialect gets it. It reports and skips invalid lines, and fails everything that waits when it ends.
 */
export class NegotiatedConnection implements Receiver {
  readonly connection: Connection;
  readonly requests: OutboundRequests;
  /** How many messages have come, of any kind. */
  heard = 0;
  /** How many lines came that are not messages. */
  noise = 0;
  /** Settles with the reason when the connection is lost or closed. */
  readonly ended: Promise<IsthmusError>;
  readonly settings: ClientConnectionSettings;
  /** The tenants that can be asked. */
  readonly callers = new Set<TenantCaller>();
  readonly #end = createDeferred<IsthmusError>();
  #negotiated: Negotiated | undefined;
  #dialect: ClientDialect | undefined;
  #closing = false;
  /** Why it has ended. */
  #over: IsthmusError | undefined;
  readonly #early: { readonly message: Decoded; readonly about: RequestId | undefined }[] = [];
  #earlyBytes = 0;
  /** Set during the probe: an error without id can only mean the probe. */
  onIdlessError: ((error: JsonRpcErrorBody) => void) | undefined;

  constructor(connection: Connection, settings: ClientConnectionSettings) {
    this.connection = connection;
    this.settings = settings;
    this.requests = new OutboundRequests(settings.clock, connection);
    this.ended = this.#end.promise;
    void connection.closed.then(({ error }) => this.#lost(error));
    connection.open(this);
  }

  get clock(): Clock {
    return this.settings.clock;
  }

  get label(): string {
    return this.connection.label;
  }

  get verdict(): EraVerdict {
    return this.#negotiated!.verdict;
  }

  get server(): ServerFacts {
    return this.#negotiated!.server;
  }

  /** Whether calls can be made at this moment. */
  get isUsable(): boolean {
    return this.#over === undefined && this.connection.usable !== false;
  }

  /** The era is known. Hands over the messages that came before. */
  use(negotiated: Negotiated, createDialect: (connection: NegotiatedConnection) => ClientDialect): void {
    this.#negotiated = negotiated;
    this.#dialect = createDialect(this);
    for (const { message, about } of this.#early.splice(0)) this.receive(message, about);
  }

  /** Adds a tenant. */
  join(tenant: Tenant, limiter?: TenantLimiter): TenantCaller {
    const caller = new TenantCaller(tenant, this, this.#dialect!, limiter);
    if (this.#over) caller.lost(this.#over);
    else if (!tenant.isHidden) {
      this.callers.add(caller);
      this.#dialect!.joined?.();
    }
    return caller;
  }

  /** Tells the tenants that no new calls can be made. Calls in flight go on. */
  retire(error: IsthmusError): void {
    for (const caller of this.callers) caller.retire(error);
  }

  receive(message: Decoded, about?: RequestId, bytes = 0): void {
    this.heard += 1;
    switch (message.kind) {
      case 'batch':
        for (const item of message.items) this.receive(item, about);
        return;
      case 'request':
        if (this.#dialect) this.#dialect.request(message, about);
        else if (message.method === 'ping') this.connection.send(resultMessage(message.id, {}));
        else if (OURS.has(message.method)) this.#lost(isEcho(this.connection.label));
        else this.#keep(message, about, bytes);
        return;
      case 'notification':
        if (this.#dialect) this.#dialect.notification(message, about);
        else this.#keep(message, about, bytes);
        return;
      case 'invalid':
        return this.#noise(message);
      case 'error':
        if (message.id === undefined) return this.#idless(message.error);
        break;
      case 'result':
        break;
    }
    if (this.#dialect) this.#dialect.response(message);
    else this.requests.settle(message);
    forgetResults();
  }

  /** The server sends nothing more. Its process is probably about to exit: waits a moment for the reason. */
  inputEnded(): void {
    void within(this.clock, EXIT_MS, this.connection.closed).then((heard) => {
      // A process that only closed its output may run for long. Callers do not wait for that.
      if (!heard) this.#lost(undefined);
      this.connection.close();
    });
  }

  drained(): void {}

  failed(id: RequestId, error: IsthmusError): void {
    this.requests.reject(id, error);
  }

  /** Rejects waiting requests at once, and closes when the last messages, such as cancellations, have left. Always settles. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#lost(undefined);
    // The system's clock, since this waits for a real pipe.
    await within(systemClock, LAST_MESSAGES_MS, this.connection.finish());
    this.connection.close();
    await this.connection.closed;
  }

  #keep(message: Decoded, about: RequestId | undefined, bytes: number): void {
    if (this.#early.length >= MAX_EARLY || this.#earlyBytes + bytes > MAX_EARLY_BYTES) return;
    this.#early.push({ message, about });
    this.#earlyBytes += bytes;
  }

  /** An invalid line fails at most the call that it answers. */
  #noise(line: InvalidMessage): void {
    this.noise += 1;
    tell('onNoise', this.settings.onNoise, line);
    if (events.dropped.hasSubscribers) {
      events.dropped.publish({ connection: this.connection.label, why: line.error.message, message: line });
    }
    if (line.answers === undefined) return;
    const tooLarge = line.error.data !== undefined;
    const error = new IsthmusError(
      tooLarge ? 'RESULT_TOO_LARGE' : 'INVALID_RESULT',
      `The answer of ${this.connection.label} cannot be read. ${line.error.message}`,
      { sent: 'maybe' },
    );
    this.requests.reject(line.answers, error);
  }

  #idless(error: JsonRpcErrorBody): void {
    if (this.onIdlessError) this.onIdlessError(error);
    else if (events.dropped.hasSubscribers) {
      events.dropped.publish({
        connection: this.connection.label,
        why: 'an error without an id',
        message: error,
      });
    }
  }

  #lost(cause: Error | undefined): void {
    const error = this.#reason(cause);
    this.#over ??= error;
    this.requests.fail(error, this.#closing);
    this.#dialect?.ended(error);
    for (const caller of this.callers) caller.lost(error);
    this.callers.clear();
    this.#end.resolve(error);
  }

  #reason(cause: Error | undefined): IsthmusError {
    const { generation } = this.settings;
    if (cause instanceof IsthmusError) return cause.with({ sent: 'maybe', generation });
    const message = this.#closing
      ? `The client closed its connection to ${this.connection.label}`
      : `The connection to ${this.connection.label} was lost${cause ? `: ${cause.message}` : ''}`;
    return new IsthmusError('CONNECTION_CLOSED', message, { cause, sent: 'maybe', generation });
  }
}

/** What the negotiation has found. */
export interface Negotiated {
  readonly verdict: EraVerdict;
  readonly server: ServerFacts;
}

/** How many messages are kept until the era is known. No server sends so many before the handshake. */
const MAX_EARLY = 1000;
const MAX_EARLY_BYTES = 1024 * 1024;
/** How long the last messages may take to leave when the client closes. */
const LAST_MESSAGES_MS = 250;
/** Requests that only a client sends. */
const OURS: ReadonlySet<string> = new Set(['server/discover', 'initialize']);

function isEcho(label: string): IsthmusError {
  return new IsthmusError('NO_COMMON_REVISION', `${label} echoes its input; it is not an MCP server`);
}

/** How long to wait for the exit of a process that has closed its output. */
const EXIT_MS = 500;
