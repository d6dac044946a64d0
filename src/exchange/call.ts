import type { JsonObject } from '../wire/json-rpc.js';
import type {
  CacheHints,
  ClientCapabilities,
  Implementation,
  InputRequest,
  InputResponse,
  InputResponses,
  LogEntry,
  ProgressUpdate,
  ServerCapabilities,
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
  /** Calls back on every change until the returned function is called. */
  watch(onChange: (change: Change) => void): () => void;
}
