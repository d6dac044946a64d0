import { createDeferred } from '../async/deferred.js';
import { serveConnection } from '../era/connection-driver.js';
import { createModernServerState, type ModernServerState } from '../era/modern/server-state.js';
import { resolveServing, type ServingSettings } from '../era/serving-settings.js';
import { IsthmusError } from '../errors.js';
import type { Service } from '../exchange/call.js';
import type { Connection, ConnectionEnd, Connector, Listener, Receiver } from '../exchange/connection.js';
import { LazyLine, type Tap, type TapLine } from '../exchange/tap.js';
import { decodeValue, encodeMessage } from '../wire/codec.js';
import type { JsonRpcMessage } from '../wire/json-rpc.js';

/** Connects to a server in the same process. Messages cross as JSON text, so the two sides share no objects. */
export interface MemoryLink extends Listener, Connector {
  /** Opens a connection to the server of this link. */
  connect(): MemoryConnection;
}

export interface MemoryConnection extends Connection {
  /** Half-close: this side sends nothing more, and still receives answers. */
  endInput(): void;
}

/** What the connections of a link have besides their two ends. */
export interface MemoryLinkOptions {
  /** Sees what goes over the connections. */
  readonly tap?: Tap | undefined;
  /** Whom the server takes its client for. */
  readonly principal?: string | undefined;
}

/** With a `service`, the first connection starts to serve it. Without, `serve(…, link)` does. */
export function memory(
  service?: Service,
  options?: Partial<ServingSettings>,
  link: MemoryLinkOptions = {},
): MemoryLink {
  let state: ModernServerState | undefined;
  const serveOwn = (connection: Connection) => {
    state ??= createModernServerState(resolveServing(options));
    serveConnection(connection, service!, state);
  };
  let accept: ((connection: Connection) => void) | undefined;
  return {
    ownsProcess: false,
    label: 'memory',
    identity: undefined,
    async listen(onConnection) {
      if (accept)
        throw new IsthmusError(
          'ADDRESS_UNAVAILABLE',
          'This memory link is served already; make one link for each server',
        );
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
      const serve = accept ?? (service && serveOwn);
      if (!serve) {
        throw new IsthmusError(
          'ADDRESS_UNAVAILABLE',
          'This memory link has no server; call serve(…, link) first',
        );
      }
      const [client, server] = memoryPair(link);
      serve(server);
      return client;
    },
  };
}

/** Two ends of one connection: what one sends, the other receives. */
export function memoryPair(options: MemoryLinkOptions = {}): [MemoryConnection, MemoryConnection] {
  const { tap, principal } = options;
  const line = tap && new LazyLine(tap, { label: 'memory', side: 'client', transport: 'memory', principal });
  const left = new MemoryEnd(undefined, line, false);
  const right = new MemoryEnd(principal, line, true);
  left.join(right);
  right.join(left);
  return [left, right];
}

class MemoryEnd implements MemoryConnection {
  readonly label = 'memory';
  readonly principal: string | undefined;
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
  readonly #tapped: LazyLine | undefined;
  /** Only the end of the server records: both see the same. */
  readonly #records: boolean;

  constructor(principal: string | undefined, tapped: LazyLine | undefined, records: boolean) {
    this.principal = principal;
    this.closed = this.#end.promise;
    this.#tapped = tapped;
    this.#records = records;
  }

  get tap(): TapLine | undefined {
    return this.#tapped?.line;
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
    if (this.#tapped !== undefined) this.#record(text, message);
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

  /** Frames are recorded when they are sent: between the ends there is only a queue. */
  #record(text: string, message: JsonRpcMessage): void {
    if (this.#records) this.tap?.sent(text, message);
    else this.tap?.received(text);
  }

  #shut(end: ConnectionEnd): void {
    if (!this.#open) return;
    this.#open = false;
    if (this.#records) this.#tapped?.end(end);
    this.#end.resolve(end);
    // The other end learns of it after everything that was sent before.
    this.#peer.#post((receiver) => receiver.inputEnded());
    this.#peer.#post(() => this.#peer.#shut({ kind: 'finished' }));
  }
}
