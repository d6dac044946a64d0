/** Tasks: a part of 2025-11-25, and an extension of 2026-07-28. */
import { iso8601 } from './formats.js';
import { inputRequests } from './questions.js';
import { anyObject, by, integer, is, object, oneOf, type Shape, string } from './shape.js';

const status = oneOf('working', 'input_required', 'completed', 'failed', 'cancelled');
const integerOrNull = is('an integer or null', (value) => value === null || Number.isInteger(value));

const common = {
  taskId: string,
  status,
  'statusMessage?': string,
  createdAt: iso8601,
  lastUpdatedAt: iso8601,
};

export const task: Shape = object({ ...common, ttl: integerOrNull, 'pollInterval?': integer });

/** In the result of `tools/call`. */
const extensionMembers = { ...common, ttlMs: integerOrNull, 'pollIntervalMs?': integer };
export const extensionTask: Shape = object(extensionMembers);

/** In the result of `tasks/get`, with the members that its status requires (TASK-019). */
export const extensionTaskState: Shape = by('status', () => ({
  working: extensionTask,
  cancelled: extensionTask,
  input_required: object({ ...extensionMembers, inputRequests }),
  completed: object({ ...extensionMembers, result: anyObject }),
  failed: object({ ...extensionMembers, error: object({ code: integer, message: string }) }),
}));
