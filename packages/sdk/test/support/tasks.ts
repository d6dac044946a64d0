import { createServer, type Server, type TaskOptions } from '../../src/index.js';
import type { JsonObject } from '../../src/wire/json-rpc.js';
import { ALL_CAPABILITIES, type RawPeer } from './server.js';

export const TASKS = 'io.modelcontextprotocol/tasks';
export const RELATED = 'io.modelcontextprotocol/related-task';
/** A modern client that takes tasks, and answers questions. */
export const WITH_TASKS = { ...ALL_CAPABILITIES, extensions: { [TASKS]: {} } };

export function taskServer(tasks: TaskOptions = {}): Server {
  return createServer({ name: 'tasks', version: '1', tasks: { pollIntervalMs: 5, ...tasks } });
}

/** The id of the task that a call became. */
export function idOf(created: JsonObject): string {
  const task = (created['task'] ?? created) as JsonObject;
  if (typeof task['taskId'] !== 'string') throw new Error(`not a task: ${JSON.stringify(created)}`);
  return task['taskId'];
}

/** Polls until the task has one of these states. */
export async function waitFor(peer: RawPeer, taskId: string, ...states: string[]): Promise<JsonObject> {
  for (;;) {
    const task = await peer.result('tasks/get', { taskId });
    if (states.includes(task['status'] as string)) return task;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** A promise that is settled from outside, with a name for tests. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
