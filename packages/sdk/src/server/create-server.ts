import { checkedOptions, invalidArgument, kindOf, type OptionNames } from '../arguments.js';
import { TASKS_EXTENSION } from '../era/extensions.js';
import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call, Change, Serving } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { CacheHints, Implementation, ServerCapabilities } from '../wire/model.js';
import {
  checkAnnounced,
  checkMethod,
  checkRegistration,
  explainOfficialMethods,
} from './check-registration.js';
import { complete } from './completions.js';
import { Context } from './context.js';
import { addPrompt, getPrompt, type RegisteredPrompt } from './prompts.js';
import { checkCacheHints, createRegistry, type Registry } from './registry.js';
import { listResources } from './resources/list-resources.js';
import {
  addResource,
  addTemplate,
  type RegisteredResource,
  type RegisteredTemplate,
  readResource,
} from './resources/resources.js';
import type { Middleware, Server, ServerOptions } from './server.js';
import { resolveTasks } from './tasks/options.js';
import { TASK_METHODS } from './tasks/task-methods.js';
import { hasLegacyTasks } from './tasks/task-request.js';
import { TaskRunner } from './tasks/task-runner.js';
import { watchTasks } from './tasks/watch-tasks.js';
import { addTool, callTool, type RegisteredTool } from './tools.js';

/**
 * Makes a server. It answers once it is served.
 *
 * @example
 * ```ts
 * import { createServer, serve, stdio } from '@isthmus/sdk';
 *
 * const server = createServer({ name: 'hello', version: '1.0.0' });
 * server.tool('hello', { description: 'Says hello' }, () => 'Hello!');
 * await serve(server, stdio());
 * ```
 */
export function createServer(options: ServerOptions): Server;
export function createServer(given: ServerOptions, ...surplus: unknown[]): Server {
  if (surplus.length > 0) {
    const got = kindOf(surplus[0]);
    throw invalidArgument(
      `createServer takes one argument, got ${got} as the second: put all options into the first`,
    );
  }
  const options = checkedOptions('createServer', given, SERVER_OPTIONS, (option) =>
    option === 'capabilities'
      ? '; capabilities follow from what is registered, and from "announce"'
      : undefined,
  );
  const { name, version, pageSize = 1000 } = options;
  if (typeof name !== 'string' || name === '' || typeof version !== 'string' || version === '') {
    throw new IsthmusError('INVALID_OPTION', 'createServer needs a name and a version');
  }
  if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
    throw new IsthmusError('INVALID_OPTION', `pageSize must be a positive whole number, got ${pageSize}`);
  }
  for (const [list, hints] of Object.entries(options.cache ?? {})) checkCacheHints(`cache.${list}`, hints);
  const unknown = (options.announce ?? []).find((capability) => !ANNOUNCEABLE.has(capability));
  if (unknown !== undefined) {
    throw new IsthmusError('INVALID_OPTION', `announce: there is no capability "${unknown}"`);
  }
  const { extensions, experimental } = options;
  checkAnnounced(extensions, experimental);
  const taskSettings = options.tasks && resolveTasks(options.tasks);
  /** Made with the first tool that has tasks: calls of servers without them cost nothing more. */
  let tasks: TaskRunner | undefined;
  /** Servings that began before. */
  const servings = new Set<TaskServing>();
  const startTasks = () => {
    if (tasks) return;
    tasks = new TaskRunner(taskSettings ?? resolveTasks());
    capabilities = undefined;
    for (const serving of servings) serving.tasks = tasks.serving();
    for (const [method, handler] of TASK_METHODS) methods.set(method, (call) => handler(tasks!, call));
  };
  const feed = createChangeFeed();
  let capabilities: ServerCapabilities | undefined;
  const registryOf = <T>(kind: string, change: 'tools' | 'prompts' | 'resources') =>
    createRegistry<T>({
      kind,
      pageSize,
      onChange() {
        capabilities = undefined;
        feed.publish({ kind: change });
      },
    });
  const tools = registryOf<RegisteredTool>('tool', 'tools');
  const prompts = registryOf<RegisteredPrompt>('prompt', 'prompts');
  const resources = registryOf<RegisteredResource>('resource', 'resources');
  const templates = registryOf<RegisteredTemplate>('resource template', 'resources');
  /** A declared capability must not disappear. */
  let completes = false;

  const methods = new Map<string, (call: Call) => JsonObject | Promise<JsonObject>>([
    ['tools/list', (call) => listTools(call, tools, options.cache?.tools)],
    ['tools/call', (call) => callTool(tools, call, tasks)],
    ['prompts/list', (call) => list(call, 'prompts', prompts, options.cache?.prompts)],
    ['prompts/get', (call) => getPrompt(prompts, call)],
    [
      'resources/list',
      async (call) => ({
        ...(await listResources(resources, templates, call, pageSize)),
        ...options.cache?.resources,
      }),
    ],
    [
      'resources/templates/list',
      (call) => list(call, 'resourceTemplates', templates, options.cache?.templates),
    ],
    ['resources/read', (call) => readResource(resources, templates, call)],
    ['completion/complete', (call) => complete(prompts, templates, call)],
  ]);
  const dispatch = (call: Call): JsonObject | Promise<JsonObject> => {
    const method = methods.get(call.method);
    if (!method) throw new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${call.method}`);
    return method(call);
  };
  let handle = dispatch;
  const middlewares: Middleware[] = [];

  const announced = new Set(options.announce);
  const resolveCapabilities = (): ServerCapabilities => {
    completes ||=
      prompts.all().some((prompt) => prompt.arguments.complete.size > 0) ||
      templates.all().some((template) => template.complete.size > 0);
    return {
      ...((options.logging ?? true) && { logging: {} }),
      ...((completes || announced.has('completions')) && { completions: {} }),
      ...((prompts.used || announced.has('prompts')) && { prompts: { listChanged: true } }),
      ...((resources.used || templates.used || announced.has('resources')) && {
        resources: { subscribe: true, listChanged: true },
      }),
      ...((tools.used || announced.has('tools')) && { tools: { listChanged: true } }),
      ...(tasks && { tasks: LEGACY_TASKS }),
      ...((extensions || tasks) && {
        extensions: { ...extensions, ...(tasks && { [TASKS_EXTENSION]: {} }) },
      }),
      ...(experimental && { experimental: { ...experimental } }),
    };
  };

  return explainOfficialMethods<Server>({
    info: implementation(options),
    instructions: options.instructions,
    discoveryCache: options.cache?.discover,
    capabilities() {
      capabilities ??= resolveCapabilities();
      return capabilities;
    },
    handle: (call) => handle(call),
    headerParams: (toolName) => tools.get(toolName)?.headerParams ?? [],
    watch: feed.watch,
    async watchTasks(peer, ids, onChange) {
      if (tasks) return watchTasks(tasks, peer, ids, onChange);
      return { accepted: [], start() {}, stop() {} };
    },
    serving() {
      const serving: TaskServing = { tasks: tasks?.serving() };
      servings.add(serving);
      return {
        idle: async () => serving.tasks?.idle(),
        end: async () => {
          servings.delete(serving);
          await serving.tasks?.end();
        },
      };
    },
    tool(toolName, definition, handler, ...surplus: unknown[]) {
      checkRegistration('tool', [toolName, definition, handler, ...surplus]);
      return addTool(tools, toolName, definition, handler, startTasks);
    },
    resource(uri, definition, handler, ...surplus: unknown[]) {
      checkRegistration('resource', [uri, definition, handler, ...surplus]);
      return addResource(resources, uri, definition, handler);
    },
    resourceTemplate(uriTemplate, definition, handler, ...surplus: unknown[]) {
      checkRegistration('resourceTemplate', [uriTemplate, definition, handler, ...surplus]);
      return addTemplate(templates, uriTemplate, definition, handler);
    },
    prompt(promptName: string, definition: object, handler: unknown, ...surplus: unknown[]) {
      checkRegistration('prompt', [promptName, definition, handler, ...surplus]);
      return addPrompt(prompts, promptName, definition, handler as RegisteredPrompt['get']);
    },
    method(method, handler, ...surplus: unknown[]) {
      checkMethod(method, handler, surplus);
      methods.set(method, (call) => handler(call.params, new Context(call)));
    },
    resourceUpdated: (uri) => feed.publish({ kind: 'resource', uri }),
    use(middleware) {
      middlewares.push(middleware);
      handle = compose(middlewares, dispatch);
    },
  });
}

const SERVER_OPTIONS: OptionNames<ServerOptions> = {
  name: true,
  version: true,
  title: true,
  description: true,
  websiteUrl: true,
  icons: true,
  instructions: true,
  pageSize: true,
  cache: true,
  announce: true,
  extensions: true,
  experimental: true,
  tasks: true,
  logging: true,
};

const ANNOUNCEABLE: ReadonlySet<unknown> = new Set(['tools', 'prompts', 'resources', 'completions']);

function list(
  call: Call,
  key: string,
  registry: Registry<{ readonly listed: object }>,
  cache: CacheHints | undefined,
): JsonObject {
  const { items, nextCursor } = registry.page(call.params['cursor']);
  return {
    [key]: items.map((item) => item.listed),
    ...(nextCursor !== undefined && { nextCursor }),
    ...cache,
  };
}

/** Sessions of 2025-11-25 are shown which tools run as tasks. */
function listTools(
  call: Call,
  registry: Registry<RegisteredTool>,
  cache: CacheHints | undefined,
): JsonObject {
  if (!hasLegacyTasks(call.peer)) return list(call, 'tools', registry, cache);
  const { items, nextCursor } = registry.page(call.params['cursor']);
  return {
    tools: items.map((tool) => tool.listedWithTask ?? tool.listed),
    ...(nextCursor !== undefined && { nextCursor }),
    ...cache,
  };
}

interface TaskServing {
  tasks: Serving | undefined;
}

/** TASK-L-001. `list` is for principals; the handshake leaves it out for others (TASK-L-092). */
const LEGACY_TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

function compose(
  middlewares: readonly Middleware[],
  core: (call: Call) => JsonObject | Promise<JsonObject>,
): (call: Call) => JsonObject | Promise<JsonObject> {
  return middlewares.reduceRight(
    (next, middleware) => (call) => middleware(call, async (changed = call) => next(changed)),
    core,
  );
}

function implementation(options: ServerOptions): Implementation {
  const { name, version, title, description, websiteUrl, icons } = options;
  return {
    name,
    version,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(websiteUrl !== undefined && { websiteUrl }),
    ...(icons !== undefined && { icons }),
  };
}

/** Tells watchers what has changed. Many changes of one kind in one turn of the event loop are told once. */
interface ChangeFeed {
  publish(change: Change): void;
  watch(onChange: (change: Change) => void): () => void;
}

function createChangeFeed(): ChangeFeed {
  const watchers = new Set<(change: Change) => void>();
  const due = new Map<string, Change>();

  function tell(): void {
    const changes = [...due.values()];
    due.clear();
    for (const change of changes) for (const watcher of [...watchers]) watcher(change);
  }

  return {
    publish(change) {
      if (watchers.size === 0) return;
      if (due.size === 0) queueMicrotask(tell);
      due.set(change.kind === 'resource' ? `resource ${change.uri}` : change.kind, change);
    },
    watch(onChange) {
      // A wrapper, so that the same function can be added twice.
      const watcher = (change: Change) => onChange(change);
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
  };
}
