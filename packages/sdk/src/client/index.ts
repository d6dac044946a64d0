/**
 * Connecting to servers: `isthmus/client`. Connectors come from `isthmus/stdio` and `isthmus/socket`.
 * @module
 */

export type { AnswerContext, Answers, ForeignRequest } from '../era/answers.js';
export type { DiscoveryOutcome, EraVerdict } from '../era/client/era-verdict.js';
export type { Extensions } from '../era/extensions.js';
export { IsthmusError, ProtocolError } from '../errors.js';
export type { Change, Era, ServerFacts } from '../exchange/call.js';
export type { Connection, Connector } from '../exchange/connection.js';
export { ErrorCode } from '../wire/error-codes.js';
export type * from '../wire/model.js';
export type { CallOptions, ManualOptions } from './call-options.js';
export type { Client, StartTaskOptions } from './client.js';
export { connect } from './connect.js';
export {
  type CachedEra,
  type EraCache,
  type EraCacheOptions,
  fileEraCache,
  memoryEraCache,
} from './negotiation/era-cache.js';
export type { ConnectOptions, Mode } from './options.js';
export type { Changes, Wanted } from './subscriptions.js';
export type { TaskState } from './tasks/read-task.js';
export type { TaskHandle, TaskWaitOptions } from './tasks/task-handle.js';
