import type { IsthmusError } from '../errors.js';
import type { Decoded, JsonRpcMessage, RequestId } from '../wire/json-rpc.js';
import type { Era, HeaderParam } from './call.js';

/**
 * A connection moves messages and nothing else. It knows framing and backpressure, not MCP. Answers sent in
 * one turn of the event loop leave in one write; while the peer does not read, the connection stops reading.
 */
export interface Connection {
  /** What a person would call it: `stdio`, `unix:/run/x.sock`, `tcp://127.0.0.1:4000`. */
  readonly label: string;
  /** Who is on the other end, where the transport has authenticated it. */
  readonly principal: string | undefined;
  /** The address of the other end, where the transport has addresses; see `clientKey`. */
  readonly remote?: string | undefined;
  /** True while output is piling up: do not start work that would add to it. */
  readonly congested: boolean;
  /** While held nothing is read, as if the output were full. What was read already is still delivered. */
  hold(held: boolean): void;
  /** How many messages were given to `send`; where it is counted. */
  readonly sent?: number;
  /** How many of them have begun to leave; the others certainly did not reach the peer. */
  readonly begun?: number;
  /** How much was sent and not yet read by the peer, in bytes or characters; where it is counted. */
  readonly unread?: number;
  /** Goes up whenever the peer reads something. */
  readonly progress?: number;
  /** Settles at the peer's first sign of life; a process may be long in starting. */
  readonly life: Promise<void>;
  /** Every request is answered or fails, however late: silence says nothing about the peer. */
  readonly answersAll?: boolean;
  /** False when nothing more can be asked here, though what is in flight may still be answered. */
  readonly usable?: boolean;
  /** It ends with the requests that it came with: news that belongs to none of them cannot arrive. */
  readonly brief?: boolean;
  /** Starts delivery. Called once. */
  open(receiver: Receiver): void;
  /**
   * Queues a message. Throws `NOT_ENCODABLE`, and `BUSY` for a request when too much waits to be read by the peer;
   * after the end it is silently dropped. `about` is the request of the peer that the message belongs to, where it
   * belongs to one: over HTTP it leaves on the stream of that request.
   */
  send(message: JsonRpcMessage, about?: RequestId): void;
  /**
   * Queues a request that is JSON text already, on one line; where the transport can. For a driver of load, which sends
   * the same text again and again. Throws `BUSY` as `send` does.
   */
  sendRequestText?(text: string): void;
  /** Takes a message out of the queue, by its number (`sent` right after it was sent). False: it may have left. */
  withdraw?(number: number): boolean;
  /** Writes out what is queued, then closes. Always settles, also when the peer never reads again (bounded). */
  finish(): Promise<void>;
  /** Closes at once; what is queued is lost. Twice is harmless. */
  close(): void;
  /** Settles when both directions are closed, never rejects. */
  readonly closed: Promise<ConnectionEnd>;
  /** Known to be closed already; where it is not told, `closed` says it. */
  readonly isOver?: boolean;
}

/** Why a connection ended. `lost` means the peer went away under us (EPIPE, reset). */
export interface ConnectionEnd {
  readonly kind: 'finished' | 'closed' | 'lost';
  /** What is known of the cause: a reset, a process that exited. */
  readonly error?: Error | undefined;
}

/** What a connection delivers to. */
export interface Receiver {
  /**
   * `about` is the request of ours on whose stream it came, where each has its own. `bytes` is the length of the
   * message, where it is known.
   */
  receive(message: Decoded, about?: RequestId, bytes?: number): void;
  /** The peer will send nothing more; it may still read. */
  inputEnded(): void;
  /** Something was taken by the peer and output has room: start what waited for it. */
  drained(): void;
  /** One request of ours will have no answer, though the connection lives on (over HTTP each has a fate of its own). */
  failed?(id: RequestId, error: IsthmusError): void;
}

/** Opens connections to one place; each call opens a fresh one (for a command: a fresh process). */
export interface Connector {
  /** What a person would call it; named in errors. */
  readonly label: string;
  /** What the era of this server may be remembered by; `undefined`: not at all. */
  readonly identity: string | undefined;
  connect(): Connection | Promise<Connection>;
}

/** Accepts connections at an address. */
export interface Listener {
  /** True when the connection is the process's own stdin and stdout: its end is the end of the process. */
  readonly ownsProcess: boolean;
  listen(accept: (connection: Connection) => void, served: ServedFacts): Promise<Listening>;
}

/** What a listener may have to know of what is served behind it, to tell the eras apart and to check headers. */
export interface ServedFacts {
  readonly eras: readonly Era[];
  headerParams(tool: string, principal?: string): readonly HeaderParam[];
  /** A method of the protocol whose capability is declared: what it fails with is the handler's word. */
  knows(method: string): boolean;
}

export interface Listening {
  /** Where it listens, with the real port: `tcp://127.0.0.1:49152`. */
  readonly address: string;
  /** Settles when no further connection can arrive. */
  readonly ended: Promise<void>;
  /** Stops accepting and frees the address. Open connections are not touched. Twice is harmless. */
  stop(): Promise<void>;
  /** All connections are over: closes what is still open below them, within a bound. */
  release?(): Promise<void>;
}
