import type { Decoded, JsonRpcMessage, RequestId } from '../wire/json-rpc.js';
import type { OutgoingCall } from './call.js';
import type { ConnectionEnd } from './connection.js';

/**
 * Sees what goes over connections, byte for byte. An option of connectors and listeners: without it a frame costs one
 * comparison more, and two taps in one process do not see each other's connections.
 */
export interface Tap {
  /** False: nothing is recorded at the moment. */
  readonly isOn: boolean;
  open(connection: TappedConnection): TapLine;
}

export interface TappedConnection {
  readonly label: string;
  /** `client`: its peer is a client. `upstream`: its peer is a server. */
  readonly side: 'client' | 'upstream';
  readonly transport: 'stdio' | 'unix' | 'tcp' | 'http' | 'memory';
  readonly pid?: number | undefined;
  /** The number of the start of the process, if a host counts them. */
  readonly generation?: number | undefined;
  readonly principal?: string | undefined;
}

/** Where a frame goes, on every connection: to the server, or to the client. */
export type FrameDirection = 'to-server' | 'to-client';

/** What HTTP adds to a frame. */
export interface TappedHttp {
  readonly method?: string;
  /** Without the query, which may hold secrets. */
  readonly path?: string;
  readonly status?: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The id of the event, where the message came on a stream. */
  readonly event?: string;
}

/** One tapped connection. */
export interface TapLine {
  /** Text that leaves, without its line ending. `message`: what it says, where that is known already. */
  sent(text: string, message?: JsonRpcMessage | Decoded, http?: TappedHttp): void;
  /** What arrived, without its line ending. */
  received(data: string | Buffer, message?: Decoded, http?: TappedHttp): void;
  /** HTTP without a message: a stream that opens, a bare status. `body`: its beginning. */
  http(direction: FrameDirection, facts: TappedHttp, body?: Buffer): void;
  stderr(text: string): void;
  /** The request with this id belongs to the call with this number, as do its answer and all that is about it. */
  relate(direction: FrameDirection, id: RequestId, number: number): void;
  /** The number of the call that a request to the server belongs to. */
  numberOf(id: RequestId): number | undefined;
  end(end: ConnectionEnd): void;
}

/** Tells the tap of a connection which call a request belongs to, before it is sent. */
export function tellNumber(tap: TapLine, id: RequestId, call: OutgoingCall): void {
  const number = call.number ?? call.behalf?.number;
  if (number !== undefined) tap.relate('to-server', id, number);
}

/** The line of one connection. It is opened when something happens while the tap is on. */
export class LazyLine {
  readonly #tap: Tap;
  readonly #connection: TappedConnection;
  #line: TapLine | undefined;

  constructor(tap: Tap, connection: TappedConnection) {
    this.#tap = tap;
    this.#connection = connection;
  }

  get line(): TapLine | undefined {
    if (!this.#tap.isOn) return undefined;
    this.#line ??= this.#tap.open(this.#connection);
    return this.#line;
  }

  end(end: ConnectionEnd): void {
    this.#line?.end(end);
  }
}
