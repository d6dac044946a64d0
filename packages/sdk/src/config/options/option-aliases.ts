import { type DocumentTable, isTable, type Path } from '../documents/document.js';
import type { ConfigReport } from '../report.js';
import type { ServerSettings } from '../server-spec.js';
import { isMode, NAMES, toMs } from './option-kinds.js';

/** Reads options under the names that other applications use. An invalid value is skipped with a warning. */
export function fromAliases(
  table: DocumentTable,
  path: Path,
  secondsOnly: boolean,
  report: ConfigReport,
): ServerSettings {
  let settings: ServerSettings = {};
  for (const [name, { expected, read, guards }] of Object.entries(ALIASES)) {
    const value = table.get(name);
    if (value === undefined || value === null) continue;
    const part = read(value, secondsOnly);
    if (part) settings = combine(settings, part);
    else if (guards) report.error([...path, name], `must be ${expected}`);
    else report.warning([...path, name], `is not used: it must be ${expected}`);
  }
  return settings;
}

/** Several aliases can set parts of the same option: delay and number of restarts, and the lists of tools. */
function combine(before: ServerSettings, part: ServerSettings): ServerSettings {
  const restart = before.restart && part.restart ? { ...before.restart, ...part.restart } : part.restart;
  const deny = [...(before.tools?.deny ?? []), ...(part.tools?.deny ?? [])];
  const tools = { ...before.tools, ...part.tools, ...(deny.length > 0 && { deny }) };
  return {
    ...before,
    ...part,
    ...(restart !== undefined && { restart }),
    ...(part.tools && { tools }),
  };
}

interface Alias {
  readonly expected: string;
  /** It restricts access, so an invalid value is an error. */
  readonly guards?: boolean;
  read(value: unknown, secondsOnly: boolean): ServerSettings | undefined;
}

/** Later rows override earlier ones: `restartOnExit: false` overrides a number of restarts. */
const ALIASES: Readonly<Record<string, Alias>> = {
  enabled: flag((enabled) => (enabled ? {} : { disabled: true })),
  timeout: {
    expected: 'a number',
    read(value, secondsOnly) {
      const timeoutMs = toMs(value, secondsOnly || Number(value) < LEAST_TIMEOUT_MS ? 1000 : 1);
      return timeoutMs === undefined ? undefined : { timeoutMs };
    },
  },
  tool_timeout_sec: duration(1000, (timeoutMs) => ({ timeoutMs })),
  startup_timeout_ms: duration(1, (connectTimeoutMs) => ({ connectTimeoutMs })),
  startup_timeout_sec: duration(1000, (connectTimeoutMs) => ({ connectTimeoutMs })),
  required: flag((needed) => ({ needed })),
  ...lists(
    (allow) => ({ tools: { allow } }),
    'includeTools',
    'enabledTools',
    'enabled_tools',
    'allowedTools',
  ),
  ...lists(
    (deny) => ({ tools: { deny } }),
    'excludeTools',
    'disabledTools',
    'disabled_tools',
    'blockedTools',
  ),
  protocolVersion: mode('a revision such as 2025-11-25'),
  protocolEra: mode('auto, modern or legacy'),
  longLived: flag((longLived) => (longLived ? { idleMs: false } : {})),
  lifecycle: {
    expected: 'keep-alive, ephemeral or an object with one of them as its mode',
    read(value) {
      const mode = isTable(value) ? value.get('mode') : value;
      if (mode === 'ephemeral') return { idleMs: AT_ONCE_MS };
      if (mode !== 'keep-alive') return undefined;
      const idle = isTable(value) ? value.get('idleTimeoutMs') : undefined;
      return idle === undefined ? { idleMs: false } : IDLE_MS.read(idle, false);
    },
  },
  idle_timeout_seconds: idleIn(1000),
  idleTimeoutMs: idleIn(1),
  max_lifetime_seconds: duration(
    1000,
    (maxAgeMs) => ({ maxAgeMs }),
    () => ({}),
  ),
  singleton: flag((singleton) => (singleton ? { processes: 'shared', maxProcesses: 1 } : {})),
  maxRestarts: {
    expected: 'a whole number, 0 or more',
    read: (value) =>
      Number.isSafeInteger(value) && Number(value) >= 0
        ? { restart: { attempts: Number(value) } }
        : undefined,
  },
  restartDelay: duration(1, (firstDelayMs) => ({ restart: { firstDelayMs } })),
  restartOnExit: flag((restarts) => (restarts ? { restart: {} } : { restart: false })),
};

export const ALIAS_NAMES = Object.keys(ALIASES);

/** A timeout below one second is not plausible, so a smaller number means seconds. */
const LEAST_TIMEOUT_MS = 1000;
/** The shortest possible time: an ephemeral process ends when its calls have ended. */
const AT_ONCE_MS = 1;
const IDLE_MS = idleIn(1);

function idleIn(unitMs: number): Alias {
  return duration(
    unitMs,
    (idleMs) => ({ idleMs }),
    () => ({ idleMs: false }),
  );
}

/** In files of other applications zero turns a limit off. `useZero` returns the option for that. */
function duration(
  unitMs: number,
  use: (ms: number) => ServerSettings,
  useZero?: () => ServerSettings,
): Alias {
  return {
    expected: unitMs === 1 ? 'a number of milliseconds' : 'a number of seconds',
    read(value) {
      if (value === 0 && useZero) return useZero();
      const ms = toMs(value, unitMs);
      return ms === undefined ? undefined : use(ms);
    },
  };
}

function flag(use: (value: boolean) => ServerSettings): Alias {
  return {
    expected: 'true or false',
    read: (value) => (typeof value === 'boolean' ? use(value) : undefined),
  };
}

function mode(expected: string): Alias {
  return { expected, read: (value) => (isMode(value) ? { mode: value } : undefined) };
}

function lists(
  use: (names: readonly string[]) => ServerSettings,
  ...keys: readonly string[]
): Record<string, Alias> {
  const read = (value: unknown) => {
    const names = NAMES.read(value);
    return names === undefined ? undefined : use(names as readonly string[]);
  };
  return Object.fromEntries(keys.map((key) => [key, { expected: NAMES.expected, guards: true, read }]));
}
