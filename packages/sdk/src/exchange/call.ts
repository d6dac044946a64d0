import type { Cancellation } from '../async/abort.js';
import type { JsonObject, RequestId } from '../wire/json-rpc.js';
import type {
  CacheHints,
  ClientCapabilities,
  Implementation,
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  LoggingLevel,
  ProgressToken,
  ProgressUpdate,
  ServerCapabilities,
  SubscriptionFilter,
} from '../wire/model.js';
import type { LateResult } from './late-result.js';

/** Legacy: `initialize` and sessions, up to 2025-11-25. Modern: stateless, 2026-07-28. */
export type Era = 'legacy' | 'modern';

/** Who made a call: what this request, or the session that it belongs to, declares. */
export interface Peer {
  readonly era: Era;
  readonly revision: string;
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** The authenticated principal, if the transport knows one. Never taken from `info`. */
  readonly principal: string | undefined;
  /** The address of the client, if the transport has addresses; for fair limits (`clientKey`). */
  readonly remote?: string | undefined;
  /** What the token of a subscription may be used for. A call has that of its own request (`Call.request`). */
  readonly scopes?: readonly string[] | undefined;
  /** The OAuth client of a subscription, likewise. */
  readonly clientId?: string | undefined;
}

/** What the `_meta` of a modern request declares, read and checked. */
export interface RequestEnvelope {
  readonly peer: Peer;
  readonly logLevel: LoggingLevel | undefined;
  readonly progressToken: ProgressToken | undefined;
}

/** What HTTP tells of a request besides its message. */
export interface RequestFacts {
  /** Names in lower case. They hold credentials: do not log all of them. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the token may be used for, if `authenticate` says so. */
  readonly scopes: readonly string[] | undefined;
  /** The OAuth client that the token was issued to, if `authenticate` says so. */
  readonly clientId?: string | undefined;
  /** What the token says of its owner, if `authenticate` says so. */
  readonly claims: JsonObject | undefined;
  /** The legacy session. Modern requests belong to no session. */
  readonly sessionId: string | undefined;
  /** The member of the cluster that the client has sent it to, if that was another one. */
  readonly handedOnBy?: string | undefined;
}

/** A request while a service works on it, independent of the era. */
export interface Call {
  /** The client's id of the request that the call answers at the moment: for logs and traces. */
  readonly id?: RequestId | undefined;
  /** Its number in what a tap records, while one does: the same on both sides of a bridge. */
  readonly number?: number | undefined;
  readonly method: string;
  readonly params: JsonObject;
  readonly peer: Peer;
  /** The HTTP request that the call answers at the moment. Undefined on other transports. */
  readonly request?: RequestFacts | undefined;
  /** Aborted when the peer cancels, the connection dies or the server stops. */
  readonly signal: AbortSignal;
  /** The same for listeners only. Unlike `signal` it costs nothing to read. */
  readonly cancellation: Cancellation;
  /** Answers to an earlier `inputRequired` of this same call (replay style). */
  readonly answers: InputResponses | undefined;
  /** The `state` that the earlier `inputRequired` carried. */
  readonly state: unknown;
  /** The lowest log level that the peer wants, if it named one. */
  readonly logLevel: LoggingLevel | undefined;
  /** Whether the peer asked for progress. */
  readonly wantsProgress: boolean;
  // PROG-004
  /** Reports progress when the peer asked for it. Values that do not rise are dropped. */
  progress(update: ProgressUpdate): void;
  /** Sends a log line when the peer wants this level. */
  log(entry: LogEntry): void;
  /**
   * Asks the peer: a request of its own in legacy, a parked round in modern. With a signal the question lasts until that
   * is aborted; without one it ends with the call.
   */
  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse>;
  /** Sends a notification that the core protocol does not define, on the stream of this call. */
  notify(notification: ForeignNotification): void;
  /** The legacy session of the call, which may outlive it. */
  readonly session?: ServedSession | undefined;
  /** Set if the call runs as a task, or may become one. */
  readonly task?: CallTask | undefined;
  /** Called when the call becomes a task. It counts in limits until the slot is left, and not only until its answer. */
  outlive?(): OutlivingSlot | undefined;
}

/** The place of a call in a limit, after its answer. */
export interface OutlivingSlot {
  /** The client is asked something: others may use the place. */
  stepOut(): void;
  comeBack(): void;
  leave(): void;
  /** The task has ended in this state, with this error. Its handler may keep the place for a while. */
  ended?(status: EndedTaskStatus, error: string | undefined): void;
}

export type EndedTaskStatus = 'completed' | 'failed' | 'cancelled';

/** A call as a task. */
export interface CallTask {
  /** Undefined until the call is a task. */
  readonly id: string | undefined;
  /** Makes a task of the call, and returns its id. Undefined: the call stays as it is. */
  begin(told?: ToldTask): Promise<string | undefined>;
  /** Shows a message as the status of the task. */
  say(message: string): void;
  /** Keeps with the task what another process needs to go on with it when this one has ended. */
  keep(note: JsonObject): void;
}

/** What the server of a bridge has told of its own task, which the task of the client stands for. */
export interface ToldTask {
  /** It is kept for at least this time, within the bounds of the bridge. */
  readonly ttlMs: number;
  readonly pollIntervalMs: number | undefined;
  /** `_meta` of the answer. */
  readonly meta: JsonObject | undefined;
}

/** A notification that the core protocol does not define. An extension may. */
export interface ForeignNotification {
  readonly method: string;
  readonly params: JsonObject;
}

/** The client that a server is shown, where one caller makes calls for many clients. */
export interface CallerIdentity {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** The client that a call is made for, where one caller makes calls for many clients. */
export interface OnBehalfOf extends CallerIdentity {
  /** Calls with the same owner have the same peer: it can answer a question, whichever of these calls led to it. */
  readonly owner: object;
  /** The authenticated principal, if there is one. */
  readonly principal?: string | undefined;
  /** The key under which fair limits count it, see `clientKey`. */
  readonly client?: string | undefined;
  /** The session of that client, if the call belongs to one. */
  readonly session?: object | undefined;
  /** The number of its call in what a tap records. */
  readonly number?: number | undefined;
  answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  /** Hands on a notification of an extension that belongs to the call. */
  notify?(notification: ForeignNotification): void;
}

/** A request to send. A caller turns it into messages of its era. */
export interface OutgoingCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs: number;
  /** Progress restarts the timeout, up to this total. Equal to `timeoutMs`: progress does not restart it. */
  readonly maxTimeoutMs: number;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** The progress token, if several requests share one. Default: the id of the request. */
  readonly progressToken?: string | undefined;
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** The log level of this request. The level of a legacy session is lowered to it if needed. */
  readonly logLevel?: LoggingLevel | undefined;
  /** Undefined: the caller makes the call for itself. */
  readonly behalf?: OnBehalfOf | undefined;
  /** Returns an `input_required` result instead of answering it. */
  readonly manual?: boolean | undefined;
  /** `safe`: the call may be sent again after the connection was lost, because it can run twice without harm. */
  readonly retry?: 'safe' | undefined;
  /** Called for notifications of extensions that belong to this call. */
  readonly onNotification?: ((notification: ForeignNotification) => void) | undefined;
  /** Declares the extension for tasks with this request: the answer of a tool may be a task. */
  readonly takesTasks?: boolean | undefined;
  /** Called when the call takes a round: its result must not be cached (MRTR-029). */
  readonly onRound?: (() => void) | undefined;
  /** Its number in what a tap records. */
  readonly number?: number | undefined;
}

/** Makes calls in one era, over one connection. */
export interface Caller {
  readonly era: Era;
  readonly revision: string;
  readonly server: ServerFacts;
  call(call: OutgoingCall): Promise<JsonObject>;
  /** Opens a subscription. Settles when the server has acknowledged it, with the part that it honours. */
  listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen>;
  /** Legacy: the level of the session. Modern: the level of calls that name none. */
  setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void>;
  /** Legacy: tells the server that the roots have changed. */
  rootsChanged?(): void;
  /** Sends a notification that the core protocol does not define. */
  notify(notification: ForeignNotification): void;
}

export interface OpenListen {
  readonly honoured: SubscriptionFilter;
  readonly ended: Promise<ListenEnd>;
  stop(): void;
}

/** How a subscription ended; `error` is undefined after a regular end. */
export interface ListenEnd {
  readonly error: unknown;
}

/** What a server says about itself, in either era. */
export interface ServerFacts {
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** A tool argument that is repeated in the header `Mcp-Param-…`, so that proxies can route by it. */
export interface HeaderParam {
  readonly header: string;
  /** The path of member names inside the arguments. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** A change on the server's side that peers may have subscribed to. */
export type Change = ListChange | ResourceChange | ForeignChange;

export interface ListChange {
  readonly kind: 'tools' | 'prompts' | 'resources';
  readonly _meta?: JsonObject;
}

export interface ResourceChange {
  readonly kind: 'resource';
  readonly uri: string;
  readonly _meta?: JsonObject;
}

/** A notification of an extension, on a subscription that asked for it. */
export interface ForeignChange extends ForeignNotification {
  readonly kind: 'foreign';
}

/** The result of a call, at once or later. A `LateResult` costs less than a promise. */
export type HandledResult = JsonObject | Promise<JsonObject> | LateResult;

/**
 * Handles calls; knows nothing of eras and connections. Results are plain result objects without
 * `resultType`; a result with `resultType: "input_required"` asks for another round (see `InputRequired`).
 */
export interface Service {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  /** The same for one client, where clients may see different ones. */
  instructionsFor?(peer: Peer): string | undefined;
  /** How long a modern client may cache the discovery result. Default: not at all. */
  readonly discoveryCache: CacheHints | undefined;
  capabilities(): ServerCapabilities;
  handle(call: Call): HandledResult;
  /** The arguments of a tool that a modern HTTP client repeats in headers (`x-mcp-header`). */
  headerParams?(tool: string, principal?: string): readonly HeaderParam[];
  /**
   * Calls back on every change until the returned function is called; `onMissed` when changes may have been missed, where
   * they come from other processes.
   */
  watch(onChange: (change: Change) => void, onMissed?: () => void): () => void;
  /**
   * Awaited before a message is handled, if the service does not know its capabilities yet. Undefined: it knows them.
   * A rejection is the answer to the request.
   */
  ready?(message: EarlyMessage, principal: string | undefined): Promise<void> | undefined;
  /** Opens a subscription. Without this method the changes of `watch` are filtered. */
  listen?(peer: Peer, wanted: SubscriptionFilter, onChange: (change: Change) => void): Promise<OpenListen>;
  /**
   * Reports the states of tasks, the present ones first. `accepted` has the ids of those that this client may see
   * (TASK-M-063).
   */
  watchTasks?(
    peer: Peer,
    ids: readonly string[],
    onChange: (change: ForeignChange) => void,
  ): Promise<TaskWatch>;
  /** Called when the service begins to be served. */
  serving?(): Serving;
  /** A notification of a client that the core protocol does not define. */
  notify?(notification: ForeignNotification, peer: Peer): void;
  /** Called when a legacy session begins, if the service keeps something for each session. */
  session?(session: ServedSession): SessionKeeper;
}

/** A time for which a service is served. */
export interface Serving {
  /** Settles when no task runs that another process can tell about later. No more calls come. */
  idle(): Promise<void>;
  /** Called when it is served no more. */
  end(): Promise<void>;
}

/** The tasks that a subscription reports on. */
export interface TaskWatch {
  readonly accepted: readonly string[];
  /** Begins to report. */
  start(): void;
  stop(): void;
}

/** A message that a service may not be ready for yet. */
export interface EarlyMessage {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** A legacy session, as a service may use it outside of calls. */
export interface ServedSession {
  readonly peer: Peer;
  /** Whether the client can be sent messages that belong to no request, at the moment. */
  isReachable(): boolean;
  log(entry: LogEntry): void;
  ask(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  /** Notifies the client of a change, if the session declared that kind of change. */
  changed(change: Change): void;
  /** Sends a notification that the core protocol does not define. */
  notify(notification: ForeignNotification): void;
  /** The user has finished at the URL of an elicitation (2025-11-25). */
  elicited(elicitationId: string): void;
  /** Ends the session, as the client would. Its calls are cancelled. */
  end(): void;
}

/** What a service keeps for a legacy session. The session and its calls have the same `peer` object. */
export interface SessionKeeper {
  /** The client is ready for notifications and questions. */
  begin(): void;
  setLogLevel(level: LoggingLevel): Promise<void>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  rootsChanged(): void;
  end(): void;
}
