import type { AccessLevel, RouteName } from '../contract.js';

/** Who may use a route. */
export interface RouteRule {
  /** `none`: it needs no key. */
  readonly level: AccessLevel | 'none';
  /** In a gateway, its answer holds payloads of clients: it also needs `record`, unless the call is the user's own. */
  readonly hasPayloads?: true;
}

/** The rule of every route, in one place. A test walks all routes with all levels. */
export const ROUTE_RULES: Readonly<Record<RouteName, RouteRule>> = {
  'POST enter': { level: 'none' },
  'POST leave': { level: 'look' },
  'GET hello': { level: 'look' },
  'POST feed': { level: 'look' },
  'GET connections': { level: 'look' },
  'GET connection': { level: 'look' },
  'PUT connection': { level: 'act' },
  'DELETE connection': { level: 'act' },
  'GET lists/:what': { level: 'act' },
  'POST calls': { level: 'act' },
  'GET calls': { level: 'look' },
  'GET calls/:id': { level: 'look', hasPayloads: true },
  'DELETE calls/:id': { level: 'act' },
  'GET calls/:id/content/:index': { level: 'look', hasPayloads: true },
  'GET calls/:id/lens': { level: 'look', hasPayloads: true },
  'POST complete': { level: 'act' },
  'GET questions': { level: 'look' },
  'POST questions/:id': { level: 'act' },
  'GET listens': { level: 'look' },
  'POST listens': { level: 'act' },
  'DELETE listens/:id': { level: 'act' },
  'PUT log-level': { level: 'act' },
  'GET frames': { level: 'look', hasPayloads: true },
  'GET frames/:seq': { level: 'look', hasPayloads: true },
  'POST traces': { level: 'look', hasPayloads: true },
  'POST snippets': { level: 'look' },
  'GET logs': { level: 'look' },
  'GET timing': { level: 'look' },
  'GET checks': { level: 'look' },
  'POST checks': { level: 'act' },
  'GET checks/:id': { level: 'look' },
  'DELETE checks/:id': { level: 'act' },
  'GET status': { level: 'look' },
  'GET servers/:name': { level: 'look' },
  'POST servers/:name/restart': { level: 'act' },
  'POST servers/:name/stop': { level: 'act' },
  'POST servers/:name/start': { level: 'act' },
  'POST reload': { level: 'act' },
  'GET series': { level: 'look' },
  'GET callers': { level: 'look' },
  'GET sessions': { level: 'look' },
  'DELETE sessions/:id': { level: 'act' },
  'GET settings': { level: 'look' },
  'GET recordings': { level: 'look' },
  'POST recordings': { level: 'record' },
  'DELETE recordings/:id': { level: 'record' },
};

export interface FoundRoute {
  readonly name: RouteName;
  /** The segments that stand for `:name`, decoded. */
  readonly segments: readonly string[];
}

/** The route for a method and the segments of a path. `methods`: those of the path, where the method is another one. */
export function findRoute(
  method: string,
  segments: readonly string[],
): FoundRoute | { readonly methods: readonly string[] } {
  const methods: string[] = [];
  for (const { name, of, pattern } of PATTERNS) {
    const found = match(pattern, segments);
    if (!found) continue;
    if (of === method) return { name, segments: found };
    methods.push(of);
  }
  return { methods };
}

const PATTERNS = (Object.keys(ROUTE_RULES) as RouteName[]).map((name) => {
  const [of, path] = name.split(' ') as [string, string];
  return { name, of, pattern: path.split('/') };
});

function match(pattern: readonly string[], segments: readonly string[]): string[] | undefined {
  if (pattern.length !== segments.length) return undefined;
  const found: string[] = [];
  for (const [at, part] of pattern.entries()) {
    const given = segments[at]!;
    if (part.startsWith(':')) found.push(given);
    else if (part !== given) return undefined;
  }
  return found;
}
