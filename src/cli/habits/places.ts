import { usageError } from '../cli-error.js';
import type { Habit, Habits } from './habit.js';
import { checkedPath } from './words.js';

/** Where others let users put the old transport, and the page that says that they live. */
export const PLACES: Habits = {
  'sse-path': oldTransport('--ssePath', 'sse'),
  'sse-endpoint': oldTransport('--sseEndpoint', 'sse'),
  'message-path': oldTransport('--messagePath', 'message'),
  'health-endpoint': {
    takes: 'one',
    say([path = '']) {
      checkedPath('--healthEndpoint', path);
      if (HEALTH.has(path)) return;
      throw usageError(
        `--healthEndpoint ${path}: health has its own addresses`,
        'Ask /healthz (it lives) or /readyz (its server can be used); /health, /livez, /ping and /ready are the same',
      );
    },
  },
};

const HEALTH: ReadonlySet<string> = new Set([
  '/healthz',
  '/health',
  '/livez',
  '/ping',
  '/readyz',
  '/ready',
  '/status',
]);

/** Beside `/mcp` it is at `/sse` and `/message`. */
function oldTransport(option: string, last: 'sse' | 'message'): Habit {
  return {
    takes: 'one',
    say([path = '']) {
      if (checkedPath(option, path) === `/${last}`) return;
      throw usageError(
        `${option} ${path}: clients of 2024-11-05 are served beside the others, at /${last}`,
        `Leave it out, or let a proxy in front turn ${path} into /${last}`,
      );
    },
  };
}
