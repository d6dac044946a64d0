import { IsthmusError, ProtocolError } from '../errors.js';
import type { Call, Change, Service } from '../exchange/call.js';
import { ErrorCode } from '../wire/error-codes.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { CacheHints, Icon, Implementation, ServerCapabilities } from '../wire/model.js';
import { complete } from './completions.js';
import {
  addPrompt,
  getPrompt,
  type PromptArgumentDefinition,
  type PromptDefinition,
  type PromptHandler,
  type RegisteredPrompt,
} from './prompts.js';
import { checkCacheHints, createRegistry, type Registration, type Registry } from './registry.js';
import {
  addResource,
  addTemplate,
  type RegisteredResource,
  type RegisteredTemplate,
  type ResourceDefinition,
  type ResourceHandler,
  readResource,
  type TemplateDefinition,
  type TemplateHandler,
} from './resources.js';
import type { AnySchema } from './schema.js';
import { addTool, callTool, type RegisteredTool, type ToolDefinition, type ToolHandler } from './tools.js';

export interface ServerOptions {
  readonly name: string;
  readonly version: string;
  readonly title?: string;
  readonly description?: string;
  readonly websiteUrl?: string;
  readonly icons?: Icon[];
  /** Instructions for the model on how to use this server. */
  readonly instructions?: string;
  /** Entries per page of a list. Default 1000. */
  readonly pageSize?: number;
  /** How long modern clients may cache each list, and the discovery result. Default: not at all. */
  readonly cache?: Partial<Record<'discover' | 'tools' | 'prompts' | 'resources' | 'templates', CacheHints>>;
  /** Capabilities to announce from the start, before anything is registered. */
  readonly announce?: ReadonlyArray<'tools' | 'prompts' | 'resources' | 'completions'>;
  /** Whether handlers may send log messages to clients that ask for them. Default true. */
  readonly logging?: boolean;
}

/** Wraps every call of the server's methods; it may pass another call to `next`. */
export type Middleware = (call: Call, next: (call?: Call) => Promise<JsonObject>) => Promise<JsonObject>;

/** Defines tools, resources and prompts once, for both eras and every transport. */
export interface Server extends Service {
  tool<I extends AnySchema | undefined = undefined, O extends AnySchema | undefined = undefined>(
    name: string,
    definition: ToolDefinition<I, O>,
    handler: ToolHandler<I, O>,
  ): Registration;
  resource(uri: string, definition: ResourceDefinition, handler: ResourceHandler): Registration;
  /** `uriTemplate` is an RFC 6570 template; the handler gets its variables. */
  resourceTemplate(
    uriTemplate: string,
    definition: TemplateDefinition,
    handler: TemplateHandler,
  ): Registration;
  prompt<const A extends Record<string, PromptArgumentDefinition> = {}>(
    name: string,
    definition: PromptDefinition<A>,
    handler: PromptHandler<A>,
  ): Registration;
  /** Tells subscribers that a resource has new content. */
  resourceUpdated(uri: string): void;
  /** The first one added is the outermost. */
  use(middleware: Middleware): void;
}

export function createServer(options: ServerOptions): Server {
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
  let completes = false;

  const methods = new Map<string, (call: Call) => JsonObject | Promise<JsonObject>>([
    ['tools/list', (call) => list(call, 'tools', tools, options.cache?.tools)],
    ['tools/call', (call) => callTool(tools, call)],
    ['prompts/list', (call) => list(call, 'prompts', prompts, options.cache?.prompts)],
    ['prompts/get', (call) => getPrompt(prompts, call)],
    ['resources/list', (call) => list(call, 'resources', resources, options.cache?.resources)],
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
  const resolveCapabilities = (): ServerCapabilities => ({
    ...((options.logging ?? true) && { logging: {} }),
    ...((completes || announced.has('completions')) && { completions: {} }),
    ...((prompts.used || announced.has('prompts')) && { prompts: { listChanged: true } }),
    ...((resources.used || templates.used || announced.has('resources')) && {
      resources: { subscribe: true, listChanged: true },
    }),
    ...((tools.used || announced.has('tools')) && { tools: { listChanged: true } }),
  });

  return {
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
    tool: (toolName, definition, handler) => addTool(tools, toolName, definition, handler),
    resource: (uri, definition, handler) => addResource(resources, uri, definition, handler),
    resourceTemplate(uriTemplate, definition, handler) {
      completes ||= Object.keys(definition.complete ?? {}).length > 0;
      return addTemplate(templates, uriTemplate, definition, handler);
    },
    prompt(promptName, definition, handler) {
      completes ||= Object.values(definition.arguments ?? {}).some((argument) => argument.complete);
      return addPrompt(prompts, promptName, definition, handler);
    },
    resourceUpdated: (uri) => feed.publish({ kind: 'resource', uri }),
    use(middleware) {
      middlewares.push(middleware);
      handle = compose(middlewares, dispatch);
    },
  };
}

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
