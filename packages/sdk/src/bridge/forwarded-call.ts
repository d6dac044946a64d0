import type { Cancellation } from '../async/abort.js';
import { META } from '../era/meta-keys.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call, Era, OnBehalfOf, OutgoingCall } from '../exchange/call.js';
import { clientKey } from '../exchange/client-key.js';
import { ErrorCode } from '../wire/error-codes.js';
import { isJsonObject, type JsonObject } from '../wire/json-rpc.js';
import type {
  ClientCapabilities,
  Implementation,
  InputRequest,
  InputResponse,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
} from '../wire/model.js';
import { RELATED_TASK } from './run-as-task.js';
import { noteElicitation } from './session-news.js';
import { asOwn } from './upstream-errors.js';
import { TASKS } from './upstream-facts.js';

/** How a call is to be made on the far side. */
export interface Forwarding {
  readonly params: JsonObject;
  readonly far: Era;
  /** Whose questions it answers: those of the call, or of the whole session that it belongs to. */
  readonly owner: object | undefined;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Whether the far side logs at all. */
  readonly logs: boolean;
  /** The token of several requests that are one call. */
  readonly progressToken?: string | undefined;
}

/** A call of a client, made to the upstream on its behalf. */
export class ForwardedCall implements OutgoingCall, OnBehalfOf {
  // All members of an `OutgoingCall` are its own, so that copies have them, too.
  readonly method: string;
  readonly params: JsonObject;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly manual = true;
  readonly retry: 'safe' | undefined;
  readonly signal: Cancellation;
  readonly logLevel: LoggingLevel | undefined;
  readonly onProgress: ((update: ProgressUpdate) => void) | undefined;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  readonly progressToken: string | undefined;
  readonly behalf: OnBehalfOf;
  readonly #call: Call;
  readonly #owner: object | undefined;
  /** The error that the client gets when the upstream fails because it could not ask (META-008). */
  refusal: ProtocolError | undefined;

  constructor(call: Call, forwarding: Forwarding, method = call.method) {
    const { params, owner, timeoutMs, maxTimeoutMs, logs } = forwarding;
    const isModern = call.peer.era === 'modern';
    this.method = method;
    this.params = params;
    this.timeoutMs = timeoutMs;
    this.maxTimeoutMs = call.wantsProgress ? maxTimeoutMs : timeoutMs;
    this.retry = SAFE.has(call.method) ? 'safe' : undefined;
    this.logLevel = call.logLevel;
    this.onProgress = call.wantsProgress ? (update) => call.progress(update) : undefined;
    const wantsLogs = logs && (!isModern || call.logLevel !== undefined);
    this.onLog = wantsLogs ? (entry) => call.log(entry) : undefined;
    this.progressToken = forwarding.progressToken;
    this.behalf = this;
    this.#call = call;
    this.#owner = owner;
    this.signal = call.cancellation;
  }

  get owner(): object {
    return this.#owner ?? this;
  }

  get principal(): string | undefined {
    return this.#call.peer.principal;
  }

  get session(): object | undefined {
    return this.#owner;
  }

  get client(): string {
    return clientKey(this.#call.peer);
  }

  get info(): Implementation | undefined {
    return this.#call.peer.info;
  }

  get capabilities(): ClientCapabilities {
    const { capabilities } = this.#call.peer;
    const { extensions, tasks, roots } = capabilities;
    const isPlain = extensions === undefined && tasks === undefined && !roots?.listChanged;
    return isPlain ? capabilities : carriedCapabilities(capabilities);
  }

  async answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse> {
    const { peer } = this.#call;
    // A client without roots has none. Servers that share their work by folders ask for them, and do without.
    if (request.method === 'roots/list' && !peer.capabilities.roots) return { roots: [] };
    noteElicitation(this.#owner, (request.params as JsonObject | undefined)?.['elicitationId']);
    try {
      return await this.#call.ask(nearQuestion(request, peer.era), signal);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== ErrorCode.MissingClientCapability) throw error;
      // Whether the call needs it is for the server to say: many go on without.
      this.refusal = asOwn(error);
      throw new IsthmusError('CAPABILITY_MISSING', error.message, { cause: error });
    }
  }
}

/** Tasks and changes of roots are not carried, so they are not declared to the upstream. */
export function carriedCapabilities(capabilities: ClientCapabilities): ClientCapabilities {
  const { tasks, extensions, roots, ...rest } = capabilities;
  const { [TASKS]: _tasks, ...others } = extensions ?? {};
  const carried: ClientCapabilities = rest;
  if (roots) carried.roots = {};
  if (Object.keys(others).length > 0) carried.extensions = others;
  return carried;
}

/** A token is valid for one hop only, clients of the bridge do not know of tasks, and the modern era has no `elicitationId` (ELIC-007). */
export function nearQuestion(request: InputRequest, near: Era): InputRequest {
  const params = request.params as JsonObject | undefined;
  if (params === undefined) return request;
  const { _meta, ...rest } = params;
  const { progressToken, [RELATED_TASK]: _task, ...meta } = (_meta ?? {}) as JsonObject;
  const kept: JsonObject = Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
  if (near === 'modern') delete kept['elicitationId'];
  if (request.method === 'roots/list' && Object.keys(kept).length === 0) return { method: 'roots/list' };
  return { method: request.method, params: kept } as InputRequest;
}

/** They change nothing: they may be made again when a connection was lost. */
const SAFE: ReadonlySet<string> = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
]);

/** The `_meta` key by which a modern client names one of several conversations that it has with the same server. */
export const CONVERSATION = 'isthmus/conversation';

/** The params of a call without what belongs to the near hop alone. */
export function carriedParams({ params, peer }: Call, far: Era): JsonObject {
  const carried: JsonObject = {};
  for (const key in params) {
    if (!OF_THE_HOP.has(key)) carried[key] = params[key];
  }
  const meta = carriedMeta(params['_meta']);
  if (meta) carried['_meta'] = meta;
  if (carried['cursor'] === EMPTY_CURSOR && peer.era === 'legacy' && far === 'modern') carried['cursor'] = '';
  return carried;
}

/** PAGE-004: an empty string is a cursor in the modern era; legacy clients take it for the end. */
export function carriedPage(result: JsonObject): JsonObject {
  return result['nextCursor'] === '' ? { ...result, nextCursor: EMPTY_CURSOR } : result;
}

/** Which of its conversations a modern client means, if it says so. */
export function conversationOf({ params }: Call): string | undefined {
  const meta = params['_meta'];
  const name = isJsonObject(meta) ? meta[CONVERSATION] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function carriedMeta(meta: unknown): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined;
  let carried: JsonObject | undefined;
  for (const key in meta) {
    if (ENVELOPE.has(key)) continue;
    carried ??= {};
    carried[key] = meta[key];
  }
  return carried;
}

/** The bridge declares no tasks to clients, so what a client sends about them is ignored (TASK-004). */
const OF_THE_HOP: ReadonlySet<string> = new Set(['_meta', 'inputResponses', 'requestState', 'task']);

const ENVELOPE: ReadonlySet<string> = new Set([
  ...[META.protocolVersion, META.clientInfo, META.clientCapabilities, META.logLevel],
  'progressToken',
  CONVERSATION,
]);

const EMPTY_CURSOR = 'isthmus:empty';
