import type { Listener } from './bridge.js';
import type { Feature } from './features/feature.js';

/** Where in the matrix something is. */
export interface Cell {
  readonly client: string;
  readonly upstream: string;
  readonly listener: Listener;
}

/** What no bridge can do, and why. */
export interface Limit {
  readonly feature: Feature;
  /** For which cells; a member that is left out means all. */
  readonly clients?: readonly string[];
  readonly upstreams?: readonly string[];
  readonly listeners?: readonly Listener[];
  /** In words, for the table. */
  readonly reason: string;
  /** How the attempt fails. */
  readonly shows: RegExp;
}

export const LIMITS: readonly Limit[] = [
  {
    feature: 'outside calls',
    clients: ['v2-auto', 'v2-modern'],
    reason: 'A modern client can only be asked as a part of a call of its own. The server is refused.',
    shows: /the server heard: McpError: MCP error -32\d+: /,
  },
  {
    feature: 'outside calls',
    upstreams: ['v1-stdio'],
    listeners: ['http'],
    reason:
      'A question outside of calls does not say whom it is for, and several clients share the process. The server is ' +
      'refused; `--processes per-conversation` gives each legacy client a process of its own.',
    shows:
      /the server heard: .*\d conversations share this connection, and the question belongs to none of their calls/,
  },
];

export function limitOf(cell: Cell, feature: Feature): Limit | undefined {
  return LIMITS.find(
    (limit) =>
      limit.feature === feature &&
      (limit.clients?.includes(cell.client) ?? true) &&
      (limit.upstreams?.includes(cell.upstream) ?? true) &&
      (limit.listeners?.includes(cell.listener) ?? true),
  );
}
