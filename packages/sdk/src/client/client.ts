import { IsthmusError, ProtocolError } from '../errors.js';
import type { Era, OutgoingCall, ServerFacts } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type {
  CallToolResult,
  CompleteParams,
  CompleteResult,
  GetPromptResult,
  InputRequiredResult,
  InputResponses,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  LogEntry,
  LoggingLevel,
  ProgressUpdate,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '../wire/model.js';
import type { ActiveConnection } from './active-connection.js';
import type { EraVerdict } from './negotiation/negotiate.js';
import type { ClientMemory, ResponseCache } from './response-cache.js';
import { checkShape, type OutputChecks } from './result-checks.js';
import type { Changes, Wanted } from './subscriptions.js';

/** For one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Default: that of `connect`. */
  readonly timeoutMs?: number;
  /** Progress restarts the timeout, up to this in all. Default: it does not. */
  readonly maxTimeoutMs?: number;
  readonly onProgress?: (update: ProgressUpdate) => void;
  readonly onLog?: (entry: LogEntry) => void;
  /** Asks a modern server for logs of this call, from this level on. */
  readonly logLevel?: LoggingLevel;
  /**
   * Says that the call may run twice: should the connection be lost before the answer, it is made once more.
   * Calls that certainly did not leave are made again in any case.
   */
  readonly retry?: 'safe';
  /** Asks the server even if the cache has an answer. */
  readonly fresh?: boolean;
}

/** A call whose rounds the caller answers: `input_required` is handed back, and continued with these. */
export interface ManualOptions extends CallOptions {
  readonly manual: true;
  readonly inputResponses?: InputResponses;
  /** Exactly what the last round gave; nothing if it gave none. */
  readonly requestState?: string;
}

/** What a client needs of the way to its server: one connection after the other, or a share in one. */
export interface ClientSession {
  /** Time for one call, unless the call says otherwise. */
  readonly timeoutMs: number;
  readonly isClosed: boolean;
  readonly closed: Promise<void>;
  /** Of the newest connection. Throws while there has been none. */
  readonly verdict: EraVerdict;
  readonly server: ServerFacts;
  /** The link to call on, while there is one. */
  readonly ready: ActiveConnection | undefined;
  /** Opens a link for the call where there is none. */
  call(call: OutgoingCall): Promise<JsonObject>;
  /** A call that was begun on this link at that time has failed: makes it again where that is right, or throws. */
  again(error: unknown, call: OutgoingCall, link: ActiveConnection, began: number): Promise<JsonObject>;
  now(): number;
  listen(wanted: Wanted): Promise<Changes>;
  setLogLevel(level: LoggingLevel): Promise<void>;
  close(): Promise<void>;
}

/** One API for servers of both eras. */
export class Client implements AsyncDisposable {
  readonly #session: ClientSession;
  readonly #cache: ResponseCache;
  readonly #outputs: OutputChecks;

  constructor(session: ClientSession, { cache, outputs }: ClientMemory) {
    this.#session = session;
    this.#cache = cache;
    this.#outputs = outputs;
  }

  /** How the era was found out. */
  get verdict(): EraVerdict {
    return this.#session.verdict;
  }

  get era(): Era {
    return this.verdict.era;
  }

  get revision(): string {
    return this.verdict.revision;
  }

  /** What the server says about itself. */
  get server(): ServerFacts {
    return this.#session.server;
  }

  /** Settles when the client was closed, or when the connection is lost and will not be opened again. */
  get closed(): Promise<void> {
    return this.#session.closed;
  }

  async listTools(options?: CallOptions): Promise<Tool[]> {
    return this.#all('tools/list', 'tools', options);
  }

  async listToolsPage(cursor?: string, options?: CallOptions): Promise<ListToolsResult> {
    return (await this.#page('tools/list', cursor, options)) as ListToolsResult;
  }

  async listResources(options?: CallOptions): Promise<Resource[]> {
    return this.#all('resources/list', 'resources', options);
  }

  async listResourcesPage(cursor?: string, options?: CallOptions): Promise<ListResourcesResult> {
    return (await this.#page('resources/list', cursor, options)) as ListResourcesResult;
  }

  async listResourceTemplates(options?: CallOptions): Promise<ResourceTemplate[]> {
    return this.#all('resources/templates/list', 'resourceTemplates', options);
  }

  async listResourceTemplatesPage(
    cursor?: string,
    options?: CallOptions,
  ): Promise<ListResourceTemplatesResult> {
    return (await this.#page('resources/templates/list', cursor, options)) as ListResourceTemplatesResult;
  }

  async listPrompts(options?: CallOptions): Promise<Prompt[]> {
    return this.#all('prompts/list', 'prompts', options);
  }

  async listPromptsPage(cursor?: string, options?: CallOptions): Promise<ListPromptsResult> {
    return (await this.#page('prompts/list', cursor, options)) as ListPromptsResult;
  }

  callTool(
    name: string,
    args: JsonObject | undefined,
    options: ManualOptions,
  ): Promise<CallToolResult | InputRequiredResult>;
  callTool(name: string, args?: JsonObject, options?: CallOptions): Promise<CallToolResult>;
  async callTool(
    name: string,
    args?: JsonObject,
    options?: CallOptions | ManualOptions,
  ): Promise<CallToolResult | InputRequiredResult> {
    const result = await this.#call('tools/call', { name, ...(args && { arguments: args }) }, options);
    await this.#outputs.check(name, result);
    // Old servers have been seen to leave it out.
    return (
      result['content'] === undefined && !('inputRequests' in result) && !('requestState' in result)
        ? { content: [], ...result }
        : result
    ) as CallToolResult;
  }

  readResource(uri: string, options: ManualOptions): Promise<ReadResourceResult | InputRequiredResult>;
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>;
  async readResource(
    uri: string,
    options?: CallOptions | ManualOptions,
  ): Promise<ReadResourceResult | InputRequiredResult> {
    return (await this.#cached('resources/read', { uri }, options)) as ReadResourceResult;
  }

  getPrompt(
    name: string,
    args: Record<string, string> | undefined,
    options: ManualOptions,
  ): Promise<GetPromptResult | InputRequiredResult>;
  getPrompt(name: string, args?: Record<string, string>, options?: CallOptions): Promise<GetPromptResult>;
  async getPrompt(
    name: string,
    args?: Record<string, string>,
    options?: CallOptions | ManualOptions,
  ): Promise<GetPromptResult | InputRequiredResult> {
    return (await this.#call(
      'prompts/get',
      { name, ...(args && { arguments: args }) },
      options,
    )) as GetPromptResult;
  }

  async complete(params: CompleteParams, options?: CallOptions): Promise<CompleteResult['completion']> {
    const result = await this.#call('completion/complete', params as unknown as JsonObject, options);
    return (result as CompleteResult).completion;
  }

  /** Any other request, as it is. */
  request(method: string, params: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    return this.#call(method, params, options);
  }

  /** News from the server until it is closed; opened again after a reconnect. */
  listen(wanted: Wanted): Promise<Changes> {
    return this.#session.listen(wanted);
  }

  /** Legacy: the level for the session. Modern: the level of calls that name none. */
  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#session.setLogLevel(level);
  }

  /** Legacy only: a sign of life. The modern era has no ping. */
  async ping(options?: CallOptions): Promise<void> {
    if (this.era === 'modern') {
      throw new IsthmusError('NOT_IN_THIS_ERA', 'The modern era has no ping; call server/discover instead', {
        sent: 'no',
      });
    }
    await this.#call('ping', {}, options);
  }

  /** Rejects what is pending, at once, and closes the connection (and the process behind it). */
  close(): Promise<void> {
    return this.#session.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #all<T>(method: string, key: string, options: CallOptions | undefined): Promise<T[]> {
    try {
      return await this.#pages(method, key, options);
    } catch (error) {
      // CACHE-018: a cached page may hold a cursor that the server has forgotten. Once more, from the beginning.
      const deadCursor = error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
      if (!deadCursor || options?.fresh || !this.#cache.has(method)) throw error;
      this.#cache.drop(method);
      return this.#pages(method, key, { ...options, fresh: true });
    }
  }

  async #pages<T>(method: string, key: string, options: CallOptions | undefined): Promise<T[]> {
    const items: T[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await this.#page(method, cursor, options);
      for (const item of page[key] as T[]) items.push(item);
      if (seen.size >= MAX_PAGES || items.length > MAX_ITEMS) throw endless(method);
      // PAGE-004: an empty string is a cursor too; only its absence ends the list.
      cursor = typeof page['nextCursor'] === 'string' ? page['nextCursor'] : undefined;
      if (cursor !== undefined && seen.has(cursor)) {
        const message = `${method} gave the cursor ${JSON.stringify(cursor)} twice`;
        throw new IsthmusError('INVALID_RESULT', message, { sent: 'maybe' });
      }
      if (cursor !== undefined) seen.add(cursor);
    } while (cursor !== undefined);
    return items;
  }

  async #page(
    method: string,
    cursor: string | undefined,
    options: CallOptions | undefined,
  ): Promise<JsonObject> {
    const page = await this.#cached(method, cursor === undefined ? {} : { cursor }, options);
    if (method === 'tools/list') {
      if (cursor === undefined) this.#outputs.forget();
      this.#outputs.learn(page);
    }
    return page;
  }

  async #cached(
    method: string,
    params: JsonObject,
    options: CallOptions | ManualOptions | undefined,
  ): Promise<JsonObject> {
    // MRTR-029: what took rounds is nobody else's answer.
    const plain = !options || !('manual' in options);
    const usable = plain && !options?.fresh && !options?.signal?.aborted && !this.#session.isClosed;
    const known = usable ? this.#cache.get(method, params) : undefined;
    if (known) return known;
    let rounds = false;
    const stamp = this.#cache.stamp(method);
    const result = await this.#call(method, params, options, () => {
      rounds = true;
    });
    if (plain && !rounds) this.#cache.put(method, params, result, stamp);
    return result;
  }

  async #call(
    method: string,
    params: JsonObject,
    options: CallOptions | ManualOptions | undefined,
    onRound?: () => void,
  ): Promise<JsonObject> {
    checkTimes(options);
    const call = toCall(method, params, options, this.#session.timeoutMs, onRound);
    const session = this.#session;
    const link = session.ready;
    let result: JsonObject;
    if (!link) result = await session.call(call);
    else {
      const began = session.now();
      try {
        // Not by way of the session: each promise on the way is a part of the price of a small call.
        result = await link.caller.call(call);
      } catch (error) {
        result = await session.again(error, call, link, began);
      }
    }
    checkShape(method, result);
    return result;
  }
}

/** Infinity is a time, too. */
function checkTimes(options: CallOptions | undefined): void {
  for (const name of ['timeoutMs', 'maxTimeoutMs'] as const) {
    const value = options?.[name];
    if (value === undefined || value > 0) continue;
    throw new IsthmusError('INVALID_OPTION', `${name} must be a positive number, got ${value}`, {
      sent: 'no',
    });
  }
}

function toCall(
  method: string,
  params: JsonObject,
  options: (CallOptions & Partial<ManualOptions>) | undefined,
  defaultTimeoutMs: number,
  onRound: (() => void) | undefined,
): OutgoingCall {
  if (!options)
    return { method, params, timeoutMs: defaultTimeoutMs, maxTimeoutMs: defaultTimeoutMs, onRound };
  const { timeoutMs = defaultTimeoutMs, inputResponses, requestState } = options;
  return {
    method,
    params: {
      ...params,
      ...(inputResponses !== undefined && { inputResponses }),
      ...(requestState !== undefined && { requestState }),
    },
    timeoutMs,
    maxTimeoutMs: options.maxTimeoutMs ?? timeoutMs,
    signal: options.signal,
    onProgress: options.onProgress,
    onLog: options.onLog,
    logLevel: options.logLevel,
    manual: options.manual,
    retry: options.retry,
    onRound,
  };
}

/** A server may give out cursors without end (S11). */
const MAX_PAGES = 2000;
const MAX_ITEMS = 100_000;

function endless(method: string): IsthmusError {
  const message =
    `${method} did not end after ${MAX_PAGES} pages or ${MAX_ITEMS} items. ` +
    `To read single pages, call request('${method}', { cursor })`;
  return new IsthmusError('INVALID_RESULT', message, { sent: 'maybe' });
}
