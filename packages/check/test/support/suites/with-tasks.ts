import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { Middle, MiddleIo } from './mutant.js';

export interface TaskFault {
  /** What the demo announces. */
  readonly capabilities?: JsonObject;
  readonly id?: (count: number) => string;
  readonly created?: (task: JsonObject) => JsonObject;
  readonly state?: (task: JsonObject) => JsonObject;
  readonly result?: (result: JsonObject) => JsonObject;
  /** What a task that has ended says to `tasks/cancel`. */
  readonly cancelEnded?: (task: JsonObject) => JsonObject;
  readonly cancelled?: (task: JsonObject) => JsonObject;
  readonly unknown?: JsonObject;
  /** After the end. */
  readonly farewell?: (io: MiddleIo, token: unknown) => void;
}

interface Task {
  readonly taskId: string;
  readonly token: unknown;
  status: string;
  answer?: JsonObject;
  /** Requests for its result that wait for it. */
  readonly waiting: unknown[];
}

const AT = '2026-01-01T00:00:00Z';

/** The demo of 2025-11-25, whose tools may run as tasks; `echo` says so. */
export function withTasks(fault: TaskFault = {}): () => Middle {
  const {
    capabilities = { list: {}, cancel: {}, requests: { tools: { call: {} } } },
    id = () => crypto.randomUUID(),
    unknown = { error: { code: -32602, message: 'No such task' } },
  } = fault;
  return () => {
    const tasks = new Map<string, Task>();
    const lists = new Set<unknown>();
    let hello: unknown;

    const stateOf = ({ taskId, status }: Task): JsonObject => ({
      taskId,
      status,
      createdAt: AT,
      lastUpdatedAt: AT,
      ttl: 60_000,
    });
    const give = (io: MiddleIo, task: Task) => {
      const { error, result } = task.answer ?? {};
      const related = { _meta: { 'io.modelcontextprotocol/related-task': { taskId: task.taskId } } };
      const whole = isJsonObject(result) ? { ...result, ...related } : undefined;
      for (const each of task.waiting.splice(0))
        io.reply({
          jsonrpc: '2.0',
          id: each,
          ...(whole ? { result: fault.result?.(whole) ?? whole } : { error }),
        });
      fault.farewell?.(io, task.token);
    };
    const onTask = (method: string, requestId: unknown, task: Task, io: MiddleIo) => {
      const reply = (result: JsonObject) => io.reply({ jsonrpc: '2.0', id: requestId, result });
      const hasEnded = task.status !== 'working';
      if (method === 'tasks/get') return reply(fault.state?.(stateOf(task)) ?? stateOf(task));
      if (method === 'tasks/result') {
        task.waiting.push(requestId);
        if (hasEnded) give(io, task);
        return;
      }
      if (hasEnded)
        return io.reply({
          jsonrpc: '2.0',
          id: requestId,
          ...(fault.cancelEnded?.(stateOf(task)) ?? { error: { code: -32602, message: 'It is over' } }),
        });
      task.status = 'cancelled';
      const state = stateOf(task);
      return reply(fault.cancelled?.(state) ?? state);
    };

    return {
      incoming(message, io) {
        const { id: requestId, method } = message;
        const params = isJsonObject(message['params']) ? message['params'] : {};
        if (method === 'initialize') hello = requestId;
        if (method === 'tools/list') lists.add(requestId);
        if (method === 'tools/call' && params['task'] !== undefined) {
          const taskId = id(tasks.size);
          const { progressToken: token } = (params['_meta'] ?? {}) as JsonObject;
          const task: Task = { taskId, token, status: 'working', waiting: [] };
          tasks.set(taskId, task);
          const state = stateOf(task);
          io.reply({ jsonrpc: '2.0', id: requestId, result: { task: fault.created?.(state) ?? state } });
          // It takes a while: long enough to be cancelled.
          setTimeout(() => {
            if (task.status !== 'working') return;
            task.status = 'completed';
            task.answer = { result: { content: [{ type: 'text', text: 'done' }] } };
            give(io, task);
          }, 60);
          return undefined;
        }
        if (typeof method !== 'string' || !method.startsWith('tasks/')) return message;
        const task = tasks.get(String(params['taskId']));
        if (task) onTask(method, requestId, task, io);
        else io.reply({ jsonrpc: '2.0', id: requestId, ...unknown });
        return undefined;
      },
      outgoing(message) {
        const { id: requestId, result } = message;
        if (!isJsonObject(result)) return message;
        if (requestId === hello && isJsonObject(result['capabilities']))
          return {
            ...message,
            result: { ...result, capabilities: { ...result['capabilities'], tasks: capabilities } },
          };
        if (!lists.has(requestId) || !Array.isArray(result['tools'])) return message;
        const tools = (result['tools'] as JsonObject[]).map((tool) =>
          tool['name'] === 'echo' ? { ...tool, execution: { taskSupport: 'optional' } } : tool,
        );
        return { ...message, result: { ...result, tools } };
      },
    };
  };
}
