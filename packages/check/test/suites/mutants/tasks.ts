import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { answering, changing } from '../../support/suites/altered.js';
import type { AnyMutant, Middle } from '../../support/suites/mutant.js';
import { type TaskFault, withTasks } from '../../support/suites/with-tasks.js';

const LEGACY = { eras: ['legacy'] } as const;
const MODERN = { eras: ['modern'] } as const;

const tasked = (check: string, fault: string, seen: RegExp, how: TaskFault): AnyMutant => ({
  check,
  fault,
  seen,
  options: LEGACY,
  middle: withTasks(how),
});

export const taskMutants: readonly AnyMutant[] = [
  tasked('tasks/declared', 'has tools for tasks and does not announce it', /echo; .* may run as a task/, {
    capabilities: {},
  }),
  {
    check: 'tasks/ignored',
    fault: 'refuses task because it runs no tasks',
    seen: /-32602/,
    options: LEGACY,
    middle: changing((answer, { method, params }) => {
      const { result } = answer as { result?: { capabilities?: JsonObject } };
      if (method === 'initialize') {
        const { tasks: _, ...capabilities } = result?.capabilities ?? {};
        return { ...answer, result: { ...result, capabilities } };
      }
      return method === 'tools/call' && params['task'] !== undefined
        ? { jsonrpc: '2.0', id: answer['id'], error: { code: -32602, message: 'No tasks here' } }
        : undefined;
    }),
  },
  tasked('tasks/created', 'makes tasks that have not begun', /"submitted"/, {
    created: (task) => ({ ...task, status: 'submitted' }),
  }),
  tasked('tasks/created', 'makes tasks that are over', /a new task of echo is "completed"/, {
    created: (task) => ({ ...task, status: 'completed' }),
  }),
  tasked('tasks/unguessable', 'counts its tasks', /task-00001/, {
    id: () => `task-${String(++count).padStart(5, '0')}`,
  }),
  tasked('tasks/state', 'does not say when a task began', /createdAt/, {
    state: ({ createdAt: _, ...rest }) => rest,
  }),
  tasked('tasks/result', 'gives an empty result', /content/, {
    result: ({ content: _, ...rest }) => rest,
  }),
  tasked('tasks/related', 'does not say of which task a result is', /absent/, {
    result: ({ _meta, ...rest }) => rest,
  }),
  tasked('tasks/final', 'cancels what is over', /a result with/, {
    cancelEnded: (task) => ({ result: { ...task, status: 'cancelled' } }),
  }),
  tasked('tasks/final', 'never says that a task is over', /the task is working/, {
    state: (task) => ({ ...task, status: 'working' }),
  }),
  tasked('tasks/cancelled', 'says working when it has cancelled a task', /tasks\/cancel returned working/, {
    cancelled: (task) => ({ ...task, status: 'working' }),
  }),
  tasked('tasks/unknown', 'says -32603 to a task that it does not know', /-32603/, {
    unknown: { error: { code: -32603, message: 'undefined' } },
  }),
  tasked('tasks/progress-ends', 'reports progress of a task that is over', /came after the end/, {
    farewell(io, progressToken) {
      for (const ms of [0, 30, 60])
        setTimeout(() => {
          io.reply({
            jsonrpc: '2.0',
            method: 'notifications/progress',
            params: { progressToken, progress: ms },
          });
        }, ms);
    },
  }),
];

let count = 0;

const EXTENSION = 'io.modelcontextprotocol/tasks';
const TASK = {
  taskId: '4f3c2b1a',
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttlMs: null,
};

/** As `tasks/get` returns it. */
const ENDED = {
  ...TASK,
  status: 'completed',
  result: { resultType: 'complete', content: [{ type: 'text', text: 'done' }] },
};

/** Whether a request declares the extension. */
function declares(params: JsonObject): boolean {
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  return JSON.stringify(meta).includes(EXTENSION);
}

/** The modern demo with the extension: `echo` becomes a task for whoever declares it. */
export function withExtension(
  onGet: (params: JsonObject) => { readonly result: JsonObject } | { readonly error: unknown },
): () => Middle {
  return () => {
    const announcing = changing((answer, { method }) => {
      const { result } = answer;
      if (method !== 'server/discover' || !isJsonObject(result)) return undefined;
      const capabilities = { ...(result['capabilities'] as JsonObject), extensions: { [EXTENSION]: {} } };
      return { ...answer, result: { ...result, capabilities } };
    })();
    const serving = answering(({ method, params }) => {
      if (method === 'tasks/get') return onGet(params);
      if (method === 'tasks/cancel') return { result: { resultType: 'complete' } };
      if (method === 'tools/call' && params['name'] === 'echo' && declares(params))
        return { result: { resultType: 'task', ...TASK } };
      return undefined;
    })();
    return {
      outgoing: announcing.outgoing!,
      incoming(message, io) {
        const next = serving.incoming!(message, io);
        return isJsonObject(next) ? announcing.incoming!(next, io) : undefined;
      },
    };
  };
}

/** As it should be. */
export function getTask(params: JsonObject): { readonly result: JsonObject } | { readonly error: unknown } {
  if (declares(params)) return { result: { resultType: 'complete', ...ENDED } };
  const data = { requiredCapabilities: { extensions: { [EXTENSION]: {} } } };
  return { error: { code: -32021, message: 'Tasks are an extension', data } };
}

export const taskExtensionMutants: readonly AnyMutant[] = [
  {
    check: 'tasks/extension-needed',
    fault: 'serves tasks to anybody',
    seen: /a result with/,
    options: MODERN,
    middle: withExtension(() => ({ result: { resultType: 'complete', ...TASK } })),
  },
  {
    check: 'tasks/extension-needed',
    fault: 'does not say what is missing',
    seen: /do not name it/,
    options: MODERN,
    middle: withExtension(() => ({
      error: { code: -32021, message: 'No', data: { requiredCapabilities: {} } },
    })),
  },
  {
    check: 'tasks/extension-ready',
    fault: 'does not know its task yet',
    seen: /-32602/,
    options: MODERN,
    middle: withExtension(() => ({ error: { code: -32602, message: 'No such task' } })),
  },
  {
    check: 'tasks/extension-ready',
    fault: 'says of the state of a task that it is a task',
    seen: /resultType/,
    options: MODERN,
    middle: withExtension(() => ({ result: { resultType: 'task', ...ENDED } })),
  },
  {
    check: 'tasks/extension-no-progress',
    fault: 'reports progress of a task',
    seen: /1 progress notifications came/,
    options: MODERN,
    middle: () => {
      const sound = withExtension(getTask)();
      return {
        outgoing: sound.outgoing!,
        incoming(message, io) {
          const next = sound.incoming!(message, io);
          const { _meta: meta } = (message['params'] ?? {}) as JsonObject;
          const { progressToken } = (meta ?? {}) as JsonObject;
          if (message['method'] === 'tools/call' && next === undefined) {
            const params = { progressToken, progress: 1 };
            io.reply({ jsonrpc: '2.0', method: 'notifications/progress', params });
          }
          return next;
        },
      };
    },
  },
];
