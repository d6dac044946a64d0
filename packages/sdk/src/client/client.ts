import { invalidArgument, kindOf } from '../arguments.js';
import { answerQuestion } from '../era/answers.js';
import type { EraVerdict } from '../era/client/era-verdict.js';
import { TASKS_EXTENSION } from '../era/extensions.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { Era, ServerFacts } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type {
  CallToolResult,
  CompleteParams,
  CompleteResult,
  GetPromptResult,
  InputRequiredResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ListToolsResult,
  LoggingLevel,
  Prompt,
  ReadResourceResult,
  Resource,
  ResourceTemplate,
  Tool,
} from '../wire/model.js';
import { type CallOptions, checkedCallOptions, type ManualOptions, toCall } from './call-options.js';
import type { ReconnectingCaller } from './reconnecting-caller.js';
import type { ClientMemory, ResponseCache } from './response-cache.js';
import { checkShape, type OutputChecks } from './result-checks.js';
import type { Changes, Wanted } from './subscriptions.js';
import { createdTask, type TaskState } from './tasks/read-task.js';
import { type TaskCalls, TaskHandle } from './tasks/task-handle.js';

/** One API for servers of both eras. */
export class Client implements AsyncDisposable {
  readonly #session: ReconnectingCaller;
  readonly #cache: ResponseCache;
  readonly #outputs: OutputChecks;

  constructor(session: ReconnectingCaller, { cache, outputs }: ClientMemory) {
    this.#session = session;
    this.#cache = cache;
    this.#outputs = outputs;
  }

  /** The era, and how it was determined. */
  get verdict(): EraVerdict {
    return this.#session.verdict;
  }

  get era(): Era {
    return this.verdict.era;
  }

  get revision(): string {
    return this.verdict.revision;
  }

  /** The server's description of itself. */
  get server(): ServerFacts {
    return this.#session.server;
  }

  /** Settles when the client was closed, or when the connection is lost and will not be reopened. */
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
  callTool(
    name: string,
    args?: JsonObject,
    options?: CallOptions | ManualOptions,
  ): Promise<CallToolResult | InputRequiredResult> {
    if (typeof name !== 'string') return Promise.reject(wrongForm('callTool(name, args, options)', name));
    const params: JsonObject = args ? { name, arguments: args } : { name };
    return this.#call('tools/call', params, options, undefined, name) as Promise<CallToolResult>;
  }

  /**
   * Calls a tool, and does not wait for its end: the server is asked to run the call as a task. The handle is for waiting
   * and cancelling, and its id for `task(id)` later.
   */
  async startTask(name: string, args?: JsonObject, options: StartTaskOptions = {}): Promise<TaskHandle> {
    if (typeof name !== 'string') throw wrongForm('startTask(name, args, options)', name);
    const { ttlMs, ...callOptions } = options;
    // JSON has no NaN and no Infinity: the server would read them as "unlimited".
    if (ttlMs !== undefined && !(ttlMs >= 0 && Number.isFinite(ttlMs)))
      throw invalidArgument(`startTask: ttlMs must be a number of milliseconds, got ${String(ttlMs)}`);
    const params: JsonObject = { name, ...(args && { arguments: args }) };
    const answer = await this.#startTask(params, ttlMs === undefined ? {} : { ttl: ttlMs }, callOptions);
    const created = createdTask(answer);
    const calls = this.#taskCalls(name);
    return new TaskHandle(calls, created ?? { result: await calls.check(answer) });
  }

  /** TASK-L-006: only a tool that allows it is called as a task, so the list of tools is read if it was not. */
  async #startTask(params: JsonObject, task: JsonObject, options: CallOptions): Promise<JsonObject> {
    const name = String(params['name']);
    const asTask = () => this.#call('tools/call', { ...params, task }, options);
    if (!hasLegacyToolTasks(this.server)) return this.#call('tools/call', params, options);
    if (this.#outputs.taskSupport(name) === undefined) await this.#readTools(options);
    const support = this.#outputs.taskSupport(name);
    if (support === 'required' || support === 'optional') return asTask();
    try {
      return await this.#call('tools/call', params, options);
    } catch (error) {
      // The tool is not listed, and its error says that it runs as a task.
      if (support === undefined && wantsTask(error, this.server)) return asTask();
      throw error;
    }
  }

  /** Without the list, tools are called plainly. */
  async #readTools({ signal, timeoutMs }: CallOptions): Promise<void> {
    const options = { ...(signal && { signal }), ...(timeoutMs !== undefined && { timeoutMs }) };
    await this.listTools(options).catch(() => {});
  }

  /** A task of the server by its id, also if an earlier connection or another process has started it. */
  task(id: string): TaskHandle {
    if (typeof id !== 'string' || id === '') throw wrongForm('task(id)', id);
    return new TaskHandle(this.#taskCalls(undefined), { id });
  }

  readResource(uri: string, options: ManualOptions): Promise<ReadResourceResult | InputRequiredResult>;
  readResource(uri: string, options?: CallOptions): Promise<ReadResourceResult>;
  async readResource(
    uri: string,
    options?: CallOptions | ManualOptions,
  ): Promise<ReadResourceResult | InputRequiredResult> {
    if (typeof uri !== 'string') throw wrongForm('readResource(uri, options)', uri);
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
    if (typeof name !== 'string') throw wrongForm('getPrompt(name, args, options)', name);
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

  /** Sends any other request. */
  request(method: string, params: JsonObject = {}, options?: CallOptions): Promise<JsonObject> {
    return this.#call(method, params, options);
  }

  /** Receives changes until it is closed. Reopened after a reconnect. */
  listen(wanted: Wanted): Promise<Changes> {
    return this.#session.listen(wanted);
  }

  /** Legacy: the level of the session. Modern: the level of calls without one. */
  setLogLevel(level: LoggingLevel): Promise<void> {
    return this.#session.setLogLevel(level);
  }

  /** Legacy only. The modern era has no ping. */
  async ping(options?: CallOptions): Promise<void> {
    if (this.era === 'modern') {
      throw new IsthmusError('NOT_IN_THIS_ERA', 'The modern era has no ping; call server/discover instead', {
        sent: 'no',
      });
    }
    await this.#call('ping', {}, options);
  }

  /** Rejects pending calls at once, and closes the connection and its process. */
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
      // CACHE-018: a cached page may hold a cursor that the server has forgotten. Starts again from the first page.
      const isDeadCursor = error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
      if (!isDeadCursor || options?.fresh || !this.#cache.has(method)) throw error;
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
      // PAGE-004: an empty string is a cursor. Only its absence ends the list.
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
    // MRTR-029: a result that took rounds is not cached.
    const isPlain = !options || !('manual' in options);
    const mayUse = isPlain && !options?.fresh && !options?.signal?.aborted && !this.#session.isClosed;
    const known = mayUse ? this.#cache.get(method, params) : undefined;
    if (known) return known;
    let hadRounds = false;
    const stamp = this.#cache.stamp(method);
    const result = await this.#call(method, params, options, () => {
      hadRounds = true;
    });
    if (isPlain && !hadRounds) this.#cache.put(method, params, result, stamp);
    return result;
  }

  /** `tool`: the result is checked as that of this tool. Here, since each further promise is a noticeable part of a call. */
  async #call(
    method: string,
    params: JsonObject,
    given: CallOptions | ManualOptions | undefined,
    onRound?: () => void,
    tool?: string,
  ): Promise<JsonObject> {
    const options = given && checkedCallOptions(given);
    const session = this.#session;
    const connection = session.ready;
    const isForTask =
      method === 'tools/call' ? connection && hasTasks(connection.server) : isTaskMethod(method);
    const call = toCall(method, params, options, session.timeoutMs, onRound, isForTask === true);
    if (tool !== undefined && this.#outputs.taskSupport(tool) === 'required') {
      return this.#runAsTask(tool, { ...params, task: {} }, options);
    }
    let result: JsonObject;
    if (!connection) result = await session.call(call);
    else {
      const began = session.now();
      try {
        // Not through `session.call`, for the same reason.
        result = await connection.call(call);
      } catch (error) {
        const isAllowed = tool !== undefined && this.#outputs.taskSupport(tool) !== 'forbidden';
        if (isAllowed && wantsTask(error, connection.server)) {
          return this.#runAsTask(tool, { ...params, task: {} }, options);
        }
        result = await session.again(error, call, connection, began);
      }
    }
    if (tool === undefined) {
      checkShape(method, result);
      return result;
    }
    if (result['resultType'] === 'task') return this.#follow(createdTask(result)!, tool, options);
    const checking = this.#outputs.check(tool, result);
    if (checking) await checking;
    return withContent(result);
  }

  /** Calls a tool that a legacy server runs only as a task, and waits for its end. */
  async #runAsTask(tool: string, params: JsonObject, options: CallOptions | undefined): Promise<JsonObject> {
    const answer = await this.#call('tools/call', params, options);
    const created = createdTask(answer);
    return created ? this.#follow(created, tool, options) : this.#taskCalls(tool).check(answer);
  }

  /** The call became a task. Its end is waited for, however long it takes; the times of the options are for requests. */
  async #follow({ id }: TaskState, tool: string, options: CallOptions | undefined): Promise<CallToolResult> {
    const handle = new TaskHandle(this.#taskCalls(tool, options), { id });
    const { signal, onProgress, maxTimeoutMs } = options ?? {};
    try {
      return await handle.result({ signal, onProgress, timeoutMs: maxTimeoutMs });
    } catch (error) {
      // The caller cannot use the task any more. A task that has ended stays as it is.
      if (error instanceof IsthmusError) void handle.cancel().catch(() => {});
      throw error;
    }
  }

  #taskCalls(tool: string | undefined, options?: CallOptions): TaskCalls {
    const session = this.#session;
    const { timeoutMs } = options ?? {};
    return {
      era: this.era,
      clock: session.clock,
      call: (method, params, own) =>
        this.#call(method, params, { ...(timeoutMs !== undefined && { timeoutMs }), ...own }),
      answer: async (request, signal) => {
        const { tenant } = await session.connected();
        return answerQuestion(tenant.answers, request, signal);
      },
      check: async (result) => {
        if (tool !== undefined) await this.#outputs.check(tool, result);
        const { resultType, ...plain } = result;
        return withContent(plain) as CallToolResult;
      },
    };
  }
}

/** Options of a call that starts a task. */
export interface StartTaskOptions extends CallOptions {
  /** How long a legacy server should keep the task. A modern server decides by itself. */
  readonly ttlMs?: number;
}

function hasTasks({ capabilities }: ServerFacts): boolean {
  return capabilities.extensions?.[TASKS_EXTENSION] !== undefined;
}

function isTaskMethod(method: string): boolean {
  return method === 'tasks/get' || method === 'tasks/update' || method === 'tasks/cancel';
}

/** TASK-L-005: whether a server of 2025-11-25 runs tools as tasks. */
function hasLegacyToolTasks({ capabilities }: ServerFacts): boolean {
  const requests = capabilities.tasks?.['requests'] as { tools?: { call?: unknown } } | undefined;
  return requests?.tools?.call !== undefined;
}

/** TASK-L-010, TASK-L-012: the tool must be called as a task. */
function wantsTask(error: unknown, server: ServerFacts): boolean {
  if (!(error instanceof ProtocolError) || !hasLegacyToolTasks(server)) return false;
  return error.code === ErrorCode.MethodNotFound || error.code === ErrorCode.InvalidRequest;
}

/** Some old servers leave `content` out. */
function withContent(result: JsonObject): JsonObject {
  if (result['content'] !== undefined || 'inputRequests' in result || 'requestState' in result) return result;
  return { content: [], ...result };
}

/** The official SDK passes one object: `callTool({ name, arguments })`. */
function wrongForm(form: string, got: unknown): IsthmusError {
  return invalidArgument(`The first argument must be a string, got ${kindOf(got)}. Write client.${form}`);
}

/** A server may return cursors without end (S11). */
const MAX_PAGES = 2000;
const MAX_ITEMS = 100_000;

function endless(method: string): IsthmusError {
  const message =
    `${method} did not end after ${MAX_PAGES} pages or ${MAX_ITEMS} items. ` +
    `To read single pages, call request('${method}', { cursor })`;
  return new IsthmusError('INVALID_RESULT', message, { sent: 'maybe' });
}
