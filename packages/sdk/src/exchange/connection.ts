import type { Cluster } from '../cluster/cluster.js';
import type { IsthmusError } from '../errors.js';
import type {
  Decoded,
  DecodedNotification,
  JsonObject,
  JsonRpcMessage,
  RequestId,
} from '../wire/json-rpc.js';
import type { ClientCapabilities } from '../wire/model.js';
import type { Era, HeaderParam, RequestEnvelope, RequestFacts } from './call.js';
import type { TapLine } from './tap.js';

/**
 * A connection moves messages. It knows framing and backpressure, not MCP. Answers that are sent in one turn of the
 * event loop leave in one write. While the peer does not read, the connection stops reading.
 */
export interface Connection {
  /** For people: `stdio`, `unix:/run/x.sock`, `tcp://127.0.0.1:4000`. */
  readonly label: string;
  /** The principal at the other end, if the transport has authenticated it. */
  readonly principal: string | undefined;
  /** The address of the other end, if the transport has addresses; see `clientKey`. */
  readonly remote?: string | undefined;
  /** True while too much output waits for the peer: do not start work that would add to it. */
  readonly congested: boolean;
  /** While held, nothing is read, as if the output were full. Messages that were read already are still delivered. */
  hold(held: boolean): void;
  /** How many messages were given to `send`, if the transport counts them. */
  readonly sent?: number;
  /** How many of them the transport has begun to write. The others have certainly not reached the peer. */
  readonly begun?: number;
  /** How much was sent and not yet read by the peer, in bytes or characters, if the transport counts it. */
  readonly unread?: number;
  /** Rises whenever the peer reads something. */
  readonly progress?: number;
  /** Settles at the peer's first sign of life. A process may take long to start. */
  readonly life: Promise<void>;
  /** True if every request is answered or fails, however late: a timeout then says nothing about the peer. */
  readonly answersAll?: boolean;
  /** False when no more requests can be sent, though those in flight may still be answered. */
  readonly usable?: boolean;
  /**
   * A session that another process has served before has a higher epoch: its requests get ids that the earlier process
   * has not used, so that late answers do not meet the wrong question. Undefined: the first.
   */
  readonly epoch?: number;
  /** True if the connection ends with the requests that opened it: later notifications cannot arrive. */
  readonly brief?: boolean;
  /** True if it decides itself which requests it still takes while the server stops. */
  readonly takesLate?: boolean;
  /** False while messages that belong to no request have to wait until the peer opens a stream for them. */
  readonly hasStanding?: boolean;
  /** The envelope of its only request, if the transport has read it. It is not read again. */
  readonly envelope?: RequestEnvelope | undefined;
  /** Where its frames are recorded, while they are. */
  readonly tap?: TapLine | undefined;
  /** The HTTP request that carried a request, while it has no answer. Not on other transports. */
  factsOf?(id: RequestId): RequestFacts | undefined;
  /** Starts the delivery of messages. Called once. */
  open(receiver: Receiver): void;
  /**
   * Queues a message. Throws `NOT_ENCODABLE`, and `BUSY` for a request when too much output waits for the peer. After
   * the end the message is silently dropped. `about` is the peer's request that the message belongs to, if any: over
   * HTTP the message leaves on the stream of that request.
   */
  send(message: JsonRpcMessage, about?: RequestId): void;
  /**
   * Queues a request that is already one line of JSON text, if the transport can. For load generators, which send the
   * same text again and again. Throws `BUSY` as `send` does.
   */
  sendRequestText?(text: string): void;
  /** Removes a message from the queue, by its number (`sent` right after `send`). False: it may have left. */
  withdraw?(number: number): boolean;
  /** Writes the queue out, then closes. Always settles, within a bound, even if the peer never reads again. */
  finish(): Promise<void>;
  /** Closes at once and drops the queue. A second call is harmless. */
  close(): void;
  /** Settles when both directions are closed, never rejects. */
  readonly closed: Promise<ConnectionEnd>;
  /** True once it is closed. A transport may leave this out; `closed` always settles. */
  readonly isOver?: boolean;
  /** Calls back at the moment of its end, without a promise. For connections of one request; not on other transports. */
  onOver?(callback: (end: ConnectionEnd) => void): void;
}

/** Why a connection ended. `lost`: the peer disconnected (EPIPE, reset). */
export interface ConnectionEnd {
  readonly kind: 'finished' | 'closed' | 'lost';
  /** The cause, if it is known: a reset, a process that exited. */
  readonly error?: Error | undefined;
}

/** What a connection delivers to. */
export interface Receiver {
  /**
   * `about` is our request on whose stream the message came, if each request has its own stream. `bytes` is the length
   * of the message, if it is known.
   */
  receive(message: Decoded, about?: RequestId, bytes?: number): void;
  /** The peer sends nothing more. It may still read. */
  inputEnded(): void;
  /** The peer has read, and the output has room again: start the work that waited for it. */
  drained(): void;
  /** The session was served by another process until now: the peer may have missed changes. */
  missed?(): void;
  /** Another process serves the session from now on, and gets the answers of the peer. Calls that run here go on. */
  lost?(): void;
  /** One request of ours failed, and the connection goes on. Over HTTP each request can fail on its own. */
  failed?(id: RequestId, error: IsthmusError): void;
}

/** Opens connections to one server. Each call opens a new one (for a command: a new process). */
export interface Connector {
  /** For people and errors. */
  readonly label: string;
  /** The key under which the era of this server is remembered; `undefined`: it is not remembered. */
  readonly identity: string | undefined;
  /** True if the server is at an address, and does not end with this process. */
  readonly isRemote?: boolean | undefined;
  /** Extensions that its connections use, such as a way to log in. The client declares them. */
  readonly extensions?: ClientCapabilities['extensions'] | undefined;
  connect(): Connection | Promise<Connection>;
}

/** Accepts connections at an address. */
export interface Listener {
  /** True if the connection is the process's own stdin and stdout: the process ends with it. */
  readonly ownsProcess: boolean;
  listen(accept: (connection: Connection) => void, served: ServedFacts): Promise<Listening>;
}

/** What a listener knows of the service, to tell the eras apart and to check headers. */
export interface ServedFacts {
  readonly eras: readonly Era[];
  headerParams(tool: string, principal?: string): readonly HeaderParam[];
  /** Takes a modern notification that the core protocol does not define. */
  notify?(notification: DecodedNotification, principal: string | undefined, remote: string | undefined): void;
  /** True for a method of the protocol whose capability is declared: its errors come from the handler. */
  knows(method: string): boolean;
  /** The cluster that this process belongs to. */
  readonly cluster?: Cluster | undefined;
  /** The member of the cluster that serves a request. Undefined: any member can. */
  home?(request: HomeRequest): string | undefined;
}

/** What decides which member of a cluster serves a request. */
export interface HomeRequest {
  readonly method: string;
  readonly params: JsonObject | undefined;
  readonly principal: string | undefined;
  /** Members that cannot be reached. */
  readonly except?: ReadonlySet<string> | undefined;
}

export interface Listening {
  /** The address with the real port: `tcp://127.0.0.1:49152`. */
  readonly address: string;
  /** Settles when no further connection can arrive. */
  readonly ended: Promise<void>;
  /** Stops accepting and frees the address. Open connections go on. A second call is harmless. */
  stop(): Promise<void>;
  /** Settles when no other process works on a request that came here. Called after `stop`. */
  idle?(): Promise<void>;
  /** Called when all connections are over: closes their sockets, within a bound. */
  release?(): Promise<void>;
}
