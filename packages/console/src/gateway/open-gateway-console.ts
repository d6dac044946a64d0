import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { MODERN_REVISIONS } from '@isthmus/sdk/internal/era/revisions.js';
import type { TapLine, TappedConnection } from '@isthmus/sdk/internal/exchange/tap.js';
import { proxyTrust } from '@isthmus/sdk/internal/transport/http-server/admission/trust-proxy.js';
import { VERSION } from '@isthmus/sdk/internal/version.js';
import { AccessControl, type AccessControlOptions, type ConsoleUser } from '../access/access.js';
import type {
  AccessLevel,
  CallRow,
  Feature,
  Hello,
  ProgressView,
  SessionRow,
  SettingsView,
} from '../contract.js';
import { Feeds } from '../feed/feeds.js';
import type { JudgeMessage } from '../frames/frame-schema.js';
import { accessHandlers } from '../http/access-handlers.js';
import { invalid } from '../http/console-error.js';
import { openConsoleServer } from '../http/console-server.js';
import { callHandlers } from '../inspect/call-handlers.js';
import { ConsoleRecords } from '../inspect/console-records.js';
import { frameHandlers } from '../inspect/frame-handlers.js';
import { snippetHandlers } from '../inspect/snippet-handlers.js';
import type { CallEntry } from '../stores/call-store.js';
import type { TraceRedactor } from '../trace/write-trace.js';
import { Attention } from './attention.js';
import { CallSeries } from './call-series.js';
import { CallerStore } from './caller-store.js';
import { GatewayCallTargets, upstreamIn } from './gateway-call-targets.js';
import { gatewayHandlers, refusePayloads } from './gateway-handlers.js';
import { gatewayTopic } from './gateway-topics.js';
import type { GatewayView, ServerMoment } from './gateway-view.js';
import { Recordings, ServersInUse } from './recordings.js';
import { StatusStore } from './status-store.js';

export interface GatewayConsoleOptions {
  readonly view: GatewayView;
  readonly redactor: TraceRedactor;
  readonly judge: JudgeMessage;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Names besides the loopback ones that browsers use for it. */
  readonly names?: readonly string[] | undefined;
  /** How operators enter without a link, and which of them. */
  readonly signIn?: SignIn | undefined;
  /** The addresses of proxies whose `X-Forwarded-For` is believed, to count wrong keys. */
  readonly trustProxy?: readonly string[] | undefined;
  readonly clock?: Clock;
}

export interface SignIn {
  readonly keys: SettingsView['console']['keys'];
  readonly authenticate: NonNullable<AccessControlOptions['authenticate']>;
}

/** The console of a gateway. Those who see its traffic tell it what happens. */
export interface GatewayConsole {
  readonly origin: string;
  /** Whether somebody looks, or records. Otherwise calls need not be told of. */
  readonly isWatched: boolean;
  link(levels: readonly AccessLevel[]): string;
  nextNumber(): number;
  /** The page made the call with this number. */
  isOwn(number: number): boolean;
  callBegan(row: Omit<CallRow, 'state' | 'own'>, cancel: () => void): void;
  callAsks(number: number, isAsking: boolean): void;
  callProgressed(number: number, progress: ProgressView): void;
  callEnded(number: number, ending: Pick<CallRow, 'outcome' | 'errorType' | 'code' | 'message' | 'ms'>): void;
  sessionBegan(session: SessionRow, end: () => void): void;
  sessionSubscribed(id: number, subscribed: number): void;
  sessionEnded(id: number): void;
  refused(server: string): void;
  /** Something happened to a process of a server. */
  happened(server: string, moment: ServerMoment): void;
  /** Whether frames of this server are wanted: a recording runs, or the page calls it. */
  isRecording(server: string): boolean;
  openLine(server: string, connection: TappedConnection): TapLine;
  close(): Promise<void>;
}

export async function openGatewayConsole(options: GatewayConsoleOptions): Promise<GatewayConsole> {
  const { view, redactor, clock = systemClock } = options;
  const wants = (call: number, server: string | undefined): boolean => {
    const row = records.calls.get(call)?.row;
    if (row?.own) return true;
    if (server === undefined || !recordings.isOn(server)) return false;
    const { caller } = recordings.current!;
    return caller === undefined || row?.client?.principal === caller;
  };
  const records: ConsoleRecords = new ConsoleRecords({
    ...{ isRecording: true, makesLogs: false, clean: view.clean, wants },
    ...{ maxBytes: 16 * 1024 * 1024, maxFrameBytes: 64 * 1024 },
  });
  const series = new CallSeries();
  const callers = new CallerStore();
  const recordings = new Recordings({
    ...{ clock, ring: records.ring, isAllowed: view.mayRecord, note: (line) => view.note(line) },
  });
  const status = new StatusStore(view, series, clock);
  const callTargets = new GatewayCallTargets(view, records, status);
  const inUse = new ServersInUse(records.calls.changes);
  const history = new Map<string, ServerMoment[]>();
  const refusals = new Map<string, number>();
  const attention = new Attention(clock, () => feeds.size > 0 || recordings.current !== undefined);
  const access = new AccessControl({
    clock,
    onUse: () => attention.drawn(),
    onEntry: (who, address) => view.entered?.(who, address),
    authenticate: options.signIn?.authenticate,
    onSecondUse: (who) => view.note(`a link of ${who} to the console was used twice`),
  });
  const over = new AbortController();
  const feeds: Feeds = new Feeds({
    ...{ access, clock, ring: records.ring },
    checkRows: ({ user }) => mayRecord(user) || refusePayloads(user.who),
    topic: (name, afterLog) => gatewayTopic({ records, status, series, recordings, clock }, name, afterLog),
  });
  const checkPayloads = ({ row, who }: CallEntry, user: ConsoleUser) =>
    (row.own && who === user.who) || mayRecord(user) || refusePayloads(user.who);
  const features: readonly Feature[] = [
    'lens',
    'reload',
    'sessions',
    ...(view.mayRecord ? (['record'] as const) : []),
  ];
  const target = { label: 'isthmus serve', kind: 'socket' } as const;
  const http = await openConsoleServer({
    ...{ host: options.host, port: options.port, names: options.names, access, clock, guardsPayloads: true },
    handlers: {
      ...accessHandlers(
        access,
        (who) => view.note(`${who} opened the console`),
        options.trustProxy && proxyTrust(options.trustProxy),
      ),
      ...frameHandlers(records, {
        ...{ target, redactor, judge: options.judge },
        checkFrame({ call }, user) {
          const entry = records.calls.get(call);
          if (entry) checkPayloads(entry, user);
          else if (!mayRecord(user)) refusePayloads(user.who);
        },
      }),
      ...callHandlers({
        records,
        checkPayloads,
        callTarget(server, user) {
          if (server === undefined) throw invalid('"server" is missing: the gateway has several');
          return callTargets.of(server, user.who);
        },
        cancelOther(entry, user) {
          view.note(`${user.who}: cancel call ${entry.row.id} of ${entry.row.server}`);
        },
      }),
      ...snippetHandlers(records, {
        checkPayloads,
        eraOf: () => ({ era: 'modern', revision: MODERN_REVISIONS[0] }),
        write: (facts) => view.snippet(facts),
      }),
      ...gatewayHandlers({
        ...{ view, status, series, callers, recordings },
        history: (server) => history.get(server) ?? [],
        refused: (server) => refusals.get(server) ?? 0,
        console: () => ({
          address: http.origin,
          recording: view.mayRecord ? 'allowed' : 'forbidden',
          keys: options.signIn?.keys ?? [],
        }),
      }),
      'POST feed': (request) => feeds.begin(request) as never,
      'GET hello': ({ user: { who, levels } }): Hello => ({
        ...{ contract: 1, face: 'gateway', version: VERSION, who, levels, now: Date.now() },
        ...{ began: records.began, features, readOnly: false },
        ring: { frames: records.ring.maxFrames, bytes: records.ring.maxBytes },
      }),
    },
  });
  void followLogs(view, records, over.signal);
  await status.read();
  let people = 0;
  const entryOf = (number: number) => records.calls.get(number);
  return {
    origin: http.origin,
    get isWatched() {
      return attention.isGiven;
    },
    link(levels) {
      people += 1;
      return http.address(access.mintLink({ who: `console-${people}`, levels }));
    },
    nextNumber: () => records.calls.nextNumber(),
    isOwn: (number) => records.calls.isOwn(number),
    callBegan(row, cancel) {
      const upstream = upstreamIn(status.current?.servers.find(({ name }) => name === row.server));
      const entry: CallEntry = {
        row: { ...row, ...(upstream && { upstream }), state: 'running', own: false },
        ...{ progressed: [], logs: [], questions: [] },
        cancel: (reason) => {
          view.note(`call ${row.id} of ${row.server}: ${reason}`);
          cancel();
        },
      };
      records.calls.begin(entry);
      callers.began(entry.row, row.began);
    },
    callAsks(number, isAsking) {
      const entry = entryOf(number);
      if (entry && entry.row.state !== 'done')
        records.calls.change(entry, { state: isAsking ? 'asking' : 'running' });
    },
    callProgressed(number, progress) {
      const entry = entryOf(number);
      if (entry && entry.row.state !== 'done') records.calls.change(entry, { progress });
    },
    callEnded(number, ending) {
      const entry = entryOf(number);
      if (!entry || entry.row.state === 'done') return;
      records.calls.end(entry, ending);
      callers.ended(entry.row);
      const failed = ending.outcome === 'error' || ending.outcome === 'tool_error';
      if (entry.row.server !== undefined) series.add(entry.row.server, clock.now(), ending.ms ?? 0, failed);
    },
    sessionBegan: (session, end) => callers.sessionBegan(session, end),
    sessionSubscribed: (id, subscribed) => callers.sessionSubscribed(id, subscribed),
    sessionEnded: (id) => callers.sessionEnded(id),
    refused: (server) => void refusals.set(server, (refusals.get(server) ?? 0) + 1),
    happened(server, moment) {
      const moments = history.get(server) ?? [];
      history.set(server, [...moments.slice(1 - MAX_MOMENTS), moment]);
      status.soon();
    },
    isRecording: (server) => recordings.isOn(server) || inUse.has(server),
    openLine: (server, connection) => records.recorder.open(connection, { server }),
    async close() {
      over.abort();
      attention.close();
      feeds.close('the gateway has ended');
      recordings.close();
      records.questions.close();
      await callTargets.close();
      await http.close();
    },
  };
}

const MAX_MOMENTS = 100;

function mayRecord({ levels }: ConsoleUser): boolean {
  return levels.includes('record');
}

async function followLogs(view: GatewayView, records: ConsoleRecords, signal: AbortSignal): Promise<void> {
  try {
    for await (const line of view.logs(signal)) records.logs.add(line);
  } catch {
    // The gateway ends.
  }
}
