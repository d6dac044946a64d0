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

  constructor(options: InspectOptions, records: ConsoleRecords) {
    this.#options = options;
    this.#records = records;
    this.settings = options.settings;
  }

  get session(): InspectSession {
    if (this.#session) return this.#session;
    throw new ConsoleError(409, 'CONNECTION_CLOSED', 'There is no connection to the server', {
      hint: 'Connect first',
    });
  }

  /** Undefined while there is no open connection. */
  get verdict(): { readonly era: EraName; readonly revision: string } | undefined {
    return this.#session?.upstreamOf();
  }

  callTarget(server: string | undefined): CallTarget {
    if (server !== undefined) throw invalid('"server" is for a gateway: here is one server only');
    return this.session;
  }

  /** Connects with the settings of the command line. Where a name of a file has to be chosen, the page does it. */
  async begin(): Promise<void> {
    const { names } = this.#options.target;
    if (names && this.settings.name === undefined) return;
    await this.connect(this.settings).catch(() => {});
  }

  /** Ends the connection and opens another one. Rejects with what went wrong, which the connection shows as well. */
  connect(settings: ConnectionSettings): Promise<readonly ConnectionView[]> {
    return this.#change(async () => {
      await this.#hangUp();
      this.settings = settings;
      const connector = await this.#options.connector(this.#records.recorder.tap(), settings.name);
      this.#session = new InspectSession(connector, settings, this.#options, this.#records);
      await this.#session.open();
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
