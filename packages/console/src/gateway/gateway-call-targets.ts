import { type ConnectionSource, ownConnection } from '@isthmus/sdk/internal/client/connection-source.js';
import { resolveConnect } from '@isthmus/sdk/internal/client/options.js';
import { ReconnectingCaller } from '@isthmus/sdk/internal/client/reconnecting-caller.js';
import { OutputChecks } from '@isthmus/sdk/internal/client/result-checks.js';
import { IsthmusError } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { memory } from '@isthmus/sdk/internal/transport/memory.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { personsAnswers } from '../calls/answers.js';
import type { CallTarget } from '../calls/call-target.js';
import { logLine } from '../calls/make-call.js';
import type { CallRow, ServerView } from '../contract.js';
import type { ConsoleRecords } from '../inspect/console-records.js';
import type { GatewayView } from './gateway-view.js';
import type { StatusStore } from './status-store.js';

/** The page calls servers as a client of the gateway: with its limits, and without a process of its own. */
export class GatewayCallTargets {
  readonly #view: GatewayView;
  readonly #records: ConsoleRecords;
  readonly #status: StatusStore;
  readonly #callTargets = new Map<string, OwnCallTarget>();

  constructor(view: GatewayView, records: ConsoleRecords, status: StatusStore) {
    this.#view = view;
    this.#records = records;
    this.#status = status;
  }

  /** What a person calls a server through. Throws for an unknown server. */
  of(server: string, who: string): CallTarget {
    const service = this.#view.service(server);
    const key = JSON.stringify([server, who]);
    let callTarget = this.#callTargets.get(key);
    // A reload may have replaced the server.
    if (callTarget && callTarget.service !== service) {
      void callTarget.close();
      callTarget = undefined;
    }
    if (!callTarget) {
      const principal = this.#view.principalFor(server, who);
      callTarget = new OwnCallTarget(service, server, { who, principal }, this.#records, this.#status);
      this.#callTargets.set(key, callTarget);
      if (this.#callTargets.size > MAX_CALL_TARGETS) this.#forget();
    }
    return callTarget;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#callTargets.values()].map((callTarget) => callTarget.close()));
  }

  #forget(): void {
    const [[key, callTarget]] = this.#callTargets as unknown as [[string, OwnCallTarget]];
    this.#callTargets.delete(key);
    void callTarget.close();
  }
}

class OwnCallTarget implements CallTarget {
  readonly server: string;
  readonly principal: string | undefined;
  readonly isBehindGateway = true;
  readonly #who: string;
  readonly outputs = new OutputChecks();
  readonly service: ReturnType<GatewayView['service']>;
  readonly caller: ReconnectingCaller;
  readonly #records: ConsoleRecords;
  readonly #status: StatusStore;
  #legacy: ReconnectingCaller | undefined;

  constructor(
    service: ReturnType<GatewayView['service']>,
    server: string,
    person: { readonly who: string; readonly principal: string | undefined },
    records: ConsoleRecords,
    status: StatusStore,
  ) {
    this.service = service;
    this.server = server;
    this.principal = person.principal;
    this.#who = person.who;
    this.#records = records;
    this.#status = status;
    this.caller = this.#connect('modern');
  }

  /** A client of another era than the server. The gateway bridges it, as it does for all its clients. */
  async lens(): Promise<ReconnectingCaller> {
    // A server that sleeps starts, and shows its era.
    await this.caller.connected();
    await this.#status.read();
    if (this.upstreamOf()?.era === 'legacy') return this.caller;
    this.#legacy ??= this.#connect('legacy');
    await this.#legacy.connected();
    return this.#legacy;
  }

  upstreamOf(): CallRow['upstream'] {
    return upstreamIn(this.#now);
  }

  async close(): Promise<void> {
    await Promise.all([this.caller.close(), this.#legacy?.close()]);
  }

  get #now(): ServerView | undefined {
    return this.#status.current?.servers.find(({ name }) => name === this.server);
  }

  /** The gateway says with an error of its own that a server does not run. The page says why it does not. */
  async #explained(error: unknown): Promise<unknown> {
    await this.#status.read();
    const { state, reason } = this.#now ?? {};
    if (state === undefined || state === 'ready') return error;
    const message = `${this.server} does not run: ${reason ?? `it is ${state}`}`;
    return new IsthmusError('CONNECTION_CLOSED', message, { cause: error, sent: 'no' });
  }

  #connect(mode: Era): ReconnectingCaller {
    const { principal, server } = this;
    const { questions, calls, logs, recorder } = this.#records;
    const tap = recorder.tap({ server, client: this.#who, isOwn: true });
    const answers = personsAnswers({
      ...{ questions, calls, roots: [], server, asker: () => server },
      asks: { forms: true, urls: true, sampling: true, roots: false },
    });
    const settings = resolveConnect({
      mode,
      info: { name: 'isthmus-console', version: VERSION },
      answers,
      cache: false,
    });
    const onLog = (entry: Parameters<typeof logLine>[0]) => void logs.add({ ...logLine(entry), server });
    const own = ownConnection(memory(this.service, {}, { tap, principal }), {
      ...{ ...settings, onLog, onChange: () => {} },
    });
    const source: ConnectionSource = {
      label: server,
      open: (opening) =>
        own.open(opening).catch(async (error: unknown) => {
          throw await this.#explained(error);
        }),
    };
    return new ReconnectingCaller(source, { ...settings, onReopened: () => {} });
  }
}

const MAX_CALL_TARGETS = 100;

/** The server side of a call: the era, and the process that is ready where there is one. */
export function upstreamIn(server: ServerView | undefined): CallRow['upstream'] {
  if (server?.era === undefined) return undefined;
  const { pid, generation } = server.processes.find(({ state }) => state === 'ready') ?? {};
  return {
    era: server.era,
    revision: '',
    ...(pid !== undefined && { pid }),
    ...(generation !== undefined && { generation }),
  };
}
