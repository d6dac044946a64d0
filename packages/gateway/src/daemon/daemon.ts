import type { Socket } from 'node:net';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { IsthmusError, messageOf } from '@isthmus/sdk/internal/errors.js';
import { createHost } from '@isthmus/sdk/internal/host/create-host.js';
import type { Lock } from '@isthmus/sdk/internal/process/lock.js';
import { socketConnection } from '@isthmus/sdk/socket';
import { type AttachRequest, type Controlled, openControl } from '../control/index.js';
import { createLogTail, type LogTail } from '../log-tail.js';
import { UserLogins } from '../logins/user-logins.js';
import { secretsOf } from '../secrets.js';
import type { GatewayStatus } from '../server-state.js';
import { createRedactor, type Redactor } from '../telemetry/redactor.js';
import { type AttachedServer, hostedCommands } from './attached-server.js';
import { AttachedServers } from './attached-servers.js';
import type { DaemonPaths } from './daemon-paths.js';
import { readAttachParams } from './definition.js';
import type { DaemonLog } from './log-file.js';
import { endWithShim } from './shim/daemon-link.js';

export interface DaemonOptions {
  readonly paths: DaemonPaths;
  /** Held while the daemon lives. When it is released, all processes of the daemon have ended. */
  readonly lock: Lock;
  readonly log: DaemonLog;
  readonly version: string;
  /** How long the daemon waits for the first host. Default 30 s. */
  readonly firstMs?: number;
  /** How many hosts may be attached at once. Default 256. */
  readonly maxAttached?: number;
  readonly clock?: Clock;
}

export interface Daemon {
  /** Settles when the daemon has ended: after its last server, or after `close`. Never rejects. */
  readonly ended: Promise<void>;
  /** Gives running calls the grace, and ends all processes. A second call is harmless. */
  close(graceMs?: number): Promise<void>;
}

/** Keeps the servers of this user for all hosts that attach to them. Rejects when it cannot listen. */
export async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  const { paths, lock, log, version, firstMs = 30_000, maxAttached = 256, clock = systemClock } = options;
  const ended = createDeferred<void>();
  const host = createHost({ maxProcesses: 4 * maxAttached, clock });
  const redactor = createRedactor();
  const say = (line: string) => log.say(redactor.text(line));
  const lines = createLogTail({ clean: redactor.text });
  host.watch((event) => {
    lines.onHostEvent(event);
    if (event.kind === 'exit' && !event.expected) say(`${event.server}: process ${event.pid} ended`);
  });
  /** Keeps the daemon until the process that began a login has attached. */
  const logins = new UserLogins({ onChange: () => later() });
  const servers = new AttachedServers({
    ...{ host, logins: logins.source },
    commands: hostedCommands(host),
    clock,
    clean: redactor.text,
    onStartFailed: (name, error) => say(`${name} could not be started (${codeOf(error)})`),
    onChange: review,
    onGone: (name) => lines.forget(name),
  });
  /** Hosts that are attached or are being attached. */
  let clients = 0;
  let callOff = () => {};
  let closing: Promise<void> | undefined;

  function review(): void {
    callOff();
    callOff = () => {};
    if (!closing && clients === 0 && servers.isEmpty && logins.isIdle) void close(0);
  }

  function later(): void {
    callOff();
    callOff = clock.after(firstMs, review);
  }

  async function attach(request: AttachRequest, stream: Socket, leftover: Buffer): Promise<void> {
    if (closing) throw ending();
    if (clients > maxAttached) {
      const message = `The daemon is busy: ${maxAttached} hosts are attached to it`;
      throw new IsthmusError('BUSY', message, { sent: 'no' });
    }
    const params = readAttachParams(request.params);
    redactor.add(secretsOf(params.server));
    const session = await servers.take(params);
    try {
      // `take` may have waited. A stream that closed meanwhile emits no further event.
      if (closing) throw ending();
      if (stream.destroyed) return;
      request.accept({ pid: process.pid, version, server: session.name });
      if (leftover.length > 0) stream.unshift(leftover);
      say(`${session.name}: a host is attached`);
      const connection = endWithShim(socketConnection(stream, session.name));
      await session.serve(connection, () => stream.resume());
      say(`${session.name}: a host is gone`);
    } finally {
      session.release();
    }
  }

  async function close(graceMs: number): Promise<void> {
    closing ??= (async () => {
      // A new host starts another daemon from now on. That daemon waits for the lock.
      logins.close();
      await control.close();
      await servers.close(graceMs);
      await host.close();
      lock.release();
      ended.resolve();
    })();
    await closing;
  }

  const control = await openControl(
    controlledDaemon({ paths, version, servers, lines, redactor, shutdown: () => void close(GRACE_MS) }),
    {
      path: paths.socket,
      // Room for commands such as `isthmus daemon status`.
      maxConnections: maxAttached + 64,
      logins,
      clock,
      onAttach(request, stream, leftover) {
        clients += 1;
        attach(request, stream, leftover)
          .catch((error: unknown) => {
            say(`a host was refused: ${messageOf(error)}`);
            request.refuse(error);
          })
          .finally(() => {
            clients -= 1;
            review();
          });
      },
    },
  ).catch(async (error: unknown) => {
    await host.close();
    throw error;
  });
  callOff = clock.after(firstMs, review);
  return { ended: ended.promise, close: (graceMs = GRACE_MS) => close(graceMs) };
}

/** How long running calls may take when the daemon ends. */
const GRACE_MS = 5000;

function ending(): IsthmusError {
  return new IsthmusError('CONNECTION_CLOSED', 'The daemon is ending', { sent: 'no' });
}

/** The message may contain secrets. The attached hosts get it, the log does not. */
function codeOf(error: unknown): string {
  return error instanceof IsthmusError ? error.code : 'an error';
}

interface DaemonParts {
  readonly paths: DaemonPaths;
  readonly version: string;
  readonly servers: AttachedServers;
  readonly lines: LogTail;
  readonly redactor: Redactor;
  shutdown(): void;
}

/** The commands for a gateway work with the daemon as well. */
function controlledDaemon(parts: DaemonParts): Controlled {
  const { paths, version, servers, lines, redactor, shutdown } = parts;
  const startedAt = new Date().toISOString();
  const find = (name: string): AttachedServer => {
    const found = servers.all().find((server) => server.name === name);
    if (found) return found;
    const names = servers.all().map((server) => server.name);
    const known = names.length > 0 ? `servers: ${names.join(', ')}` : 'no server has a host';
    throw new IsthmusError(
      'INVALID_OPTION',
      `No host is attached to a server ${JSON.stringify(name)}; ${known}`,
    );
  };
  return {
    async status() {
      const all = await Promise.all(servers.all().map((server) => server.status()));
      const status: GatewayStatus = {
        pid: process.pid,
        version,
        startedAt,
        listening: [paths.socket],
        ready: all.every(({ state }) => state !== 'failed' && state !== 'needs-login'),
        servers: Object.fromEntries(all.map((status) => [status.name, status])),
        configProblem: undefined,
      };
      return JSON.parse(redactor.json(JSON.stringify(status))) as GatewayStatus;
    },
    restart: (name) => find(name).restart(),
    stop: (name) => find(name).stop(),
    start: (name) => find(name).start(),
    async reload() {
      // Each host sends its configuration when it attaches.
      const unchanged = servers.all().map(({ name }) => name);
      return { added: [], changed: [], removed: [], unchanged, problem: undefined };
    },
    logs(name, options, signal) {
      if (name !== undefined) find(name);
      return lines.read(name, options, signal);
    },
    async console() {
      throw new IsthmusError(
        'INVALID_OPTION',
        'The daemon of isthmus attach has no console; isthmus inspect shows one server',
      );
    },
    async members() {
      throw new IsthmusError('INVALID_OPTION', 'The daemon of isthmus attach is not in a cluster');
    },
    shutdown,
  };
}
