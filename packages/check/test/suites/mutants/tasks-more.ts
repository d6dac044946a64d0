import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { HttpMutant, ProxyHooks, ProxyRequest, ProxyResponse } from '../../support/suites/mutant.js';
import { tasksAt, USERS } from '../../support/suites/task-server.js';

const RELATED = 'io.modelcontextprotocol/related-task';
const EXTENSION = 'io.modelcontextprotocol/tasks';
/** The checks live on what the survey saw of them. */
const visit = ['slow', 'quick', 'ask', 'broken', 'only', 'plain'];
const LEGACY = { eras: ['legacy'], visit } as const;
const MODERN = { eras: ['modern'], visit } as const;

const on = (check: string, fault: string, proxy: () => ProxyHooks, seen?: RegExp): HttpMutant => ({
  check: `tasks/${check}`,
  fault,
  proxy,
  base: tasksAt(),
  options: check.startsWith('extension') ? MODERN : LEGACY,
  ...(seen && { seen }),
});

/** The same with users: the token is the name. */
const withUsers = (mutant: HttpMutant): HttpMutant => ({
  ...mutant,
  base: tasksAt({ users: true }),
  options: { ...mutant.options, tokens: USERS },
});

const paramsIn = ({ json }: ProxyRequest): JsonObject =>
  isJsonObject(json?.['params']) ? json['params'] : {};
const isOf = ({ json }: ProxyRequest, method: string) => json?.['method'] === method;

/** Answers some requests in the place of the server. */
function answering(
  answer: (request: ProxyRequest, params: JsonObject) => JsonObject | undefined,
): () => ProxyHooks {
  return () => ({
    request(request): ProxyResponse | undefined {
      const own = request.json?.['id'] === undefined ? undefined : answer(request, paramsIn(request));
      return own && reply({ jsonrpc: '2.0', id: request.json?.['id'], ...own });
    },
  });
}

function reply(body: JsonObject): ProxyResponse {
  return {
    respond: { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  };
}

/** Changes the results of a method. */
function changing(
  method: string,
  change: (result: JsonObject, params: JsonObject) => JsonObject,
): () => ProxyHooks {
  return () => ({
    message: (message, request) =>
      isOf(request, method) && isJsonObject(message['result'])
        ? { ...message, result: change(message['result'], paramsIn(request)) }
        : message,
  });
}

const changed = (request: ProxyRequest, params: JsonObject): Partial<ProxyRequest> => ({
  body: Buffer.from(JSON.stringify({ ...request.json, params })),
});

/** Everybody is Ann. */
const trusting = (): ProxyHooks => ({
  request: ({ headers }) => ({ headers: { ...headers, authorization: 'Bearer ann' } }),
});

const TEXT = { content: [{ type: 'text', text: 'done' }] };
const ERROR = (code: number) => ({ error: { code, message: 'No' } });
const STATE = {
  status: 'working',
  createdAt: '2026-01-01T00:00:00Z',
  lastUpdatedAt: '2026-01-01T00:00:00Z',
  ttl: 60_000,
};

export const moreTaskMutants: readonly HttpMutant[] = [
  on('forbidden', 'runs a plain tool as if there were no task', () => ({
    request(request) {
      const { task: _, ...params } = paramsIn(request);
      return params['name'] === 'plain' ? changed(request, params) : undefined;
    },
  })),
  on(
    'required',
    'serves a plain call of a tool that needs a task',
    answering((request, params) =>
      isOf(request, 'tools/call') && params['name'] === 'only' && !params['task']
        ? { result: TEXT }
        : undefined,
    ),
  ),
  on(
    'undeclared-methods',
    'lists tasks without having said so',
    answering((request) => (isOf(request, 'tasks/list') ? { result: { tasks: [] } } : undefined)),
  ),
  on('get-not-streamed', 'answers tasks/get with a stream', () => ({
    request(request) {
      if (!isOf(request, 'tasks/get')) return undefined;
      const result = { ...STATE, taskId: paramsIn(request)['taskId'] };
      const data = JSON.stringify({ jsonrpc: '2.0', id: request.json?.['id'], result });
      return {
        respond: {
          status: 200,
          headers: { 'content-type': 'text/event-stream' },
          body: `event: message\ndata: ${data}\n\n`,
        },
      };
    },
  })),
  on(
    'related-ignored',
    'goes by related-task',
    answering((request, { _meta }) =>
      isOf(request, 'tasks/get') && isJsonObject(_meta) && _meta[RELATED] ? ERROR(-32602) : undefined,
    ),
  ),
  on(
    'related-left-out',
    'adds related-task everywhere',
    changing('tasks/get', (result, { taskId }) => ({ ...result, _meta: { [RELATED]: { taskId } } })),
  ),
  withUsers(
    on(
      'listed',
      'lists nothing',
      changing('tasks/list', () => ({ tasks: [] })),
    ),
  ),
  withUsers(
    on(
      'list-cursor',
      'takes any cursor',
      answering((request, { cursor }) =>
        isOf(request, 'tasks/list') && cursor !== undefined ? { result: { tasks: [] } } : undefined,
      ),
    ),
  ),
  on(
    'no-list-for-strangers',
    'lets everybody list all tasks',
    changing('initialize', (result) => {
      const capabilities = result['capabilities'] as JsonObject;
      return {
        ...result,
        capabilities: { ...capabilities, tasks: { ...(capabilities['tasks'] as object), list: {} } },
      };
    }),
  ),
  on(
    'error-is-failed',
    'completes a task whose tool reports an error',
    changing('tasks/get', (result) =>
      result['status'] === 'failed' ? { ...result, status: 'completed' } : result,
    ),
  ),
  on('questions-related', 'asks without the name of its task', () => ({
    message(message) {
      if (message['method'] !== 'elicitation/create') return message;
      const { _meta, ...params } = message['params'] as JsonObject;
      return { ...message, params };
    },
  })),
  withUsers(on('users-apart', 'shows tasks to every user', trusting)),
  {
    ...on('extension-off-in-legacy', 'makes tasks of the extension in a legacy session', () => {
      let declared = false;
      return {
        request(request) {
          const params = paramsIn(request);
          if (isOf(request, 'initialize')) declared = JSON.stringify(params).includes(EXTENSION);
          if (!declared || !isOf(request, 'tools/call') || params['_meta']) return undefined;
          const result = { resultType: 'task', taskId: 'some-task', ...STATE };
          return reply({ jsonrpc: '2.0', id: request.json?.['id'], result });
        },
      };
    }),
    options: { eras: ['modern', 'legacy'], visit },
  },
  on(
    'extension-needed-everywhere',
    'cancels tasks for anybody',
    answering((request) =>
      isOf(request, 'tasks/cancel') ? { result: { resultType: 'complete' } } : undefined,
    ),
    /tasks\/cancel without the extension/,
  ),
  on(
    'extension-needed-everywhere',
    'reports on tasks to anybody',
    () => ({
      request(request) {
        const { notifications, ...params } = paramsIn(request);
        return isOf(request, 'subscriptions/listen')
          ? changed(request, { ...params, notifications: {} })
          : undefined;
      },
    }),
    /subscriptions\/listen without the extension was accepted/,
  ),
  on(
    'extension-unknown',
    'says -32603 to a task that it does not know',
    answering((request, { taskId, _meta }) =>
      isOf(request, 'tasks/get') &&
      /no-such/.test(String(taskId)) &&
      JSON.stringify(_meta).includes(EXTENSION)
        ? ERROR(-32603)
        : undefined,
    ),
  ),
  on(
    'extension-unknown-others',
    'cancels tasks that it does not know',
    answering((request) =>
      isOf(request, 'tasks/cancel') ? { result: { resultType: 'complete' } } : undefined,
    ),
  ),
  on(
    'extension-no-legacy-result',
    'still has tasks/result',
    answering((request) => (isOf(request, 'tasks/result') ? ERROR(-32602) : undefined)),
  ),
  on(
    'extension-ignores-task',
    'refuses params.task',
    answering((request, { task }) =>
      isOf(request, 'tools/call') && task !== undefined ? ERROR(-32602) : undefined,
    ),
  ),
  on(
    'extension-no-legacy-capability',
    'announces tasks as in 2025-11-25',
    changing('server/discover', (result) => ({
      ...result,
      capabilities: { ...(result['capabilities'] as object), tasks: { list: {} } },
    })),
  ),
  on(
    'extension-created',
    'nests the task',
    changing('tools/call', (result) =>
      result['resultType'] === 'task' ? { ...result, task: { taskId: result['taskId'] } } : result,
    ),
    /has task/,
  ),
  on(
    'extension-created',
    'does not say how long a task is kept',
    changing('tools/call', ({ ttlMs, ...result }) =>
      result['resultType'] === 'task' ? result : { ...result, ttlMs },
    ),
    /ttlMs/,
  ),
  on('extension-unguessable', 'counts its tasks', counting),
  on(
    'extension-states',
    'adds an empty result to every task',
    changing('tasks/get', (result) => ({ result: {}, ...result })),
    /has result/,
  ),
  on(
    'extension-states',
    'does not return the result',
    changing('tasks/get', ({ result: _, ...rest }) => rest),
    /result/,
  ),
  on(
    'extension-result',
    'returns only the text of the result',
    changing('tasks/get', (state) => (state['result'] ? { ...state, result: { text: 'done' } } : state)),
  ),
  on(
    'extension-error-is-result',
    'fails a task whose tool reports an error',
    changing('tasks/get', ({ result, ...state }) =>
      isJsonObject(result) && result['isError']
        ? { ...state, status: 'failed', error: { code: -32603, message: 'It does not work' } }
        : { ...state, ...(result !== undefined && { result }) },
    ),
  ),
  on('extension-final', 'goes on after the end', () => {
    const ended = new Set<unknown>();
    return changing('tasks/get', ({ result, ...state }) => {
      if (result === undefined) return state;
      if (ended.has(state['taskId'])) return { ...state, status: 'working' };
      ended.add(state['taskId']);
      return { ...state, result };
    })();
  }),
  on(
    'extension-cancel',
    'answers tasks/cancel with the task',
    changing('tasks/cancel', (result, { taskId }) => ({ ...result, taskId, status: 'cancelled' })),
  ),
  on(
    'extension-cancel',
    'answers tasks/cancel as in 2025-11-25',
    changing('tasks/cancel', (_result, { taskId }) => ({ taskId, ...STATE })),
    /resultType/,
  ),
  on('extension-cancel-ended', 'refuses to cancel what has ended', () => {
    const ended = new Set<unknown>();
    return {
      message(message, request) {
        const { taskId } = paramsIn(request);
        if (isOf(request, 'tasks/get') && JSON.stringify(message).includes('"completed"')) ended.add(taskId);
        const refused = { jsonrpc: '2.0', id: message['id'], ...ERROR(-32602) };
        return isOf(request, 'tasks/cancel') && ended.has(taskId) ? refused : message;
      },
    };
  }),
  on(
    'extension-update',
    'answers tasks/update with the task',
    changing('tasks/update', (result, { taskId }) => ({ ...result, taskId, status: 'working' })),
  ),
  on(
    'extension-stray-answers',
    'refuses answers that it did not ask for',
    answering((request, params) =>
      isOf(request, 'tasks/update') && JSON.stringify(params).includes('no-such-key')
        ? ERROR(-32602)
        : undefined,
    ),
  ),
  on('extension-keys', 'always asks under the same key', sameKey, /used the key question again/),
  on('extension-subscribed', 'acknowledges every task', () => ({
    message(message, request) {
      if (message['method'] !== 'notifications/subscriptions/acknowledged') return message;
      const { notifications } = paramsIn(request);
      return { ...message, params: { ...(message['params'] as object), notifications } };
    },
  })),
  on('extension-name-header', 'does not look at Mcp-Name', () => ({
    request(request) {
      const { taskId } = paramsIn(request);
      return taskId === undefined
        ? undefined
        : { headers: { ...request.headers, 'mcp-name': String(taskId) } };
    },
  })),
  withUsers(on('extension-users-apart', 'shows tasks to every user', trusting)),
];

/** Its tasks have numbers. The server behind it does not know. */
function counting(): ProxyHooks {
  const real = new Map<string, string>();
  return {
    request(request) {
      const params = paramsIn(request);
      const taskId = real.get(String(params['taskId']));
      if (taskId === undefined) return undefined;
      return {
        ...changed(request, { ...params, taskId }),
        headers: { ...request.headers, 'mcp-name': taskId },
      };
    },
    message(message, request) {
      const { result } = message;
      if (!isJsonObject(result) || typeof result['taskId'] !== 'string') return message;
      const known = [...real].find(([, id]) => id === result['taskId'])?.[0];
      const taskId = known ?? `task-number-${real.size + 1}`;
      if (isOf(request, 'tools/call')) real.set(taskId, result['taskId']);
      return { ...message, result: { ...result, taskId } };
    },
  };
}

/** All its questions have one key. The server behind it does not know. */
function sameKey(): ProxyHooks {
  let last = '';
  return {
    request(request) {
      const { inputResponses, ...params } = paramsIn(request);
      if (!isJsonObject(inputResponses) || !('question' in inputResponses)) return undefined;
      return changed(request, { ...params, inputResponses: { [last]: inputResponses['question'] } });
    },
    message(message) {
      const { result } = message;
      const asked = isJsonObject(result) ? result['inputRequests'] : undefined;
      if (!isJsonObject(result) || !isJsonObject(asked)) return message;
      const [[key, question] = ['', {}]] = Object.entries(asked);
      last = key;
      return { ...message, result: { ...result, inputRequests: { question } } };
    },
  };
}
