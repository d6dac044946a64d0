import { checkedOptions, invalidArgument, kindOf, type OptionNames } from '../arguments.js';
import { within } from '../async/clock.js';
import { planDeparture } from '../async/departure.js';
import { LiveSet } from '../async/live-set.js';
import type { Cluster } from '../cluster/cluster.js';
import { type ServedConnection, serveConnection } from '../era/connection-driver.js';
import { isDeclared, isForeignNotification } from '../era/methods.js';
import { notifier } from '../era/modern/envelope.js';
import { createModernServerState } from '../era/modern/server-state.js';
import { resolveServing, type ServingSettings } from '../era/serving-settings.js';
import { IsthmusError } from '../errors.js';
import type { Service } from '../exchange/call.js';
import type { Connection, HomeRequest, Listener, Listening, ServedFacts } from '../exchange/connection.js';
import { shareChanges } from '../exchange/share-changes.js';
import { ownProcess } from './own-process.js';

/** How `serve` runs a server: its limits, and whether the process ends with it. */
export interface ServeOptions extends Partial<ServingSettings> {
  /**
   * Whether the process ends with this server: SIGTERM and SIGINT close the server, SIGHUP is ignored unless the terminal
   * is gone, and when the server has ended, the process exits with code 0. After a signal the process exits within 1.5 s
   * on stdio, and within 5 s elsewhere (with `graceMs`: within that plus 2 s). Default: true on stdio, false otherwise.
   */
  readonly ownsProcess?: boolean;
  /** Runs after the last connection has ended and before the process exits; bounded by `graceMs`. */
  readonly onClose?: () => void | Promise<void>;
  /**
   * The cluster that this process has joined. Then all processes of the cluster serve as one: sessions, rounds and changes
   * are known to all. Close the server before you leave the cluster.
   */
  readonly cluster?: Cluster;
  /**
   * The name of this server in the cluster: the same in all processes, and not the name of another server. Default: the
   * name of the server.
   */
  readonly place?: string;
  /**
   * In a cluster: the id of the member that serves a request (`cluster.members`), for a server that remembers something
   * which its other members do not know. Asked for calls and new sessions. Default: any member serves.
   */
  readonly home?: (request: HomeRequest) => string | undefined;
}

/** A running server. */
export interface Served extends AsyncDisposable {
  /** The addresses, in the order of the listeners, with real ports. */
  readonly addresses: readonly string[];
  /** Connections open now. */
  readonly connections: number;
  /** Settles when everything has ended, never rejects. */
  readonly closed: Promise<void>;
  /**
   * Stops accepting, lets running calls finish within the grace, aborts the rest, and closes all connections. With
   * `abortMs` aborted handlers have that long to answer; without it their requests are answered with an error at once. A
   * second call is harmless, and may shorten both times.
   */
  close(options?: { graceMs?: number; abortMs?: number }): Promise<void>;
}

/**
 * Serves a service to clients of both eras, on one listener or several.
 *
 * ```ts
 * await serve(server, stdio());
 * const served = await serve(server, [unixSocket('/run/me.sock'), tcp({ port: 0 })]);
 * ```
 */
export async function serve(
  given: Service,
  listeners: Listener | readonly Listener[],
  options: ServeOptions = {},
): Promise<Served> {
  const all = Array.isArray(listeners) ? (listeners as readonly Listener[]) : [listeners as Listener];
  checkServe(given, all);
  checkedOptions('serve', options, SERVE_OPTIONS);
  const { cluster } = options;
  const { place = given.info.name } = options;
  const shared = cluster && shareChanges(given, cluster, place);
  const service = shared ?? given;
  const stateKey = options.stateKey ?? cluster?.keys.derive('request-state', place);
  const settings = resolveServing({ ...options, stateKey });
  const runtime = createModernServerState(settings, () => cluster?.members.self);
  const open = new LiveSet<ServedConnection>();
  let leaving = false;

  const forget = (served: ServedConnection) => open.delete(served);
  const accept = (connection: Connection) => {
    if (leaving) return connection.close();
    const served = serveConnection(connection, service, runtime, forget);
    if (!connection.isOver) open.add(served);
  };

  const facts: ServedFacts = {
    eras: settings.eras,
    headerParams: (tool, principal) => service.headerParams?.(tool, principal) ?? [],
    notify({ method, params }, principal, remote) {
      if (isForeignNotification(method))
        service.notify?.({ method, params: params ?? {} }, notifier(params, principal, remote));
    },
    knows: (method) => isDeclared(method, service.capabilities()),
    cluster,
    ...(options.home && { home: options.home }),
  };
  const serving = service.serving?.();
  const listening = await listenOnAll(all, accept, facts).catch(async (error: unknown) => {
    // Connections that another listener accepted meanwhile must not outlive the failure.
    leaving = true;
    await Promise.all(open.values().map((served) => served.close(0)));
    runtime.close();
    await serving?.end();
    shared?.stopSharing();
    throw error;
  });

  const closeAll = async (graceMs: number, abortMs = 0) => {
    leaving = true;
    await Promise.all(listening.map((each) => each.stop()));
    const tasks = graceMs > 0 ? serving?.idle() : undefined;
    const idle = Promise.all([...listening.map((each) => each.idle?.()), tasks]);
    await Promise.all([
      within(settings.clock, graceMs, idle),
      ...open.values().map((served) => served.close(graceMs, abortMs)),
    ]);
    await Promise.all(listening.map((each) => each.release?.()));
    runtime.close();
    await serving?.end();
    shared?.stopSharing();
  };

  // The process's own stdin and stdout cannot be opened again: their end closes the other listeners, too.
  const stdioEnds = listening.filter((_, index) => all[index]!.ownsProcess).map((each) => each.ended);
  const ended = Promise.race([...stdioEnds, Promise.all(listening.map((each) => each.ended))])
    .then(() => closeAll(settings.graceMs))
    .then(async () => {
      if (options.onClose)
        await within(settings.clock, settings.graceMs, Promise.resolve().then(options.onClose));
    });

  const served: Served = {
    addresses: listening.map((each) => each.address),
    get connections() {
      return open.size;
    },
    closed: ended,
    async close({ graceMs = settings.graceMs, abortMs = 0 } = {}) {
      if (!(graceMs >= 0 && abortMs >= 0)) {
        const got = `got ${graceMs} and ${abortMs}`;
        throw new IsthmusError('INVALID_OPTION', `graceMs and abortMs must not be negative, ${got}`);
      }
      await closeAll(graceMs, abortMs);
      await ended;
    },
    [Symbol.asyncDispose]: () => served.close(),
  };
  const isStdio = all.some((listener) => listener.ownsProcess);
  if (options.ownsProcess ?? isStdio)
    ownProcess(served, planDeparture({ isStdio, graceMs: options.graceMs }));
  return served;
}

function checkServe(service: Service, listeners: readonly Listener[]): void {
  if (typeof service?.handle !== 'function') {
    const advice = isListener(service) ? 'the server comes first: serve(server, stdio())' : kindOf(service);
    throw invalidArgument(`serve needs a server of createServer or createBridge, got ${advice}`);
  }
  if (listeners.length > 0 && listeners.every(isListener)) return;
  const wrong = listeners.find((each) => !isListener(each));
  const isConnector = typeof (wrong as { connect?: unknown } | undefined)?.connect === 'function';
  const got = isConnector
    ? 'a connector, which opens connections to other servers'
    : listeners.length === 0
      ? 'an empty list'
      : kindOf(wrong);
  throw invalidArgument(
    `serve needs a listener, got ${got}. Write serve(server, stdio()) or serve(server, http({ port }))`,
  );
}

function isListener(value: unknown): boolean {
  return typeof (value as Partial<Listener> | null | undefined)?.listen === 'function';
}

const SERVE_OPTIONS: OptionNames<ServeOptions> = {
  ownsProcess: true,
  onClose: true,
  cluster: true,
  place: true,
  home: true,
  clock: true,
  eras: true,
  graceMs: true,
  askTimeoutMs: true,
  maxListens: true,
  pingIntervalMs: true,
  stateKey: true,
  maxConcurrent: true,
  maxQueued: true,
  maxQueuedBytes: true,
  roundTtlMs: true,
  maxParked: true,
};

async function listenOnAll(
  listeners: readonly Listener[],
  accept: (connection: Connection) => void,
  facts: ServedFacts,
): Promise<Listening[]> {
  const listening = new Map<Listener, Listening>();
  // The process's own streams come last: they are read as soon as they are opened, which cannot be undone.
  const inOrder = [...listeners].sort((a, b) => Number(a.ownsProcess) - Number(b.ownsProcess));
  try {
    for (const listener of inOrder) listening.set(listener, await listener.listen(accept, facts));
  } catch (error) {
    await Promise.all([...listening.values()].map((each) => each.stop()));
    throw error;
  }
  return listeners.map((listener) => listening.get(listener)!);
}
