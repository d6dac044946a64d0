import { isTable } from '../documents/document.js';
import type { LimitSettings, ServerSettings } from '../server-spec.js';
import {
  COUNT,
  COUNT_OR_NONE,
  FLAG,
  isMode,
  MS,
  NAMES,
  type OptionKind,
  objectOf,
  oneOf,
  orFalse,
  SHARE,
} from './option-kinds.js';

/**
 * An option of a server. The reader of configuration files, `config.schema.json`, the flags of `serve` and `attach` and
 * the table in docs/config.md come from the rows below.
 */
export interface ServerOption extends OptionKind {
  /** One or two sentences, for the documentation. */
  readonly meaning: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** Only for commands, not for URLs. */
  readonly onlyCommands?: boolean;
  /** It restricts access, so an invalid value is an error everywhere. */
  readonly guards?: boolean;
  readonly flag?: OptionFlag;
}

/** How the command line sets the option for one server. */
export interface OptionFlag {
  /** In the syntax of Commander, for each command that has it. */
  readonly serve?: string;
  readonly attach?: string;
  readonly help: string;
  /** The kind of the flag's value. A list: one of these values. */
  readonly typed: 'ms' | 'count' | 'mode' | 'list' | 'switch' | readonly string[];
  /** Converts the typed value to the option. Default: the typed value. */
  toOption?(typed: unknown): unknown;
  /** `serve` also accepts it for all servers of a file. */
  readonly forMany?: boolean;
}

/** The block `gateway` also has them, for all servers. */
export const LIMITS: OptionKind = objectOf('limits', {
  maxConcurrent: COUNT,
  maxQueue: COUNT_OR_NONE,
  maxConcurrentPerCaller: COUNT,
  maxListens: COUNT,
  maxSessions: COUNT,
  ratePerMinute: COUNT,
} satisfies Record<keyof LimitSettings, OptionKind>);

const LISTS = objectOf('tools', { allow: NAMES, deny: NAMES });
const MS_OR_NEVER = orFalse(MS, 'a number of milliseconds, 1 or more, or false for never');

/** A new option needs a row here, a field of `ServerSettings`, and the code where it takes effect. */
export const OPTIONS: Readonly<Record<keyof ServerSettings, ServerOption>> = {
  disabled: {
    ...FLAG,
    meaning: 'Switches the server off: it is read but not started. Its errors become warnings.',
    default: false,
  },
  needed: { ...FLAG, meaning: 'Whether readiness (/readyz) waits for it.', default: true },
  tools: {
    expected: 'a list of names, or an object of allow and deny',
    schema: LISTS.schema,
    read(value) {
      const allow = NAMES.read(value);
      return allow === undefined ? LISTS.read(value) : { allow };
    },
    flaw: (value) => LISTS.flaw?.(value),
    meaning:
      'Which of its tools are listed and may be called. A list is short for allow. In names, * stands for any characters; deny overrides allow.',
    examples: [['get_*'], { deny: ['delete_*'] }],
    guards: true,
    flag: {
      serve: '--ignore-tool <pattern>',
      attach: '--ignore-tool <pattern>',
      help: 'hide a tool of the server; * is any text; repeatable',
      typed: 'list',
      toOption: (deny) => ({ deny }),
    },
  },
  limits: {
    ...LIMITS,
    meaning:
      'Limits that protect the server. A call above a limit is refused with the time after which to try again; other callers are not affected.',
    guards: true,
    flag: {
      serve: '--max-concurrent <count>',
      help: 'calls that run in a server at the same time',
      typed: 'count',
      toOption: (maxConcurrent) => ({ maxConcurrent }),
      forMany: true,
    },
  },
  stateless: {
    ...FLAG,
    meaning: 'The server keeps no state for its clients, so that different principals may share a process.',
    default: false,
    flag: {
      serve: '--stateless-server',
      help: 'the server keeps no state for its clients: different principals may share it',
      typed: 'switch',
    },
  },
  placement: {
    ...oneOf('auto', 'local', 'one'),
    meaning:
      'In a cluster: local starts the server in each process; one has one process for those who share it, and requests go there. auto is one for commands that are not stateless and have no pool, and local for others.',
    default: 'auto',
  },
  timeoutMs: {
    ...MS,
    meaning: 'Timeout of one call.',
    default: 60_000,
    flag: {
      serve: '-t, --timeout <ms>',
      attach: '-t, --timeout <ms>',
      help: 'timeout of one call (default: 600000)',
      typed: 'ms',
    },
  },
  promoteAfterMs: {
    ...MS,
    meaning:
      'A call of a tool that runs longer becomes a task, if the client takes tasks. Works with servers that have no tasks. Default: never.',
    flag: {
      serve: '--promote-after <ms>',
      help: 'a longer call becomes a task, for clients that take tasks (default: never)',
      typed: 'ms',
    },
  },
  connectTimeoutMs: {
    ...MS,
    meaning: 'Timeout of connecting, including the detection of the era.',
    default: 30_000,
    flag: {
      serve: '--connect-timeout <ms>',
      help: 'timeout of connecting to the server (default: 30000)',
      typed: 'ms',
    },
  },
  silenceMs: {
    ...MS,
    meaning:
      'How long a server that has shown activity may leave the first request unanswered before it counts as legacy.',
    default: 1000,
  },
  bootMs: {
    ...MS,
    meaning: 'How long a server may take to show any activity before it counts as legacy.',
    default: 5000,
  },
  mode: {
    expected: 'auto, modern, legacy or a revision such as 2025-11-25',
    schema: { $ref: '#/$defs/mode' },
    read: (value) => (isMode(value) ? value : undefined),
    meaning: 'The era of the server: auto detects it; modern, legacy or a revision requires it.',
    default: 'auto',
    flag: {
      serve: '--era <era>',
      attach: '-e, --era <era>',
      help: 'detect the era of the server (auto), or require modern, legacy or a revision (default: auto)',
      typed: 'mode',
    },
  },
  maxRounds: { ...COUNT, meaning: 'How many rounds of questions one call may have.', default: 16 },
  maxInFlight: {
    ...COUNT,
    meaning: 'Calls that run at once in a process, or at a URL.',
    default: 256,
  },
  maxLineBytes: {
    ...COUNT,
    meaning: 'The longest line of a process, or answer of a URL. A call with a longer answer fails.',
    default: 67_108_864,
  },
  idleMs: {
    ...MS_OR_NEVER,
    meaning:
      'How long a process, or a session with a URL, may be idle before it is ended. false: it is never ended.',
    examples: [60_000, false],
  },
  start: forCommands({
    ...oneOf('lazy', 'eager'),
    meaning: 'Starts the server with its first use (lazy) or with the gateway (eager).',
    default: 'lazy',
  }),
  processes: forCommands({
    expected: 'shared, per-conversation, per-principal or { "pool": NUMBER }',
    schema: {
      anyOf: [
        { enum: ['shared', 'per-conversation', 'per-principal'] },
        {
          type: 'object',
          properties: { pool: { description: 'How many processes.', $ref: '#/$defs/count' } },
          required: ['pool'],
        },
      ],
    },
    read(value) {
      if (!isTable(value)) return oneOf('shared', 'per-conversation', 'per-principal').read(value);
      const pool = COUNT.read(value.get('pool'));
      return pool === undefined ? undefined : { pool };
    },
    meaning: 'Which clients share a process.',
    default: 'shared',
    examples: ['shared', 'per-conversation', 'per-principal', { pool: 2 }],
    flag: {
      serve: '--processes <model>',
      help: 'one process for all clients, or one for each legacy client (default: shared; per-conversation if stdio is the only address)',
      typed: ['shared', 'per-conversation'],
    },
  }),
  maxProcesses: forCommands({ ...COUNT, meaning: 'How many processes may run at once.' }),
  maxQueue: forCommands({
    ...COUNT_OR_NONE,
    meaning: 'Calls that may wait for a process, or for a free slot in it.',
    default: 1024,
  }),
  maxParked: forCommands({
    ...COUNT,
    meaning:
      'Calls of a process that may wait for an answer to a question. Above this limit the oldest call of the client with the most is ended.',
    default: 1000,
    flag: {
      serve: '--max-parked <count>',
      help: 'calls of each server that may wait for an answer to a question; the client with the most loses its oldest (default: 1000)',
      typed: 'count',
      forMany: true,
    },
  }),
  maxAgeMs: forCommands({ ...MS, meaning: 'A process is replaced by a new one at this age.' }),
  overlap: forCommands({
    ...FLAG,
    meaning: 'Starts the new process before the old one has ended, for servers that can run twice at once.',
    default: false,
  }),
  drainMs: forCommands({
    ...MS,
    meaning: 'How long calls in flight may take when their process is replaced.',
    default: 30_000,
  }),
  restart: forCommands({
    ...orFalse(
      objectOf('restart', {
        attempts: COUNT_OR_NONE,
        firstDelayMs: MS,
        maxDelayMs: MS,
        stableMs: MS,
        jitter: SHARE,
      }),
    ),
    meaning: 'How a process that exited is restarted. false: only by its next use.',
    examples: [false, { attempts: 5, firstDelayMs: 1000 }],
  }),
  health: forCommands({
    ...orFalse(objectOf('health', { everyMs: MS, timeoutMs: MS, maxSilentMs: MS })),
    meaning: 'Checks that an idle process still answers.',
    default: false,
  }),
  maxUnreadMs: forCommands({
    ...MS_OR_NEVER,
    meaning:
      'A process that has not read its stdin for this time, although data waits, is killed and restarted. false: never.',
    default: 60_000,
  }),
  shutdown: forCommands({
    ...objectOf('shutdown', { closeMs: MS, termMs: MS, killMs: MS }),
    meaning: 'How a process is ended: its input is closed, then SIGTERM, then SIGKILL.',
  }),
  inheritEnv: forCommands({
    expected: 'minimal, all or a list of names',
    schema: { anyOf: [{ enum: ['minimal', 'all'] }, NAMES.schema] },
    read: (value) => NAMES.read(value) ?? oneOf('minimal', 'all').read(value),
    meaning:
      'Variables of the environment of isthmus that the process gets: those that programs need to run (minimal), all, or the listed ones.',
    default: 'minimal',
    examples: ['minimal', 'all', ['PATH', 'HOME', 'HTTPS_PROXY']],
    flag: {
      serve: '--pass-environment',
      attach: '--pass-environment',
      help: 'pass your whole environment to the command; hosts with different environments do not share a process',
      typed: 'switch',
      toOption: () => 'all',
    },
  }),
  trustHints: forCommands({
    ...FLAG,
    meaning:
      'Trusts the read-only and idempotent hints of tools: calls of such tools may be repeated after a crash.',
    default: false,
  }),
  questions: forCommands({
    ...oneOf('adaptive', 'queue', 'refuse'),
    meaning: 'How questions of a legacy server are handled while several conversations have calls in flight.',
    default: 'adaptive',
  }),
  stderrBytes: forCommands({
    ...COUNT,
    meaning: 'How many of the last bytes of stderr are kept.',
  }),
  logStderr: forCommands({
    ...FLAG,
    meaning:
      'Whether the log contains the stderr of the process. Set it to false for servers that write a lot. Errors quote the end of stderr in any case.',
    default: true,
    flag: {
      serve: '--hide-stderr',
      attach: '--hide-stderr',
      help: 'do not show the stderr of the command; errors quote the end of it in any case',
      typed: 'switch',
      toOption: () => false,
    },
  }),
};

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly (keyof ServerSettings)[];

export function isOption(name: string): name is keyof ServerSettings {
  return Object.hasOwn(OPTIONS, name);
}

function forCommands(option: ServerOption): ServerOption {
  return { ...option, onlyCommands: true };
}
