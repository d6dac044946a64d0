import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { type ConnectSettings, resolveConnect } from '@isthmus/sdk/internal/client/options.js';
import { ReconnectingCaller } from '@isthmus/sdk/internal/client/reconnecting-caller.js';
import { OutputChecks } from '@isthmus/sdk/internal/client/result-checks.js';
import { type Answers, capabilitiesOf } from '@isthmus/sdk/internal/era/answers.js';
import type { NegotiatedConnection } from '@isthmus/sdk/internal/era/client/negotiated-connection.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Connector } from '@isthmus/sdk/internal/exchange/connection.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { decodeLine } from '@isthmus/sdk/internal/wire/codec.js';
import type { DecodedMessage } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { personsAnswers } from '../calls/answers.js';
import type { CallTarget } from '../calls/call-target.js';
import { createLensClient, type LensClient } from '../calls/lens-client.js';
import { logLine } from '../calls/make-call.js';
import { SharedConnection } from '../calls/shared-connection.js';
import type { CallRow, ConnectionSettings, ConnectionView } from '../contract.js';
import { RecordedLine } from '../frames/recorded-line.js';
import { type KeptFrame, KINDS } from '../frames/ring.js';
import { ConsoleError } from '../http/console-error.js';
import type { ConsoleRecords } from './console-records.js';
import type { InspectOptions } from './inspect-options.js';
import { viewVerdict } from './verdict-view.js';

/** The conversation with the server that is inspected, from one `PUT connection` to the next. */
export class InspectSession implements CallTarget {
  readonly outputs = new OutputChecks();
  readonly settings: ConnectionSettings;
  readonly #options: InspectOptions;
  readonly #records: ConsoleRecords;
  readonly #answers: Answers;
  readonly #connection: SharedConnection;
  readonly #lenses = new Map<string, LensClient>();
  readonly caller: ReconnectingCaller;
  /** The first frame of the present attempt to connect. */
  #attemptFrom = 1;
  #opened = 0;

  constructor(
    connector: Connector,
    settings: ConnectionSettings,
    options: InspectOptions,
    records: ConsoleRecords,
  ) {
    this.settings = settings;
    this.#options = options;
    this.#records = records;
    const { questions, calls } = records;
    this.#answers = personsAnswers({
      ...{ questions, calls, asks: settings.asks, roots: settings.roots },
      asker: () => this.#name(),
    });
    const connect = this.#connectSettings();
    this.#connection = new SharedConnection({
      connector: this.#counting(connector),
      settings: connect,
      onAttempt: () => {
        this.#attemptFrom = records.ring.last + 1;
        this.#opened = 0;
      },
      onOpen: (connection) => this.#onOpen(connection),
      onFailed: (error) => void this.#onFailed(error),
    });
    const tenant = {
      ...{
        label: 'the page',
        info: INFO,
        answers: this.#answers,
        capabilities: capabilitiesOf(this.#answers),
      },
      onLog: connect.onLog,
      callers: new Set<never>(),
    };
    this.caller = new ReconnectingCaller(this.#connection.source(tenant), {
      ...{ clock: systemClock, timeoutMs: connect.timeoutMs, reconnect: true, onReopened: () => {} },
    });
  }

  /** Settles when it is connected, or rejects with the reason, which the connection shows as well. */
  async open(): Promise<void> {
    await this.#connection.open();
    await this.caller.connected();
  }

  upstreamOf(): CallRow['upstream'] {
    const { current } = this.#connection;
    if (!current) return undefined;
    const { era, revision } = current.verdict;
    const pid = this.#viewOf(current)?.pid;
    return { era, revision, ...(pid !== undefined && { pid }) };
  }

  /** A client of the other era. Each era has one, since the server may change its own after a restart. */
  async lens(): Promise<ReconnectingCaller> {
    const { verdict } = await this.#connection.open();
    const era = verdict.era === 'legacy' ? 'modern' : 'legacy';
    let client = this.#lenses.get(era);
    if (!client) {
      const { label } = this.#options.target;
      const tap = this.#records.recorder.tap({ lens: true });
      client = createLensClient({
        ...{ connection: this.#connection, label, era, info: INFO, answers: this.#answers, tap },
      });
      this.#lenses.set(era, client);
    }
    const caller = await client.caller.connected();
    this.#showLens(caller.verdict.era, caller.verdict.revision);
    return client.caller;
  }

  /** Sends these bytes to the server, whatever they are. */
  async sendBytes(text: string): Promise<void> {
    const { connection } = await this.#connection.open();
    if (!connection.sendRequestText)
      throw new ConsoleError(409, 'NOT_IN_THIS_ERA', 'This connection takes messages only');
    connection.sendRequestText(text);
  }

  /** Hangs up. Open calls fail. */
  async close(): Promise<void> {
    await Promise.all([...this.#lenses.values()].map((lens) => lens.close()));
    await this.caller.close();
    await this.#connection.close();
  }

  #connectSettings(): ConnectSettings {
    const { timeoutMs, connectTimeoutMs } = this.#options;
    const { mode } = this.settings;
    const resolved = resolveConnect({
      ...{ mode, info: INFO, answers: this.#answers, cache: false },
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
    });
    return {
      ...resolved,
      // The bridge of the lens shares the connection, so questions have to be attributed.
      questions: 'adaptive',
      onLog: (entry) => void this.#records.logs.add(logLine(entry)),
      onChange: () => {},
    };
  }

  #counting(connector: Connector): Connector {
    return {
      label: connector.label,
      identity: connector.identity,
      extensions: connector.extensions,
      connect: async () => {
        this.#opened += 1;
        const connection = await connector.connect();
        // The first frame may come much later.
        void connection.tap;
        return connection;
      },
    };
  }

  #onOpen(connection: NegotiatedConnection): void {
    const { ring, connections } = this.#records;
    const frames = this.#framesOfAttempt();
    const { verdict, server, label } = connection;
    const view = this.#viewOf(connection);
    if (!view) return;
    const noise = frames.filter(({ kind }) => KINDS[kind] === 'noise');
    const warnings = this.#options.warnings({
      ...{ label, verdict, server, opened: this.#opened, seen: this.#seen(frames) },
      noise: { count: noise.length, sample: noise[0]?.more?.problem ?? '' },
    });
    const { info, capabilities, instructions } = server;
    connections.change(view.id, {
      ...{ state: 'open', era: verdict.era, revision: verdict.revision, warnings },
      verdict: viewVerdict(verdict, ring, frames),
      capabilities: capabilities as Readonly<Record<string, unknown>>,
      ...(info && { serverInfo: info }),
      ...(instructions !== undefined && { instructions }),
    });
    const { title, name } = info ?? {};
    this.#records.logs.add({
      source: 'process',
      level: 'info',
      text: `connected to ${title ?? name ?? label}: ${verdict.era}, ${verdict.revision}`,
    });
  }

  async #onFailed(error: unknown): Promise<void> {
    if (error instanceof IsthmusError && error.code === 'CANCELLED') return;
    const { connections, logs } = this.#records;
    const frames = this.#framesOfAttempt();
    const known = frames.at(-1)?.connection;
    const id = known ?? this.#addUnconnected();
    const stderr = error instanceof IsthmusError ? (error.stderrTail ?? '') : '';
    const lines = stderr.split('\n').filter((line) => line.trim() !== '');
    const problem = await this.#options.explain(error, lines.slice(-STDERR_LINES), this.settings.name);
    const ended = connections.get(id)?.ended ?? { at: Date.now(), why: messageOf(error) };
    connections.change(id, { state: 'ended', ended, problem });
    logs.add({ source: 'process', level: 'error', text: `could not connect: ${messageOf(error)}` });
  }

  /** Nothing was sent, so nothing was recorded. */
  #addUnconnected(): number {
    const { label, kind } = this.#options.target;
    const transport = kind === 'url' ? 'http' : kind === 'command' ? 'stdio' : 'unix';
    return this.#records.connections.add({
      side: 'upstream',
      label,
      transport,
      began: Date.now(),
      lens: false,
    });
  }

  #framesOfAttempt(): KeptFrame[] {
    const { ring } = this.#records;
    const frames: KeptFrame[] = [];
    for (let seq = Math.max(this.#attemptFrom, ring.first); seq > 0 && seq <= ring.last; seq += 1)
      frames.push(ring.get(seq)!);
    return frames;
  }

  #seen(frames: readonly KeptFrame[]): DecodedMessage[] {
    return frames
      .filter(
        ({ direction, kind }) => direction === 1 && (KINDS[kind] === 'result' || KINDS[kind] === 'error'),
      )
      .map((frame) => decodeLine(Buffer.from(this.#records.ring.dataOf(frame))))
      .filter((message): message is DecodedMessage => message.kind !== 'batch');
  }

  #viewOf({ connection }: NegotiatedConnection): ConnectionView | undefined {
    const { tap } = connection;
    return tap instanceof RecordedLine ? this.#records.connections.get(tap.id) : undefined;
  }

  /** The connections of the lens are those of a memory link. */
  #showLens(era: ConnectionView['era'], revision: string): void {
    const view = this.#records.connections.all().findLast((each) => each.lens && each.state !== 'ended');
    if (view && view.state !== 'open')
      this.#records.connections.change(view.id, { state: 'open', era, revision });
  }

  #name(): string {
    const info = this.#connection.current?.server.info;
    return info?.title ?? info?.name ?? this.#options.target.label;
  }
}

const INFO = { name: 'isthmus-inspect', version: VERSION };
const STDERR_LINES = 20;
