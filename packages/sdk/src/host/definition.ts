import type { Mode } from '../client/options.js';
import type { Answers } from '../era/answers.js';
import { eraOf } from '../era/classify-probe.js';
import type { QuestionPolicy } from '../era/client-dialect-context.js';
import { IsthmusError } from '../errors.js';
import type { CommandOptions } from '../transport/child-connection.js';
import type { ClientCapabilities } from '../wire/model.js';
import { DEFAULT_HEALTH, type HealthCheck } from './health.js';
import { DEFAULT_RESTART, type RestartPolicy } from './restart-policy.js';

/** A server of a host: what to start, and how to keep it. */
export interface ServerDefinition
  extends Pick<
    CommandOptions,
    'command' | 'args' | 'env' | 'cwd' | 'inheritEnv' | 'shutdown' | 'stderrBytes' | 'maxLineBytes'
  > {
  /** `lazy` (default): with its first use. `eager`: with the host. */
  readonly start?: 'lazy' | 'eager';
  /** Who shares a process. Default `shared`: all conversations. */
  readonly processes?: ProcessModel;
  /** How many processes there may be at once. Default: 1 for `shared`, n for a pool, otherwise 16. */
  readonly maxProcesses?: number;
  /** How many calls a process is given at once. Default 256. */
  readonly maxInFlight?: number;
  /** How many calls may wait for a process, or for room in it; the next one is refused as `BUSY`. Default 1024. */
  readonly maxQueue?: number;
  /** How many calls may wait for a person to answer a question, for each process. Default 1000. */
  readonly maxParked?: number;
  /** A process without calls and subscriptions is ended after this. Default `false`: never; with a process per principal 5 min. */
  readonly idleMs?: number | false;
  /** A process is replaced by a fresh one at this age. Default: never. */
  readonly maxAgeMs?: number;
  /** Starts the fresh process before the old one has ended, so that nobody waits; for servers that can run twice. */
  readonly overlap?: boolean;
  /** How long calls in flight may take when their process is to be replaced. Default 30 s. */
  readonly drainMs?: number;
  /** How a process that ended is started again. `false`: only by its next use. */
  readonly restart?: false | Partial<RestartPolicy>;
  /** Looks whether the process still answers; off by default. */
  readonly health?: false | Partial<HealthCheck>;
  /**
   * A process that has read nothing for so long, although something was sent to it, is killed and started again; one
   * that uses its processor gets five times as long. Default 60 s; `false`: never.
   */
  readonly maxUnreadMs?: number | false;
  /** Believes tools that call themselves read-only or idempotent: their calls may be made again after a crash. */
  readonly trustHints?: boolean;
  /** Switched off: it is not started. */
  readonly disabled?: boolean;
  readonly mode?: Mode;
  readonly timeoutMs?: number;
  readonly connectTimeoutMs?: number;
  readonly silenceMs?: number;
  readonly bootMs?: number;
  readonly maxRounds?: number;
  /** Answers to questions that belong to no conversation, such as the roots a server asks for at its start. */
  readonly answers?: Answers;
  /** Declared to a legacy server besides what the conversations can answer when it starts. */
  readonly capabilities?: ClientCapabilities;
  /** What to do about a legacy server's questions while several conversations have calls in flight. Default `adaptive`. */
  readonly questions?: QuestionPolicy;
}

export type ProcessModel = 'shared' | 'per-conversation' | 'per-principal' | { readonly pool: number };

/** A definition with everything decided. */
export interface HostedServerSettings
  extends Required<
    Omit<ServerDefinition, CommandName | 'idleMs' | 'restart' | 'health' | 'maxAgeMs' | 'maxUnreadMs'>
  > {
  readonly command: Pick<ServerDefinition, CommandName>;
  readonly idleMs: number | undefined;
  readonly maxAgeMs: number | undefined;
  readonly restart: RestartPolicy | undefined;
  readonly health: HealthCheck | undefined;
  readonly maxUnreadMs: number | undefined;
}

type CommandName =
  | 'command'
  | 'args'
  | 'env'
  | 'cwd'
  | 'inheritEnv'
  | 'shutdown'
  | 'stderrBytes'
  | 'maxLineBytes';

export function resolveDefinition(name: string, definition: ServerDefinition): HostedServerSettings {
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
    // A queue may have no places at all.
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
    command: commandOf(definition),
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
      throw fail(`times and counts must not be negative, got ${value}`);
  }
  return settings;
}

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

function commandOf(definition: ServerDefinition): HostedServerSettings['command'] {
  const { command, args, env, cwd, inheritEnv, shutdown, stderrBytes, maxLineBytes } = definition;
  return {
    command,
    ...(args && { args }),
    ...(env && { env }),
    ...(cwd !== undefined && { cwd }),
    ...(inheritEnv && { inheritEnv }),
    ...(shutdown && { shutdown }),
    ...(stderrBytes !== undefined && { stderrBytes }),
    ...(maxLineBytes !== undefined && { maxLineBytes }),
  };
}
