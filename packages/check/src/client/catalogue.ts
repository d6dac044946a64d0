import { CACHE } from './checks/cache.js';
import { CANCEL, RESULTS } from './checks/calls.js';
import type { ClientCheck } from './checks/check.js';
import { ERA_RULES } from './checks/eras.js';
import { HANDSHAKE } from './checks/handshake.js';
import { HEADERS } from './checks/headers.js';
import { IDS, MESSAGES } from './checks/messages.js';
import { CAPABILITIES, META_CHECKS } from './checks/meta.js';
import { NEGOTIATION } from './checks/negotiation.js';
import { PARAM_HEADERS } from './checks/param-headers.js';
import { QUESTIONS } from './checks/questions.js';
import { ROBUSTNESS } from './checks/robustness.js';
import { ROUNDS } from './checks/rounds.js';
import { SESSIONS } from './checks/sessions.js';
import { SHUTDOWN } from './checks/shutdown.js';
import { AUTHORIZATION } from './login/checks/authorization.js';
import { DISCOVERY } from './login/checks/discovery.js';
import { IDENTITY } from './login/checks/identity.js';
import { TOKENS } from './login/checks/tokens.js';
import type { Over, Scenario } from './model.js';
import { SCENARIOS } from './scenarios/index.js';
import { TASK_CHECKS } from './tasks/task-checks.js';

/** All checks of clients. */
export const CLIENT_CHECKS: readonly ClientCheck[] = [
  ...NEGOTIATION,
  ...ERA_RULES,
  ...MESSAGES,
  ...IDS,
  ...META_CHECKS,
  ...HANDSHAKE,
  ...QUESTIONS,
  ...CAPABILITIES,
  ...ROUNDS,
  ...RESULTS,
  ...CANCEL,
  ...CACHE,
  ...HEADERS,
  ...PARAM_HEADERS,
  ...SESSIONS,
  ...ROBUSTNESS,
  ...SHUTDOWN,
  ...TASK_CHECKS,
  ...DISCOVERY,
  ...AUTHORIZATION,
  ...IDENTITY,
  ...TOKENS,
];

interface ScenarioChoice {
  readonly checks: readonly ClientCheck[];
  readonly scenarios: readonly Scenario[];
}

/**
 * Which checks and scenarios `--only` selects. Without it: all of them, with those of logins only if `auth` is set. A check or a suite selects the scenarios that it needs. A scenario selects
 * the checks that look at it. With both, only these checks look at only these scenarios. `area/*` is every id with that
 * prefix.
 */
export function choose(only: readonly string[], { auth = false } = {}): ScenarioChoice {
  if (only.length === 0) {
    return {
      checks: CLIENT_CHECKS.filter(({ suite }) => auth || suite !== 'login'),
      scenarios: SCENARIOS.filter(({ login }) => auth || !login),
    };
  }
  const scenarios = SCENARIOS.filter(({ name }) => only.includes(name));
  const checks = CLIENT_CHECKS.filter((check) => only.some((name) => names(name, check)));
  if (scenarios.length === 0) return { checks, scenarios: neededBy(checks) };
  if (checks.length > 0) return { checks, scenarios };
  return {
    checks: CLIENT_CHECKS.filter(({ on }) =>
      scenarios.some(({ name, login, apart }) => (on === 'all' ? !login && !apart : on.includes(name))),
    ),
    scenarios,
  };
}

/** Whether a check looks at a run. A login repeats requests, so only checks that name such a server look at it. */
export function concerns(
  { on, over }: Pick<ClientCheck, 'on' | 'over'>,
  { name, login, apart }: Pick<Scenario, 'name' | 'login' | 'apart'>,
  of: Over,
): boolean {
  return (over === undefined || over.includes(of)) && (on === 'all' ? !login && !apart : on.includes(name));
}

function names(name: string, { id, suite }: ClientCheck): boolean {
  return name === id || name === suite || (name.endsWith('*') && id.startsWith(name.slice(0, -1)));
}

function neededBy(checks: readonly ClientCheck[]): Scenario[] {
  const named = new Set(checks.flatMap(({ on }) => (on === 'all' ? [] : on)));
  // Checks of every message look at all runs. When only such checks are selected, a few ordinary servers are enough.
  const wanted = named.size > 0 ? named : ORDINARY;
  return SCENARIOS.filter(({ name }) => wanted.has(name));
}

const ORDINARY: ReadonlySet<string> = new Set(['modern-only', 'dual', 'legacy-2025-11-25', 'cancel-modern']);
