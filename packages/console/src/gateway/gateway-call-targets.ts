import { ownConnection } from '@isthmus/sdk/internal/client/connection-source.js';
import { resolveConnect } from '@isthmus/sdk/internal/client/options.js';
import { ReconnectingCaller } from '@isthmus/sdk/internal/client/reconnecting-caller.js';
import { OutputChecks } from '@isthmus/sdk/internal/client/result-checks.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { memory } from '@isthmus/sdk/internal/transport/memory.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { personsAnswers } from '../calls/answers.js';
import type { CallTarget } from '../calls/call-target.js';
import { logLine } from '../calls/make-call.js';
import type { ConsoleRecords } from '../inspect/console-records.js';
import type { GatewayView } from './gateway-view.js';

/** The page calls servers as a client of the gateway: with its limits, and without a process of its own. */
export class GatewayCallTargets {
  readonly #view: GatewayView;
  readonly #records: ConsoleRecords;
  readonly #callTargets = new Map<string, OwnCallTarget>();

  constructor(view: GatewayView, records: ConsoleRecords) {
    this.#view = view;
    this.#records = records;
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
      callTarget = new OwnCallTarget(service, server, { who, principal }, this.#records);
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
  readonly #who: string;
  readonly outputs = new OutputChecks();
  readonly service: ReturnType<GatewayView['service']>;
  readonly caller: ReconnectingCaller;
  readonly #records: ConsoleRecords;
  #other: ReconnectingCaller | undefined;

  constructor(
    service: ReturnType<GatewayView['service']>,
    server: string,
    person: { readonly who: string; readonly principal: string | undefined },
    records: ConsoleRecords,
  ) {
    this.service = service;
    this.server = server;
    this.principal = person.principal;
    this.#who = person.who;
    this.#records = records;
    this.caller = this.#connect('modern');
  }

  /** A client of the other era. The gateway bridges it, as it does for all its clients. */
  async lens(): Promise<ReconnectingCaller> {
    this.#other ??= this.#connect('legacy');
    await this.#other.connected();
    return this.#other;
  }

  upstreamOf(): undefined {
    return undefined;
  }

  async close(): Promise<void> {
    await Promise.all([this.caller.close(), this.#other?.close()]);
  }

  #connect(mode: Era): ReconnectingCaller {
    const { principal, server } = this;
    const { questions, calls, logs, recorder } = this.#records;
    const tap = recorder.tap({ server, client: this.#who, always: true });
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
    const source = ownConnection(memory(this.service, {}, { tap, principal }), {
      ...{ ...settings, onLog, onChange: () => {} },
    });
    return new ReconnectingCaller(source, { ...settings, onReopened: () => {} });
  }
}

const MAX_CALL_TARGETS = 100;
