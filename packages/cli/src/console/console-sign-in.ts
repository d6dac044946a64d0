import type { SettingsView } from '@isthmus/console';
import type { ConsoleUser } from '@isthmus/console/internal/access/access.js';
import { createAuthenticate } from '@isthmus/gateway/internal/auth/create-authenticate.js';
import type { CoversScopes } from '@isthmus/sdk/internal/transport/http-server/options.js';
import { usageError } from '../cli-error.js';
import { readAuthOptions } from '../serve/access/auth-options.js';
import { toPrincipal } from '../serve/access/http-access.js';
import type { ServeCommandOptions } from '../serve/serve-options.js';
import { type ConsoleLevel, LEVELS_UP_TO } from './console-levels.js';

/** How operators enter the console without a link. */
export interface ConsoleSignIn {
  readonly keys: SettingsView['console']['keys'];
  /** `covers`: which scopes include others, as the gateway has it at the moment. */
  authenticate(
    given: { readonly apiKey?: string; readonly jwt?: string },
    covers?: CoversScopes,
  ): Promise<ConsoleUser | undefined>;
}

/**
 * From `--console-key NAME=LEVEL` and `--console-scope LEVEL=SCOPE`. The keys and tokens are those of the gateway, but a
 * caller of the gateway is not an operator: only those who are named here may enter. Undefined: every user needs a link.
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
    async authenticate({ apiKey, jwt }, covers = hasEach) {
      const authorization = `Bearer ${(apiKey ?? jwt ?? '').trim()}`;
      const header = (name: string) => (name === 'authorization' ? authorization : undefined);
      const found = await authenticate({ method: 'POST', target: '/', header });
      const grant = typeof found === 'string' ? { principal: found } : found;
      if (!grant || !('principal' in grant)) return undefined;
      const { principal, scopes = [], expiresAt } = grant;
      // AUTH-S-009. A scope that those of every caller of a tool include gives no level.
      const opens = (name: string) =>
        scopes.includes(name) || (covers(scopes, [name]) && !covers(jwtScope, [name]));
      const levelsNow = () => {
        const named = [...byScope].flatMap(([name, level]) => (opens(name) ? [level] : []));
        return LEVELS_UP_TO[highest([byPrincipal.get(principal), ...named])];
      };
      const levels = levelsNow();
      if (levels.length === 0) return undefined;
      const { standing } = grant;
      return {
        ...{ who: principal, levels },
        ...(expiresAt !== undefined && { until: expiresAt }),
        // The rules of the gateway may have changed.
        ...(standing && {
          standing: () => (levelsNow().length < levels.length ? 'revoked' : standing()),
        }),
      };
    },
  };
}

const hasEach: CoversScopes = (granted, needed) => needed.every((scope) => granted.includes(scope));

function highest(given: readonly (ConsoleLevel | undefined)[]): ConsoleLevel | 'none' {
  return (['record', 'act', 'look'] as const).find((level) => given.includes(level)) ?? 'none';
}
