import type { SettingsView } from '@isthmus/console';
import type { Visitor } from '@isthmus/console/internal/access/access.js';
import { createAuthenticate } from '@isthmus/gateway/internal/auth/create-authenticate.js';
import { usageError } from '../cli-error.js';
import { readAuthOptions } from '../serve/access/auth-options.js';
import { toPrincipal } from '../serve/access/http-access.js';
import type { ServeCommandOptions } from '../serve/serve-options.js';
import { type ConsoleLevel, LEVELS_UP_TO } from './console-levels.js';

/** How operators enter the console without a link. */
export interface ConsoleSignIn {
  readonly keys: SettingsView['console']['keys'];
  authenticate(given: { readonly apiKey?: string; readonly jwt?: string }): Promise<Visitor | undefined>;
}

/**
 * From `--console-key NAME=LEVEL` and `--console-scope LEVEL=SCOPE`. The keys and tokens are those of the gateway, but a
 * caller of the gateway is not an operator: only those who are named here may enter. Undefined: every visit needs a link.
 */
export function readConsoleSignIn(options: ServeCommandOptions): ConsoleSignIn | undefined {
  const { consoleKey = [], consoleScope = [], jwtScope = [] } = options;
  if (consoleKey.length === 0 && consoleScope.length === 0) return undefined;
  if (options.console === undefined || options.console === 'off')
    throw usageError(
      '--console-key and --console-scope are for a console at an address, and there is none',
      'Add --console HOST:PORT',
    );
  // The scopes that a caller of tools needs are not those of an operator.
  const { jwtScope: _, ...others } = options;
  const auth = readAuthOptions(others, () => {});
  if (!auth)
    throw usageError(
      '--console-key and --console-scope name keys and tokens, and none are accepted',
      'Add --api-key NAME=KEY, --bearer-file, --auth-server or --jwt-jwks',
    );
  const shared = consoleScope.find(({ name }) => jwtScope.includes(name));
  if (shared)
    throw usageError(
      `--console-scope ${shared.name} is also a --jwt-scope: every caller of a tool would be an operator`,
      'Take a scope of its own',
    );
  const byPrincipal = new Map(consoleKey.map(({ name, level }) => [toPrincipal(name), level]));
  const byScope = new Map(consoleScope.map(({ name, level }) => [name, level]));
  const { authenticate } = createAuthenticate(auth);
  return {
    keys: [...byPrincipal, ...[...byScope].map(([scope, level]) => [`scope ${scope}`, level] as const)].map(
      ([name, level]) => ({ name, levels: LEVELS_UP_TO[level] }),
    ),
    async authenticate({ apiKey, jwt }) {
      const authorization = `Bearer ${(apiKey ?? jwt ?? '').trim()}`;
      const header = (name: string) => (name === 'authorization' ? authorization : undefined);
      const found = await authenticate({ method: 'POST', target: '/', header });
      const grant = typeof found === 'string' ? { principal: found } : found;
      if (!grant || !('principal' in grant)) return undefined;
      const { principal, scopes = [], expiresAt } = grant;
      const given = [byPrincipal.get(principal), ...scopes.map((scope) => byScope.get(scope))];
      const levels = LEVELS_UP_TO[highest(given)];
      if (levels.length === 0) return undefined;
      return {
        ...{ who: principal, levels },
        ...(expiresAt !== undefined && { until: expiresAt }),
        ...(grant.standing && { standing: grant.standing }),
      };
    },
  };
}

function highest(given: readonly (ConsoleLevel | undefined)[]): ConsoleLevel | 'none' {
  return (['record', 'act', 'look'] as const).find((level) => given.includes(level)) ?? 'none';
}
