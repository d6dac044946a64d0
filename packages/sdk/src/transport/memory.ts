import { createDeferred } from '../async/deferred.js';
import { serveConnection } from '../era/connection-driver.js';
import { createModernServerState, type ModernServerState } from '../era/modern/server-state.js';
import { resolveServing, type ServingSettings } from '../era/serving-settings.js';
import { IsthmusError } from '../errors.js';
import type { Service } from '../exchange/call.js';
import type { Connection, ConnectionEnd, Connector, Listener, Receiver } from '../exchange/connection.js';
import { decodeValue, encodeMessage } from '../wire/codec.js';
import type { JsonRpcMessage } from '../wire/json-rpc.js';

/** A server in the same process. Messages cross as JSON text, so both sides own what they hold. */
export interface MemoryLink extends Listener, Connector {
  /** Opens a connection to whoever serves this link. */
  connect(): MemoryConnection;
}

export interface MemoryConnection extends Connection {
  /** Half-close: nothing more will be sent, answers still arrive. */
  endInput(): void;
}

/** With a `service` it is served at the first connection; without, by whoever calls `serve(…, link)`. */
export function memory(service?: Service, options?: Partial<ServingSettings>): MemoryLink {
  let runtime: ModernServerState | undefined;
  const acceptSelf = (connection: Connection) => {
    runtime ??= createModernServerState(resolveServing(options));
    serveConnection(connection, service!, runtime);
  };
  let accept: ((connection: Connection) => void) | undefined;
  return {
    ownsProcess: false,
    label: 'memory',
    identity: undefined,
    async listen(onConnection) {
      if (accept) throw new IsthmusError('ADDRESS_UNAVAILABLE', 'This memory link is served already');
      const ended = createDeferred<void>();
      accept = onConnection;
      return {
        address: 'memory',
        ended: ended.promise,
        async stop() {
          accept = undefined;
          ended.resolve();
        },
      };
    },
    connect() {
      const serveIt = accept ?? (service && acceptSelf);
      if (!serveIt) throw new IsthmusError('ADDRESS_UNAVAILABLE', 'Nobody serves this memory link');
      const [client, server] = memoryPair();
      serveIt(server);
      return client;
    },
  };
}

/** Two ends of one connection: what one sends, the other receives. */
export function memoryPair(): [MemoryConnection, MemoryConnection] {
  const left = new MemoryEnd();
  const right = new MemoryEnd();
  left.join(right);
  right.join(left);
  return [left, right];
}

class MemoryEnd implements MemoryConnection {
  readonly label = 'memory';
  readonly principal = undefined;
  readonly congested = false;
  readonly closed: Promise<ConnectionEnd>;
  readonly life: Promise<void> = Promise.resolve();
  readonly #end = createDeferred<ConnectionEnd>();
  #peer!: MemoryEnd;
  #receiver: Receiver | undefined;
  #inbox: (() => void)[] = [];
  #deliveryDue = false;
  #open = true;
  #held = false;

  constructor() {
    this.closed = this.#end.promise;
  }

  join(peer: MemoryEnd): void {
    this.#peer = peer;
  }

  open(receiver: Receiver): void {
    this.#receiver = receiver;
    this.#schedule();
  }

  hold(held: boolean): void {
    this.#held = held;
    this.#schedule();
  }

  send(message: JsonRpcMessage): void {
    if (!this.#open) return;
    const text = encodeMessage(message);
    this.#peer.#post((receiver) => receiver.receive(decodeValue(JSON.parse(text)), undefined, text.length));
  }

  endInput(): void {
    if (this.#open) this.#peer.#post((receiver) => receiver.inputEnded());
  }

  async finish(): Promise<void> {
    this.#shut({ kind: 'finished' });
  }

  close(): void {
    this.#shut({ kind: 'closed' });
  }

  #post(deliver: (receiver: Receiver) => void): void {
    this.#inbox.push(() => deliver(this.#receiver!));
    this.#schedule();
  }

  #schedule(): void {
    if (this.#deliveryDue || this.#held || !this.#receiver) return;
    this.#deliveryDue = true;
    queueMicrotask(() => {
      this.#deliveryDue = false;
      while (this.#open && !this.#held && this.#inbox.length > 0) this.#inbox.shift()!();
    });
  }

  #shut(end: ConnectionEnd): void {
    if (!this.#open) return;
    this.#open = false;
    this.#end.resolve(end);
    // The other end sees it after everything that was sent before.
    this.#peer.#post((receiver) => receiver.inputEnded());
    this.#peer.#post(() => this.#peer.#shut({ kind: 'finished' }));
  }
}
