import { type Clock, systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import type { CallTarget } from '../calls/call-target.js';
import type { ConnectionSettings, ConnectionView, EraName } from '../contract.js';
import { ConsoleError, invalid } from '../http/console-error.js';
import type { ConsoleRecords } from './console-records.js';
import type { InspectOptions } from './inspect-options.js';
import { InspectSession } from './session.js';

/** The server that is inspected. Its session is replaced when the settings of the connection change. */
export class InspectedServer {
  settings: ConnectionSettings;
  readonly #options: InspectOptions;
  readonly #records: ConsoleRecords;
  #session: InspectSession | undefined;
  /** Changes are made one after the other. */
  #changing: Promise<unknown> = Promise.resolve();
  /** Settles when the session that was asked for last is there, or cannot be there. */
  #replaced: Promise<void> = Promise.resolve();
  readonly #clock: Clock;

  constructor(options: InspectOptions, records: ConsoleRecords, clock: Clock = systemClock) {
    this.#options = options;
    this.#records = records;
    this.#clock = clock;
    this.settings = options.settings;
  }

  /** What is asked while the session is being replaced waits for the new one, and then for its connection. */
  async session(): Promise<InspectSession> {
    const isReplaced = await within(this.#clock, REPLACED_MS, this.#replaced);
    if (isReplaced && this.#session) return this.#session;
    throw isReplaced
      ? new ConsoleError(409, 'CONNECTION_CLOSED', 'There is no connection to the server', {
          hint: 'Connect first',
        })
      : new ConsoleError(409, 'CONNECTION_CLOSED', 'The connection to the server is being replaced', {
          hint: 'Try again when it is there',
        });
  }

  /** Undefined while there is no open connection. */
  get verdict(): { readonly era: EraName; readonly revision: string } | undefined {
    return this.#session?.upstreamOf();
  }

  async callTarget(server: string | undefined): Promise<CallTarget> {
    if (server !== undefined) throw invalid('"server" is for a gateway: here is one server only');
    return this.session();
  }

  /** Connects with the settings of the command line. Where a name of a file has to be chosen, the page does it. */
  async begin(): Promise<void> {
    const { names } = this.#options.target;
    if (names && this.settings.name === undefined) return;
    await this.connect(this.settings).catch(() => {});
  }

  /** Ends the connection and opens another one. Rejects with what went wrong, which the connection shows as well. */
  connect(settings: ConnectionSettings): Promise<readonly ConnectionView[]> {
    const replaced = createDeferred<void>();
    this.#replaced = replaced.promise;
    return this.#change(async () => {
      const session = await this.#replace(settings).finally(() => replaced.resolve());
      await session.open();
      return this.#records.connections.all();
    });
  }

  hangUp(): Promise<void> {
    return this.#change(() => this.#hangUp());
  }

  async close(): Promise<void> {
    // A connection that is being opened is not waited for.
    await Promise.all([this.#session?.close(), this.hangUp()]);
  }

  async #replace(settings: ConnectionSettings): Promise<InspectSession> {
    await this.#hangUp();
    this.settings = settings;
    const connector = await this.#options.connector(this.#records.recorder.tap(), settings.name);
    this.#session = new InspectSession(connector, settings, this.#options, this.#records);
    return this.#session;
  }

  async #hangUp(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    await session?.close();
  }

  #change<T>(action: () => Promise<T>): Promise<T> {
    const changing = this.#changing.then(action);
    this.#changing = changing.catch(() => {});
    return changing;
  }
}

/** Longer than a process is given to end before it is killed. */
const REPLACED_MS = 10_000;
