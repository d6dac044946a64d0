import type { Cancellation } from '../async/abort.js';
import type { Clock } from '../async/clock.js';
import { TASKS_EXTENSION, takesTasks, withoutExtension } from '../era/extensions.js';
import { META } from '../era/meta-keys.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call, Era, ForeignNotification, OnBehalfOf, OutgoingCall } from '../exchange/call.js';
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
import { noteElicitation } from './session-changes.js';
import { markForClient } from './upstream-errors.js';
import type { UpstreamFacts, UpstreamTools } from './upstream-facts.js';

/** How calls are made to the upstream. */
export interface ForwardContext {
  readonly upstream: UpstreamFacts;
  readonly tools: UpstreamTools;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** Calls of clients that take tasks may go on for long. */
  readonly promoteAfterMs: number | undefined;
  /** Names the server, if it does not end with this process. */
  readonly place: string | undefined;
  /** Removes secrets from errors of the connection that clients get. */
  readonly clean: (text: string) => string;
}

/** One of the requests of a call that runs as a task. They share one progress token. */
interface TaskRequest {
  readonly method: string;
  readonly progressToken: string | undefined;
  /** The request is made although the call is cancelled. */
  readonly isDetached?: boolean;
}

/** A call of a client, made to the upstream on its behalf. */
export class ForwardedCall implements OutgoingCall, OnBehalfOf {
  // The members of `OutgoingCall` are own properties, so that a spread copies them.
  readonly method: string;
  readonly params: JsonObject;
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly manual = true;
  readonly retry: 'safe' | undefined;
  readonly signal: Cancellation | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly onProgress: ((update: ProgressUpdate) => void) | undefined;
  readonly onLog: ((entry: LogEntry) => void) | undefined;
  readonly progressToken: string | undefined;
  readonly behalf: OnBehalfOf;
  readonly #call: Call;
  readonly #owner: object | undefined;
  readonly #declaresTasks: boolean;
  #client: string | undefined;
  /** The error that the client gets when the upstream fails because it could not ask (META-008). */
  refusal: ProtocolError | undefined;

  /** `owner`: the session whose questions go to the client. Undefined: only the questions of the call itself do. */
  constructor(
    call: Call,
    params: JsonObject,
    owner: object | undefined,
    { upstream, timeoutMs, maxTimeoutMs, promoteAfterMs }: ForwardContext,
    ofTask?: TaskRequest,
  ) {
    const isModern = call.peer.era === 'modern';
    const logs = upstream.capabilities.logging !== undefined;
    this.method = ofTask?.method ?? call.method;
    this.params = params;
    const { task } = call;
    const isQuick = ofTask !== undefined && QUICK.has(ofTask.method);
    const mayTakeLong = task !== undefined && (promoteAfterMs !== undefined || task.id !== undefined);
    const isLong = mayTakeLong && !isQuick;
    const wantsProgress = isLong || (call.wantsProgress && !isQuick);
    this.timeoutMs = isLong ? maxTimeoutMs : timeoutMs;
    this.maxTimeoutMs = wantsProgress ? maxTimeoutMs : timeoutMs;
    this.retry = SAFE.has(this.method) ? 'safe' : undefined;
    this.logLevel = call.logLevel;
    this.onProgress = wantsProgress ? (update) => call.progress(update) : undefined;
    const wantsLogs = logs && !isQuick && (!isModern || call.logLevel !== undefined);
    this.onLog = wantsLogs ? (entry) => call.log(entry) : undefined;
    this.progressToken = isQuick ? undefined : ofTask?.progressToken;
    this.behalf = this;
    this.#call = call;
    this.#owner = owner;
    this.signal = ofTask?.isDetached ? undefined : call.cancellation;
    this.#declaresTasks = upstream.tasks === 'extension' && declaresTasks(call);
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

  get number(): number | undefined {
    return this.#call.number;
  }

  get client(): string {
    this.#client ??= clientKey(this.#call.peer);
    return this.#client;
  }

  get info(): Implementation | undefined {
    return this.#call.peer.info;
  }

  get capabilities(): ClientCapabilities {
    const { capabilities } = this.#call.peer;
    const { extensions, tasks, roots } = capabilities;
    const isPlain = extensions === undefined && tasks === undefined && !roots?.listChanged;
    const carried = isPlain ? capabilities : carriedCapabilities(capabilities);
    return this.#declaresTasks ? withTasks(carried) : carried;
  }

  notify(notification: ForeignNotification): void {
    this.#call.notify(notification);
  }

  async answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse> {
    const { peer } = this.#call;
    // A client without the roots capability has no roots. Servers that ask for them can work with an empty list.
    if (request.method === 'roots/list' && !peer.capabilities.roots) return { roots: [] };
    noteElicitation(this.#owner, (request.params as JsonObject | undefined)?.['elicitationId']);
    try {
      return await this.#call.ask(questionForClient(request, peer.era), signal);
    } catch (error) {
      if (!(error instanceof ProtocolError) || error.code !== ErrorCode.MissingClientCapability) throw error;
      // The server decides whether the call fails without the answer: many servers go on.
      this.refusal = markForClient(error);
      throw new IsthmusError('CAPABILITY_MISSING', error.message, { cause: error });
    }
  }
}

/** TASK-M-003: a modern client is given a task only if it declares so. For legacy clients the bridge waits for the end. */
function declaresTasks({ method, peer }: Call): boolean {
  return method === 'tools/call' && (peer.era === 'legacy' || takesTasks(peer.capabilities));
}

function withTasks(capabilities: ClientCapabilities): ClientCapabilities {
  return { ...capabilities, extensions: { ...capabilities.extensions, [TASKS_EXTENSION]: {} } };
}

/** The tasks of clients are between them and the bridge, and changes of roots are not carried: neither is declared. */
export function carriedCapabilities(capabilities: ClientCapabilities): ClientCapabilities {
  const { tasks, roots, ...carried } = withoutExtension(capabilities, TASKS_EXTENSION);
  return roots ? { ...carried, roots: {} } : carried;
}

/** Removes what the client must not see: the progress token of the upstream, tasks, and in the modern era `elicitationId` (ELIC-007). */
export function questionForClient(request: InputRequest, clientEra: Era): InputRequest {
  const params = request.params as JsonObject | undefined;
  if (params === undefined) return request;
  const { _meta, ...rest } = params;
  const { progressToken, [META.relatedTask]: _task, ...meta } = (_meta ?? {}) as JsonObject;
  const kept: JsonObject = Object.keys(meta).length > 0 ? { ...rest, _meta: meta } : rest;
  if (clientEra === 'modern') delete kept['elicitationId'];
  if (request.method === 'roots/list' && Object.keys(kept).length === 0) return { method: 'roots/list' };
  return { method: request.method, params: kept } as InputRequest;
}

/** Requests about a task that are answered at once. */
const QUICK: ReadonlySet<string> = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);

/** Methods without side effects: they may be repeated when a connection was lost. */
const SAFE: ReadonlySet<string> = new Set([
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'tasks/get',
  'tasks/result',
]);

/** The `_meta` key by which a modern client names one of several conversations that it has with the same server. */
export const CONVERSATION = 'isthmus/conversation';

/** The params of a call without what is only between the client and the bridge. */
export function carriedParams({ params, peer }: Call, upstreamEra: Era): JsonObject {
  const carried: JsonObject = {};
  for (const key in params) {
    if (!HOP_PARAMS.has(key)) carried[key] = params[key];
  }
  const meta = carriedMeta(params['_meta']);
  if (meta) carried['_meta'] = meta;
  if (carried['cursor'] === EMPTY_CURSOR && peer.era === 'legacy' && upstreamEra === 'modern')
    carried['cursor'] = '';
  return carried;
}

/** PAGE-004: an empty string is a cursor in the modern era; legacy clients take it as the end. */
export function carriedPage(result: JsonObject): JsonObject {
  return result['nextCursor'] === '' ? { ...result, nextCursor: EMPTY_CURSOR } : result;
}

/** The conversation that a modern client names, if it does. */
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

/** A task of the client is one of the bridge, and not one of the upstream. */
const HOP_PARAMS: ReadonlySet<string> = new Set(['_meta', 'inputResponses', 'requestState', 'task']);

const ENVELOPE: ReadonlySet<string> = new Set([
  ...[META.protocolVersion, META.clientInfo, META.clientCapabilities, META.logLevel],
  // The tasks of the bridge. Their ids are secrets, and the upstream does not know them.
  META.relatedTaskIds,
  'progressToken',
  CONVERSATION,
]);

const EMPTY_CURSOR = 'isthmus:empty';
