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
  ProgressUpdate,
  ServerCapabilities,
  SubscriptionFilter,
} from '../wire/model.js';

export type Era = 'legacy' | 'modern';

/** Who made a call, as far as this one request says. */
export interface Peer {
  readonly era: Era;
  readonly revision: string;
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
  /** The authenticated principal, where the transport knows one. Never taken from `info`. */
  readonly principal: string | undefined;
  /** The address that it came from, where the transport has one; for limits that are fair (`clientKey`). */
  readonly remote?: string | undefined;
}

/** A request without its era: what a service handles and what a caller makes. */
export interface Call {
  /** The id of the request that it answers to at the moment, as its client has it: for logs and traces. */
  readonly id?: RequestId | undefined;
  readonly method: string;
  readonly params: JsonObject;
  readonly peer: Peer;
  /** Aborted when the peer cancels, the connection dies or the server stops. */
  readonly signal: AbortSignal;
  /** The same, for those who only want to be told: it costs nothing to have. */
  readonly cancellation: Cancellation;
  /** Answers to an earlier `inputRequired` of this same call (replay style). */
  readonly answers: InputResponses | undefined;
  /** The `state` that the earlier `inputRequired` carried. */
  readonly state: unknown;
  /** The level from which on the peer wants logs, where it said so. */
  readonly logLevel: LoggingLevel | undefined;
  /** Whether the peer wants to hear of progress. */
  readonly wantsProgress: boolean;
  /** Reports progress when the peer asked for it. Values that do not rise are dropped (PROG-004). */
  progress(update: ProgressUpdate): void;
  /** Sends a log line when the peer wants this level. */
  log(entry: LogEntry): void;
  /** Puts a question to the peer: a real request in legacy, a parked round in modern. Its own signal, if it has one, takes it back; otherwise it ends with the call. */
  ask(request: InputRequest, signal?: AbortSignal): Promise<InputResponse>;
}

/** Who a server is told is there, where one caller speaks for many. */
export interface CallerIdentity {
  readonly info: Implementation | undefined;
  readonly capabilities: ClientCapabilities;
}

/** Whom a call is made for, where one caller speaks for many: what the server is told of them, how they are asked. */
export interface OnBehalfOf extends CallerIdentity {
  /** Calls that have the same one have the same peer, which takes a question whichever call it belongs to. */
  readonly owner: object;
  /** The authenticated principal, where there is one. */
  readonly principal?: string | undefined;
  /** The name under which fair limits count it, see `clientKey`. */
  readonly client?: string | undefined;
  /** Which session of that client it belongs to, if it belongs to one. */
  readonly session?: object | undefined;
  answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
}

/** A request to be made. What a caller turns into messages of its era. */
export interface OutgoingCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal?: Cancellation | undefined;
  readonly timeoutMs: number;
  /** Progress restarts the timeout, up to this in all. Equal to `timeoutMs`: it does not. */
  readonly maxTimeoutMs: number;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  /** The token to report under, where several requests have to have the same one. Default: the id of the request. */
  readonly progressToken?: string | undefined;
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** The level asked for with this request; a legacy session is made at least as talkative. */
  readonly logLevel?: LoggingLevel | undefined;
  /** Undefined: the caller makes it for itself. */
  readonly behalf?: OnBehalfOf | undefined;
  /** Hands `input_required` to the caller instead of answering it. */
  readonly manual?: boolean | undefined;
  /** It may be made again when the connection was lost while it ran: it does no harm to do it twice. */
  readonly retry?: 'safe' | undefined;
  /** Told when the call takes a round: its result must not be cached (MRTR-029). */
  readonly onRound?: (() => void) | undefined;
}

/** Makes calls in one era, over one connection. */
export interface Caller {
  readonly era: Era;
  readonly revision: string;
  readonly server: ServerFacts;
  call(call: OutgoingCall): Promise<JsonObject>;
  /** Opens a subscription; settles when the server has confirmed it, with what it will tell. */
  listen(
    wanted: SubscriptionFilter,
    onChange: (change: Change) => void,
    timeoutMs: number,
    as?: CallerIdentity,
  ): Promise<OpenListen>;
  /** Legacy: the level for the session. Modern: the level of calls that name none. */
  setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void>;
  /** Legacy: the roots are others than before. */
  rootsChanged?(): void;
}

export interface OpenListen {
  readonly honoured: SubscriptionFilter;
  readonly ended: Promise<ListenEnd>;
  stop(): void;
}

/** How a subscription ended: in good order, or why not. */
export interface ListenEnd {
  readonly error: unknown;
}

/** What a server says about itself, in either era. */
export interface ServerFacts {
  readonly info: Implementation | undefined;
  readonly capabilities: ServerCapabilities;
  readonly instructions: string | undefined;
}

/** An argument that travels in the header `Mcp-Param-…`, too, so that others can route by it. */
export interface HeaderParam {
  readonly header: string;
  /** Where it is among the arguments. */
  readonly path: readonly string[];
  readonly type: 'string' | 'integer' | 'boolean';
}

/** Something that changed on the serving side and that peers may have asked to hear of. */
export type Change =
  | { readonly kind: 'tools' }
  | { readonly kind: 'prompts' }
  | { readonly kind: 'resources' }
  | { readonly kind: 'resource'; readonly uri: string };

/**
 * Handles calls; knows nothing of eras and connections. Results are plain result objects without
 * `resultType`; a result with `resultType: "input_required"` asks for another round (see `InputRequired`).
 */
export interface Service {
  readonly info: Implementation;
  readonly instructions: string | undefined;
  /** How long a modern client may keep the discovery result; not at all by default. */
  readonly discoveryCache: CacheHints | undefined;
  capabilities(): ServerCapabilities;
  handle(call: Call): JsonObject | Promise<JsonObject>;
  /** The arguments of a tool that a modern HTTP client repeats in headers (`x-mcp-header`). */
  headerParams?(tool: string, principal?: string): readonly HeaderParam[];
  /** Calls back on every change until the returned function is called. */
  watch(onChange: (change: Change) => void): () => void;
  /**
   * Waited for before a request is looked at, where the service has yet to find out what it can do. Undefined: it
   * knows. What it rejects with is the answer to the request.
   */
  ready?(opening: EarlyMessage, principal: string | undefined): Promise<void> | undefined;
  /** Opens a subscription; without it what `watch` tells is filtered. */
  listen?(peer: Peer, wanted: SubscriptionFilter, onChange: (change: Change) => void): Promise<OpenListen>;
  /** A legacy session has begun: what the service keeps for it. Without it a session is nothing but its calls. */
  session?(session: ServedSession): SessionKeeper;
}

/** A message that a service may not be ready for yet. */
export interface EarlyMessage {
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** A legacy session, as a service may use it outside of calls. */
export interface ServedSession {
  readonly peer: Peer;
  log(entry: LogEntry): void;
  ask(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  /** Tells of a change, if the session may hear of it. */
  changed(change: Change): void;
  /** The user is done at the page that a question was about (2025-11-25). */
  elicited(elicitationId: string): void;
}

/** What a service does for a legacy session. Its peer is the same object as that of the session's calls. */
export interface SessionKeeper {
  /** The client is ready to be told and asked. */
  begin(): void;
  setLogLevel(level: LoggingLevel): Promise<void>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  rootsChanged(): void;
  end(): void;
}
