import type { JsonObject } from '../wire/json-rpc.js';
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
}

/** A request without its era: what a service handles and what a caller makes. */
export interface Call {
  readonly method: string;
  readonly params: JsonObject;
  readonly peer: Peer;
  /** Aborted when the peer cancels, the connection dies or the server stops. */
  readonly signal: AbortSignal;
  /** Answers to an earlier `inputRequired` of this same call (replay style). */
  readonly answers: InputResponses | undefined;
  /** The `state` that the earlier `inputRequired` carried. */
  readonly state: unknown;
  /** Reports progress when the peer asked for it. Values that do not rise are dropped (PROG-004). */
  progress(update: ProgressUpdate): void;
  /** Sends a log line when the peer wants this level. */
  log(entry: LogEntry): void;
  /** Puts a question to the peer: a real request in legacy, a parked round in modern. */
  ask(request: InputRequest): Promise<InputResponse>;
}

/** A request to be made. What a caller turns into messages of its era. */
export interface OutgoingCall {
  readonly method: string;
  readonly params: JsonObject;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Progress restarts the timeout, up to this in all. Equal to `timeoutMs`: it does not. */
  readonly maxTimeoutMs: number;
  readonly onProgress?: ((update: ProgressUpdate) => void) | undefined;
  readonly onLog?: ((entry: LogEntry) => void) | undefined;
  /** Modern: the level asked for with this request. */
  readonly logLevel?: LoggingLevel | undefined;
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
  ): Promise<OpenListen>;
  /** Legacy: the level for the session. Modern: the level of calls that name none. */
  setLogLevel(level: LoggingLevel, timeoutMs: number): Promise<void>;
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
  headerParams?(tool: string): readonly HeaderParam[];
  /** Calls back on every change until the returned function is called. */
  watch(onChange: (change: Change) => void): () => void;
}
