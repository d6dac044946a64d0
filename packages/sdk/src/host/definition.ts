import { checkedOptions, type OptionNames } from '../arguments.js';
import type { Mode } from '../client/options.js';
import { OPTION_NAMES } from '../config/options/option-table.js';
import { type CommandSpec, given, type ProcessModel, type ServerSettings } from '../config/server-spec.js';
import type { Answers } from '../era/answers.js';
import { eraOf } from '../era/classify/classify-probe.js';
import { IsthmusError } from '../errors.js';
import type { CommandOptions } from '../transport/child-connection.js';
import type { ClientCapabilities } from '../wire/model.js';
import { DEFAULT_HEALTH, type HealthCheck } from './process/health.js';
import { DEFAULT_RESTART, type RestartPolicy } from './process/process-state.js';

/**
 * A server of a host, as programs write it. Only `command` is required; every field of a `CommandSpec` is allowed. The
 * name of the server is its key in the options of the host.
 */
export interface ServerDefinition
  extends ServerSettings,
    Pick<CommandOptions, 'command' | 'args' | 'env' | 'cwd'>,
    Partial<Pick<CommandSpec, 'kind' | 'name' | 'source' | 'overrides'>> {
  readonly mode?: Mode;
  /** Handlers for questions that belong to no conversation, such as the roots that a server asks for at its start. */
  readonly answers?: Answers;
  /** Declared to a legacy server in addition to the capabilities of the conversations that are open at its start. */
  readonly capabilities?: ClientCapabilities;
}

/** A definition with all defaults filled in. Equal settings mean that a process need not be replaced. */
export interface HostedServerSettings
  extends Required<
    Pick<
      ServerDefinition,
      | 'start'
      | 'processes'
      | 'maxProcesses'
      | 'maxInFlight'
      | 'maxQueue'
      | 'maxParked'
      | 'overlap'
      | 'drainMs'
      | 'trustHints'
      | 'disabled'
      | 'mode'
      | 'timeoutMs'
      | 'connectTimeoutMs'
      | 'silenceMs'
      | 'bootMs'
      | 'maxRounds'
      | 'answers'
      | 'capabilities'
      | 'questions'
      | 'logStderr'
    >
  > {
  readonly command: CommandOptions;
  readonly idleMs: number | undefined;
  readonly maxAgeMs: number | undefined;
  readonly restart: RestartPolicy | undefined;
  readonly health: HealthCheck | undefined;
  readonly maxUnreadMs: number | undefined;
}

export function resolveDefinition(name: string, definition: ServerDefinition): HostedServerSettings {
  checkedOptions(`Server ${name}`, definition, DEFINITION_OPTIONS, (option) =>
    option === 'timeout' ? '; "timeoutMs" is the time for one call, in milliseconds' : undefined,
  );
  const { processes = 'shared', idleMs, restart, health, overlap = false, mode = 'auto' } = definition;
  const { maxUnreadMs = 60_000 } = definition;
  const fail = (what: string) => new IsthmusError('INVALID_OPTION', `Server ${name}: ${what}`);
  if (typeof definition.command !== 'string' || definition.command === '') {
    throw fail('command must be the name or path of a program');
  }
  if (typeof processes === 'string' ? !MODELS.has(processes) : !isCount(processes?.pool)) {
    throw fail('processes must be shared, per-conversation, per-principal, or { pool: n }');
  }
  if (mode !== 'auto' && mode !== 'modern' && mode !== 'legacy' && eraOf(mode) === undefined) {
    throw fail(`mode must be auto, modern, legacy or a revision; got ${String(mode)}`);
  }
  for (const option of COUNTS) {
    const value = definition[option];
    // A queue may be switched off.
    if (value !== undefined && !isCount(value) && !(option === 'maxQueue' && value === 0)) {
      throw fail(`${option} must be a positive whole number, got ${String(value)}`);
    }
  }
  if (idleMs !== undefined && idleMs !== false && !isCount(idleMs)) {
    throw fail(`idleMs must be a positive whole number or false, got ${String(idleMs)}`);
  }
  if (maxUnreadMs !== false && !isCount(maxUnreadMs)) {
    throw fail(`maxUnreadMs must be a positive whole number or false, got ${String(maxUnreadMs)}`);
  }
  const settings: HostedServerSettings = {
    command: commandOptionsOf(definition),
    start: definition.start ?? 'lazy',
    processes,
    maxProcesses: definition.maxProcesses ?? defaultCap(processes, overlap),
    maxInFlight: definition.maxInFlight ?? 256,
    maxQueue: definition.maxQueue ?? 1024,
    maxParked: definition.maxParked ?? 1000,
    idleMs: idleMs === false ? undefined : (idleMs ?? (processes === 'per-principal' ? 300_000 : undefined)),
    maxAgeMs: definition.maxAgeMs,
    overlap,
    drainMs: definition.drainMs ?? 30_000,
    restart: restart === false ? undefined : { ...DEFAULT_RESTART, ...restart },
    health: health === false || health === undefined ? undefined : { ...DEFAULT_HEALTH, ...health },
    maxUnreadMs: maxUnreadMs === false ? undefined : maxUnreadMs,
    trustHints: definition.trustHints ?? false,
    disabled: definition.disabled ?? false,
    mode,
    timeoutMs: definition.timeoutMs ?? 60_000,
    connectTimeoutMs: definition.connectTimeoutMs ?? 30_000,
    silenceMs: definition.silenceMs ?? 1000,
    bootMs: definition.bootMs ?? 5000,
    maxRounds: definition.maxRounds ?? 16,
    answers: definition.answers ?? {},
    capabilities: definition.capabilities ?? {},
    questions: definition.questions ?? 'adaptive',
    logStderr: definition.logStderr ?? true,
  };
  if (settings.start !== 'lazy' && settings.start !== 'eager') {
    throw fail(`start must be lazy or eager, got ${String(settings.start)}`);
  }
  if (!POLICIES.has(settings.questions)) {
    throw fail(`questions must be adaptive, queue or refuse, got ${String(settings.questions)}`);
  }
  if (settings.restart && settings.restart.jitter > 1) {
    throw fail(`restart.jitter must be from 0 to 1, got ${settings.restart.jitter}`);
  }
  for (const value of [...Object.values(settings.restart ?? {}), ...Object.values(settings.health ?? {})]) {
    if (!(Number.isFinite(value) && value >= 0))
      throw fail(`times and counts of restart and health must be 0 or more, got ${value}`);
  }
  return settings;
}

const DEFINITION_OPTIONS: OptionNames<ServerDefinition> = {
  ...(Object.fromEntries(OPTION_NAMES.map((name) => [name, true])) as OptionNames<ServerSettings>),
  kind: true,
  name: true,
  source: true,
  overrides: true,
  command: true,
  args: true,
  env: true,
  cwd: true,
  mode: true,
  answers: true,
  capabilities: true,
};

const MODELS: ReadonlySet<string> = new Set(['shared', 'per-conversation', 'per-principal']);

const POLICIES: ReadonlySet<string> = new Set(['adaptive', 'queue', 'refuse']);

const COUNTS = [
  'maxProcesses',
  'maxInFlight',
  'maxQueue',
  'maxParked',
  'maxAgeMs',
  'drainMs',
  'timeoutMs',
  'connectTimeoutMs',
  'silenceMs',
  'bootMs',
  'maxRounds',
] as const;

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function defaultCap(processes: ProcessModel, overlap: boolean): number {
  const extra = overlap ? 1 : 0;
  if (processes === 'shared') return 1 + extra;
  return typeof processes === 'object' ? processes.pool + extra : 16;
}

export function commandOptionsOf(definition: ServerDefinition): CommandOptions {
  const { command, args, env, cwd, inheritEnv, shutdown, stderrBytes, maxLineBytes } = definition;
  return { command, ...given({ args, env, cwd, inheritEnv, shutdown, stderrBytes, maxLineBytes }) };
}
