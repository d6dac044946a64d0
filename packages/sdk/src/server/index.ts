/**
 * Define and serve a server: `isthmus/server`. Transports are in `isthmus/stdio`, `isthmus/socket` and `isthmus/http`.
 * @module
 */

export type { Extensions } from '../era/extensions.js';
export { IsthmusError, ProtocolError } from '../errors.js';
export type { Call, Change, Era, Peer, Service } from '../exchange/call.js';
export type { Connection, Listener } from '../exchange/connection.js';
export { ErrorCode } from '../wire/error-codes.js';
export type * from '../wire/model.js';
export type { Completer, Suggestions } from './completions.js';
export { type InputRequired, inputRequired } from './content.js';
export { Context, type ElicitAnswer } from './context.js';
export { createServer } from './create-server.js';
export type { PromptArgumentDefinition } from './prompt-arguments.js';
export type { PromptDefinition, PromptRegistration, SchemaPromptDefinition } from './prompts.js';
export type { Registration } from './registry.js';
export {
  type ListedResource,
  type ResourceDefinition,
  type ResourceRegistration,
  resourceNotFound,
  type TemplateDefinition,
  type TemplateListing,
  type TemplateRegistration,
} from './resources/resources.js';
export type { TemplateVariables, VariablesOf } from './resources/template-variables.js';
export { type AnySchema, type JsonSchema, jsonSchema, withJsonSchema } from './schema.js';
export { type Served, type ServeOptions, serve } from './serve.js';
export type { MethodHandler, Middleware, Server, ServerOptions } from './server.js';
export { memoryTaskStore } from './tasks/memory-store.js';
export type { TaskOptions, ToolTask, ToolTaskOptions } from './tasks/options.js';
export type {
  TaskAnswer,
  TaskBounds,
  TaskOutcome,
  TaskPage,
  TaskPageLimit,
  TaskPosition,
  TaskRecord,
  TaskStore,
} from './tasks/store.js';
export type { ToolDefinition, ToolRegistration } from './tools.js';
