import { type Cancellation, LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import type { ConnectionSource } from '@isthmus/sdk/internal/client/connection-source.js';
import { negotiate } from '@isthmus/sdk/internal/client/negotiation/negotiate.js';
import type { ConnectSettings } from '@isthmus/sdk/internal/client/options.js';
import type { NegotiatedConnection } from '@isthmus/sdk/internal/era/client/negotiated-connection.js';
import type { Tenant } from '@isthmus/sdk/internal/era/client/tenant.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';

export interface SharedConnectionOptions {
  readonly connector: Connector;
  readonly settings: ConnectSettings;
  /** A new attempt to connect begins. */
  onAttempt(): void;
  onOpen(connection: NegotiatedConnection): void;
  onFailed(error: unknown): void;
}

/**
 * One connection to a server at a time, for several tenants: the page itself, and the bridge of the lens. So a command is
 * never started twice. A lost connection is opened again by the next call.
 */
export class SharedConnection {
  readonly #options: SharedConnectionOptions;
  readonly #over = new LazyAbort();
  #opening: Promise<NegotiatedConnection> | undefined;
  #current: NegotiatedConnection | undefined;

  constructor(options: SharedConnectionOptions) {
    this.#options = options;
  }

  get current(): NegotiatedConnection | undefined {
    return this.#current?.isUsable ? this.#current : undefined;
  }

  /** The open connection, or a new one. */
  open(): Promise<NegotiatedConnection> {
    if (this.#over.aborted) return Promise.reject(this.#over.reason as Error);
    const { current } = this;
    if (current) return Promise.resolve(current);
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  source(tenant: Tenant): ConnectionSource {
    return {
      label: this.#options.connector.label,
      open: async () => (await this.open()).join(tenant),
    };
  }

  /** Ends the connection, and with it the process. */
  async close(): Promise<void> {
    this.#over.abort(new IsthmusError('CONNECTION_CLOSED', 'The connection was closed', { sent: 'no' }));
    await this.#opening?.catch(() => {});
    await this.#current?.close();
  }

  async #connect(): Promise<NegotiatedConnection> {
    const { connector, settings, onAttempt, onOpen, onFailed } = this.#options;
    onAttempt();
    try {
      const signal: Cancellation = this.#over;
      const connection = await negotiate(connector, settings, { signal });
      this.#current = connection;
      onOpen(connection);
      return connection;
    } catch (error) {
      onFailed(error);
      throw error;
    }
  }
}
