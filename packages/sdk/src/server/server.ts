import type { Extensions } from '../era/extensions.js';
import type { Call, Service } from '../exchange/call.js';
import type { JsonObject } from '../wire/json-rpc.js';
import type { CacheHints, CapabilitySettings, Icon } from '../wire/model.js';
import type { Context } from './context.js';
import type { PromptArgumentDefinition } from './prompt-arguments.js';
import type {
  PromptDefinition,
  PromptHandler,
  PromptRegistration,
  SchemaPromptDefinition,
  SchemaPromptHandler,
} from './prompts.js';
import type {
  ResourceDefinition,
  ResourceHandler,
  ResourceRegistration,
  TemplateDefinition,
  TemplateHandler,
  TemplateRegistration,
} from './resources/resources.js';
import type { AnySchema } from './schema.js';
import type { TaskOptions } from './tasks/options.js';
import type { ToolDefinition, ToolHandler, ToolRegistration } from './tools.js';

/** What a server tells of itself, and how it lists what it has. */
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
  /** Extensions to announce, by their id, with the settings of each: `{ 'io.modelcontextprotocol/ui': {} }`. */
  readonly extensions?: Extensions;
  /** Experimental capabilities to announce, by name. */
  readonly experimental?: Readonly<Record<string, CapabilitySettings>>;
  /** How tools with `task` are run and kept: where, how long, how many. */
  readonly tasks?: TaskOptions;
  /** Whether handlers may send log messages to clients that ask for them. Default true. */
  readonly logging?: boolean;
}

/** Answers a request with an object. It gets the params of the request, and the context. */
export type MethodHandler = (
  params: JsonObject,
  ctx: Context,
) => Record<string, unknown> | Promise<Record<string, unknown>>;

/** Wraps every call of the server's methods; it may pass another call to `next`. */
export type Middleware = (call: Call, next: (call?: Call) => Promise<JsonObject>) => Promise<JsonObject>;

/** Defines tools, resources and prompts once, for both eras and every transport. */
export interface Server extends Service {
  /**
   * Registers a tool. The handler gets the checked arguments and the context.
   *
   * @example
   * ```ts
   * import { createServer } from '@isthmus/sdk';
   * import { z } from 'zod';
   *
   * const server = createServer({ name: 'math', version: '1.0.0' });
   * server.tool(
   *   'add',
   *   { description: 'Adds two numbers', input: z.object({ a: z.number(), b: z.number() }) },
   *   ({ a, b }) => `${a + b}`,
   * );
   * ```
   */
  tool<I extends AnySchema | undefined = undefined, O extends AnySchema | undefined = undefined>(
    name: string,
    definition: ToolDefinition<I, O>,
    handler: ToolHandler<I, O>,
  ): ToolRegistration<I, O>;
  /**
   * Registers a resource with a fixed URI.
   *
   * @example
   * ```ts
   * import { createServer } from '@isthmus/sdk';
   *
   * const server = createServer({ name: 'notes', version: '1.0.0' });
   * const notes = ['Buy milk'];
   * server.resource('notes://today', { name: 'today', mimeType: 'text/plain' }, () => notes.join('\n'));
   *
   * notes.push('Call Ada');
   * server.resourceUpdated('notes://today'); // tells the subscribers
   * ```
   */
  resource(uri: string, definition: ResourceDefinition, handler: ResourceHandler): ResourceRegistration;
  /** `uriTemplate` is an RFC 6570 template; the handler gets its variables, typed if the template is a literal. */
  resourceTemplate<const T extends string>(
    uriTemplate: T,
    definition: TemplateDefinition<T>,
    handler: TemplateHandler<T>,
  ): TemplateRegistration<T>;
  /**
   * Registers a prompt. Its arguments are listed one by one, or have a schema.
   *
   * @example
   * ```ts
   * import { createServer } from '@isthmus/sdk';
   *
   * const server = createServer({ name: 'reviews', version: '1.0.0' });
   * server.prompt(
   *   'review',
   *   { description: 'Asks for a review', arguments: { code: { required: true } } },
   *   ({ code }) => `Please review this code:\n${code}`,
   * );
   * ```
   */
  prompt<const A extends Record<string, PromptArgumentDefinition> = {}>(
    name: string,
    definition: PromptDefinition<A>,
    handler: PromptHandler<A>,
  ): PromptRegistration;
  prompt<S extends AnySchema>(
    name: string,
    definition: SchemaPromptDefinition<S>,
    handler: SchemaPromptHandler<S>,
  ): PromptRegistration;
  /**
   * Answers a request that the core protocol does not define. An extension may.
   *
   * @example
   * ```ts
   * import { createServer } from '@isthmus/sdk';
   *
   * const server = createServer({ name: 'trees', version: '1.0.0', extensions: { 'com.example/trees': {} } });
   * server.method('com.example/trees/count', () => ({ count: 3 }));
   * ```
   */
  method(name: string, handler: MethodHandler): void;
  /** Tells subscribers that a resource has new content. */
  resourceUpdated(uri: string): void;
  /** The first one added is the outermost. */
  use(middleware: Middleware): void;
}
