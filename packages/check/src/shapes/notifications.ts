/** Notifications of a server. */
import { isLoggingLevel } from '@isthmus/sdk/internal/era/reports.js';
import { uri } from './formats.js';
import { notificationMeta, streamMeta } from './meta.js';
import {
  all,
  anything,
  boolean,
  inWords,
  is,
  list,
  number,
  object,
  type Revision,
  type Shape,
  since,
  string,
  stringOrInteger,
} from './shape.js';
import { extensionTaskState, task } from './tasks.js';

interface Known {
  readonly since: Revision;
  readonly until?: Revision;
  readonly params: Shape;
}

const logLevel = is('a log level such as "info"', isLoggingLevel);

/** Legacy: params may be absent. Modern: they name the listen stream (META-013). */
const news = since('2026-07-28', object({ _meta: streamMeta }), optional(object({})));

const KNOWN: Readonly<Record<string, Known>> = {
  'notifications/cancelled': {
    since: '2024-11-05',
    params: all(object({ 'reason?': string }), (value, path, context) => {
      // In 2025-11-25 it may be absent, because of tasks (CANC-016).
      const optional = context.revision === '2025-11-25';
      object({ [optional ? 'requestId?' : 'requestId']: stringOrInteger })(value, path, context);
    }),
  },
  'notifications/progress': {
    since: '2024-11-05',
    params: object({
      progressToken: stringOrInteger,
      progress: number,
      'total?': number,
      'message?': since('2025-03-26', string),
    }),
  },
  'notifications/message': {
    since: '2024-11-05',
    params: object({ level: logLevel, data: anything, 'logger?': string }),
  },
  'notifications/tools/list_changed': { since: '2024-11-05', params: news },
  'notifications/prompts/list_changed': { since: '2024-11-05', params: news },
  'notifications/resources/list_changed': { since: '2024-11-05', params: news },
  'notifications/resources/updated': {
    since: '2024-11-05',
    params: all(object({ uri }), since('2026-07-28', object({ _meta: streamMeta }))),
  },
  'notifications/subscriptions/acknowledged': {
    since: '2026-07-28',
    params: object({
      _meta: streamMeta,
      notifications: object({
        'toolsListChanged?': boolean,
        'promptsListChanged?': boolean,
        'resourcesListChanged?': boolean,
        'resourceSubscriptions?': list(string),
      }),
    }),
  },
  'notifications/elicitation/complete': {
    since: '2025-11-25',
    until: '2025-11-25',
    params: object({ elicitationId: string }),
  },
  'notifications/tasks/status': { since: '2025-11-25', until: '2025-11-25', params: task },
  'notifications/tasks': { since: '2026-07-28', params: extensionTaskState },
};

/** Notifications that only clients send. */
const OF_CLIENTS: readonly string[] = ['notifications/initialized', 'notifications/roots/list_changed'];

/** Of an unknown method, only the common members are judged. */
export function notificationShape(method: string): Shape {
  const known = Object.hasOwn(KNOWN, method) ? KNOWN[method] : undefined;
  return (value, path, context) => {
    const { revision, complaints } = context;
    const foreign = known && (revision < known.since || (known.until ?? revision) < revision);
    if (foreign || OF_CLIENTS.includes(method)) {
      complaints.push({
        path: 'method',
        expected: `a notification of a server of ${revision}`,
        got: inWords(method),
      });
      return;
    }
    known?.params(value, path, context);
    optional(object({ '_meta?': notificationMeta }))(value, path, context);
  };
}

function optional(shape: Shape): Shape {
  return (value, path, context) => {
    if (value !== undefined) shape(value, path, context);
  };
}
