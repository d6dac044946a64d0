import { createServer, type Server, type Socket } from 'node:net';
import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { ForkedProcess } from '@isthmus/sdk/internal/process/fork-self.js';
import type { AddressRequest, ToWorker } from './worker-messages.js';

/**
 * The addresses that the workers share. The parent accepts each connection and gives it to a worker: to the one that has
 * fewest on their way, otherwise to the next. A worker that dies before it has taken a connection has read nothing of
 * it, so another worker gets it. The addresses stay open when workers end.
 */
export class SharedAddresses {
  readonly #addresses = new Map<number, Address>();
  /** Connections that a worker was given and has not taken yet. */
  readonly #given = new Map<number, GivenConnection>();
  #count = 0;
  #isClosed = false;

  /** A worker asks for the connections of an address. The first one that asks opens it. */
  listen(worker: ForkedProcess, { id, host, port }: AddressRequest): void {
    const known = this.#addresses.get(id);
    const address = known ?? this.#open(id, host, port);
    const answer = () => {
      const real = address.server.address();
      if (real === null || typeof real === 'string') return;
      address.listeners.set(worker, 0);
      send(worker, { of: 'workers', kind: 'listening', id, port: real.port });
      for (const socket of address.held.splice(0)) this.#give(id, socket);
    };
    if (address.server.listening) return answer();
    address.server.once('listening', answer);
    address.server.once('error', (error: NodeJS.ErrnoException) => {
      this.#addresses.delete(id);
      const { code } = error;
      send(worker, { of: 'workers', kind: 'not-listening', id, code, message: messageOf(error) });
    });
  }

  unlisten(worker: ForkedProcess, id: number): void {
    this.#addresses.get(id)?.listeners.delete(worker);
  }

  taken(number: number): void {
    const given = this.#forget(number);
    // The worker has its own descriptor of the connection.
    given?.socket.destroy();
  }

  refused(number: number): void {
    const given = this.#forget(number);
    if (given) this.#give(given.id, given.socket);
  }

  /** A worker has ended, and everything that it has said was heard. */
  gone(worker: ForkedProcess): void {
    for (const { listeners } of this.#addresses.values()) listeners.delete(worker);
    for (const [number, given] of this.#given) if (given.worker === worker) this.refused(number);
  }

  /** Accepts no more connections. */
  close(): void {
    this.#isClosed = true;
    for (const { server, held } of this.#addresses.values()) {
      server.close();
      for (const socket of held.splice(0)) socket.destroy();
    }
  }

  #open(id: number, host: string, port: number): Address {
    const server = createServer({ pauseOnConnect: true });
    const address: Address = { server, listeners: new Map(), held: [] };
    this.#addresses.set(id, address);
    server.on('connection', (socket) => {
      socket.on('error', () => {});
      this.#give(id, socket);
    });
    // Accepting fails while there are no free file descriptors. The address survives that.
    server.on('error', () => {});
    server.listen(port, host);
    return address;
  }

  #give(id: number, socket: Socket): void {
    const address = this.#addresses.get(id);
    if (!address || this.#isClosed) return void socket.destroy();
    const worker = next(address);
    if (!worker) return hold(address, socket);
    this.#count += 1;
    const number = this.#count;
    this.#given.set(number, { id, worker, socket });
    address.listeners.set(worker, address.listeners.get(worker)! + 1);
    // Otherwise Node asks the workers about each connection when the server closes.
    Object.assign(socket, { server: undefined });
    worker.send({ of: 'workers', kind: 'connection', id, number }, socket, { keepOpen: true }, () => {});
  }

  #forget(number: number): GivenConnection | undefined {
    const given = this.#given.get(number);
    this.#given.delete(number);
    const listeners = given && this.#addresses.get(given.id)?.listeners;
    const waiting = given && listeners?.get(given.worker);
    if (waiting !== undefined) listeners!.set(given!.worker, waiting - 1);
    return given;
  }
}

interface Address {
  readonly server: Server;
  /** The workers that listen, in the order of their turns, and how many connections are on their way to each. */
  readonly listeners: Map<ForkedProcess, number>;
  /** Connections that came while no worker listened. */
  readonly held: Socket[];
}

interface GivenConnection {
  readonly id: number;
  readonly worker: ForkedProcess;
  readonly socket: Socket;
}

/** The worker whose turn it is. A worker that is busy with one thing takes no connections meanwhile. */
function next({ listeners }: Address): ForkedProcess | undefined {
  let found: ForkedProcess | undefined;
  let fewest = MAX_ON_THEIR_WAY;
  for (const [worker, count] of listeners) {
    if (worker.connected && count < fewest) [found, fewest] = [worker, count];
  }
  if (found) {
    listeners.delete(found);
    listeners.set(found, fewest);
  }
  return found;
}

/** A worker that is started in the place of another one takes a second or two. */
function hold({ held }: Address, socket: Socket): void {
  if (held.length >= MAX_HELD) return void socket.destroy();
  held.push(socket);
  systemClock.after(
    HOLD_MS,
    () => {
      const at = held.indexOf(socket);
      if (at < 0) return;
      held.splice(at, 1);
      socket.destroy();
    },
    { background: true },
  );
}

function send(worker: ForkedProcess, message: ToWorker): void {
  if (worker.connected) worker.send(message, () => {});
}

const MAX_ON_THEIR_WAY = 1024;
const MAX_HELD = 1024;
const HOLD_MS = 10_000;
