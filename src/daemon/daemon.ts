import type { Socket } from 'node:net';
import { type Clock, systemClock } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import { IsthmusError, messageOf } from '../errors.js';
import { type AttachRequest, openControl } from '../gateway/control/index.js';
import { createLogTail } from '../gateway/log-tail.js';
import { secretsOf } from '../gateway/secrets.js';
import { createRedactor } from '../gateway/telemetry/redactor.js';
import { createHost } from '../host/create-host.js';
import { socketConnection } from '../transport/socket.js';
import { controlledDaemon } from './controlled-daemon.js';
import { readAttachParams } from './definition.js';
import { endWithHost } from './end-with-host.js';
import { hostedCommands } from './hosted-commands.js';
import type { Lock } from './lock.js';
import type { DaemonLog } from './log-file.js';
import type { DaemonPlaces } from './places.js';

import { SharedServers } from './shared-servers.js';

export interface DaemonOptions {
  readonly places: DaemonPlaces;
  /** Held as long as the daemon lives: its processes are gone when it is released. */
  readonly lock: Lock;
  readonly log: DaemonLog;
  readonly version: string;
  /** How long it waits for the first who attaches. Default 30 s. */
  readonly firstMs?: number;
  /** How many hosts may be attached at once. Default 256. */
  readonly maxAttached?: number;
  readonly clock?: Clock;
}

export interface Daemon {
  /** Settles when it has ended: by itself when nobody needs it any more, or because it was closed. Never rejects. */
  readonly ended: Promise<void>;
  /** Finishes what runs within the grace, and ends all processes. Twice is harmless. */
  close(graceMs?: number): Promise<void>;
}

/** Keeps the servers of this user, for all hosts that attach to them. Rejects when it cannot listen. */
export async function openDaemon(options: DaemonOptions): Promise<Daemon> {
  const { places, lock, log, version, firstMs = 30_000, maxAttached = 256, clock = systemClock } = options;
  const ended = createDeferred<void>();
  const host = createHost({ maxProcesses: 4 * maxAttached, clock });
  const redactor = createRedactor();
  const say = (line: string) => log.say(redactor.text(line));
  const lines = createLogTail({ clean: redactor.text });
  host.watch((event) => {
    lines.onHostEvent(event);
    if (event.kind === 'exit' && !event.expected) say(`${event.server}: process ${event.pid} ended`);
  });
  const servers = new SharedServers({
    host,
    commands: hostedCommands(host),
    clock,
    clean: redactor.text,
    onStartFailed: (name, error) => say(`${name} could not be started (${codeOf(error)})`),
    onChange: review,
    onGone: (name) => lines.forget(name),
  });
  /** Attached, or about to be. */
  let clients = 0;
  let callOff = () => {};
  let closing: Promise<void> | undefined;

  function review(): void {
    callOff();
    callOff = () => {};
    if (!closing && clients === 0 && servers.isEmpty) void close(0);
  }

  async function attach(request: AttachRequest, stream: Socket, leftover: Buffer): Promise<void> {
    if (closing) throw ending();
    if (clients > maxAttached) {
      const message = `The daemon is busy: ${maxAttached} hosts are attached to it`;
      throw new IsthmusError('BUSY', message, { sent: 'no' });
    }
    const params = readAttachParams(request.params);
    redactor.add(secretsOf(params.unit));
    const seat = await servers.take(params);
    try {
      // That may have taken a while: whoever is gone by now would never be seen to go.
      if (closing) throw ending();
      if (stream.destroyed) return;
      request.accept({ pid: process.pid, version, server: seat.name });
      if (leftover.length > 0) stream.unshift(leftover);
      say(`${seat.name}: a host is attached`);
      const connection = endWithHost(socketConnection(stream, seat.name));
      await seat.serve(connection, () => stream.resume());
      say(`${seat.name}: a host is gone`);
    } finally {
      seat.release();
    }
  }

  async function close(graceMs: number): Promise<void> {
    closing ??= (async () => {
      // Whoever comes from now on starts another one, which waits for the lock.
      await control.close();
      await servers.close(graceMs);
      await host.close();
      lock.release();
      ended.resolve();
    })();
    await closing;
  }

  const control = await openControl(
    controlledDaemon({ places, version, servers, lines, redactor, shutdown: () => void close(GRACE_MS) }),
    {
      path: places.socket,
      // Commands that only look have to get through, too.
      maxConnections: maxAttached + 64,
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

/** How long calls may take when the daemon is told to end. */
const GRACE_MS = 5000;

function ending(): IsthmusError {
  return new IsthmusError('CONNECTION_CLOSED', 'The daemon is ending', { sent: 'no' });
}

/** What went wrong in detail may hold secrets, and is told to those who are attached. */
function codeOf(error: unknown): string {
  return error instanceof IsthmusError ? error.code : 'an error';
}
