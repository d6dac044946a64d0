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
  /** One or two sentences for people. */
  readonly meaning: string;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  /** A server at a URL cannot have it. */
  readonly onlyCommands?: boolean;
  /** It restricts access, so a value that cannot be read is an error wherever it stands. */
  readonly guards?: boolean;
  readonly flag?: OptionFlag;
}

/** How the command line sets the option for one server. */
export interface OptionFlag {
  /** In the syntax of Commander, for each command that has it. */
  readonly serve?: string;
  readonly attach?: string;
  readonly help: string;
  /** What is typed: a time, a number, a text, several texts, nothing, or one of these. */
  readonly typed: 'ms' | 'count' | 'mode' | 'list' | 'switch' | readonly string[];
  /** The value of the option. Default: what was typed. */
  toOption?(typed: unknown): unknown;
  /** `serve` also takes it for all servers of a file. */
  readonly forMany?: boolean;
}

/** A gateway can have them for all of its servers, too. */
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

/** A new option is a row here, a field of `ServerSettings`, and the place where it takes effect. */
export const OPTIONS: Readonly<Record<keyof ServerSettings, ServerOption>> = {
  disabled: {
    ...FLAG,
    meaning: 'Switched off: it is read and not started. What is wrong with it is only a warning.',
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
      'Which of its tools are shown and may be called. A list is short for allow. In names, * stands for any characters; what is denied is never allowed.',
    examples: [['get_*'], { deny: ['delete_*'] }],
    guards: true,
    flag: {
      serve: '--ignore-tool <pattern>',
      attach: '--ignore-tool <pattern>',
      help: 'leave out a tool of the server; * is any text; repeatable',
      typed: 'list',
      toOption: (deny) => ({ deny }),
    },
  },
  limits: {
    ...LIMITS,
    meaning:
      'What the server is spared. Past a limit a call is refused, with the time after which to try again, and others are not affected.',
    guards: true,
    flag: {
      serve: '--max-concurrent <count>',
      help: 'calls that a server is given at the same time',
      typed: 'count',
      toOption: (maxConcurrent) => ({ maxConcurrent }),
      forMany: true,
    },
  },
  stateless: {
    ...FLAG,
    meaning: 'It keeps nothing for its callers, so that different principals may share a process of it.',
    default: false,
    flag: {
      serve: '--stateless-server',
      help: 'the server keeps nothing for its clients: different principals may share it',
      typed: 'switch',
    },
  },
  timeoutMs: {
    ...MS,
    meaning: 'Time for one call.',
    default: 60_000,
    flag: {
      serve: '-t, --timeout <ms>',
      attach: '-t, --timeout <ms>',
      help: 'how long the server may take over one call (default: 600000)',
      typed: 'ms',
    },
  },
  connectTimeoutMs: {
    ...MS,
    meaning: 'Time for all of connecting, with finding out the era.',
    default: 30_000,
    flag: {
      serve: '--connect-timeout <ms>',
      help: 'how long it may take to connect to the server (default: 30000)',
      typed: 'ms',
    },
  },
  silenceMs: {
    ...MS,
    meaning:
      'How long a server that shows life may be silent on the first question before it counts as legacy.',
    default: 1000,
  },
  bootMs: {
    ...MS,
    meaning: 'How long a server may take to show life before it counts as legacy.',
    default: 5000,
  },
  mode: {
    expected: 'auto, modern, legacy or a revision such as 2025-11-25',
    schema: { $ref: '#/$defs/mode' },
    read: (value) => (isMode(value) ? value : undefined),
    meaning:
      'The era that the server speaks: auto finds out, modern and legacy insist on one, a revision insists on that.',
    default: 'auto',
    flag: {
      serve: '--upstream-protocol <era>',
      attach: '-m, --mode <mode>',
      help: 'find out the era of the server (auto), or insist on modern, legacy or a revision (default: auto)',
      typed: 'mode',
    },
  },
  maxRounds: { ...COUNT, meaning: 'How often the server may ask back within one call.', default: 16 },
  maxInFlight: {
    ...COUNT,
    meaning: 'Calls that a process, or the server at a URL, is given at once.',
    default: 256,
  },
  maxLineBytes: {
    ...COUNT,
    meaning: 'The longest line of a process, or answer of a URL. A longer one costs its call.',
    default: 67_108_864,
  },
  idleMs: {
    ...MS_OR_NEVER,
    meaning:
      'How long a process, or a session with a URL, may be without work before it is ended. false: for ever.',
    examples: [60_000, false],
  },
  start: forCommands({
    ...oneOf('lazy', 'eager'),
    meaning: 'Started with its first use (lazy) or with the gateway (eager).',
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
    meaning: 'Who shares a process.',
    default: 'shared',
    examples: ['shared', 'per-conversation', 'per-principal', { pool: 2 }],
    flag: {
      serve: '--processes <model>',
      help: 'one process for all clients, or one for each legacy client (default: shared; with nothing but stdio to listen on, per-client)',
      typed: ['shared', 'per-client'],
      toOption: (typed) => (typed === 'per-client' ? 'per-conversation' : typed),
    },
  }),
  maxProcesses: forCommands({ ...COUNT, meaning: 'How many processes there may be at once.' }),
  maxQueue: forCommands({
    ...COUNT_OR_NONE,
    meaning: 'Calls that may wait for a process, or for room in it.',
    default: 1024,
  }),
  maxParked: forCommands({
    ...COUNT,
    meaning:
      'Calls of a process that may wait for an answer to a question. Past it, the oldest call of the client that has most of them is ended.',
    default: 1000,
    flag: {
      serve: '--max-parked <count>',
      help: 'calls of each server that may wait for an answer to a question; the client with most loses its oldest (default: 1000)',
      typed: 'count',
      forMany: true,
    },
  }),
  maxAgeMs: forCommands({ ...MS, meaning: 'A process is replaced by a fresh one at this age.' }),
  overlap: forCommands({
    ...FLAG,
    meaning: 'Starts the fresh process before the old one has ended, for servers that can run twice.',
    default: false,
  }),
  drainMs: forCommands({
    ...MS,
    meaning: 'How long calls may take when their process is to be replaced.',
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
    meaning: 'How a process that ended is started again. false: only by its next use.',
    examples: [false, { attempts: 5, firstDelayMs: 1000 }],
  }),
  health: forCommands({
    ...orFalse(objectOf('health', { everyMs: MS, timeoutMs: MS, maxSilentMs: MS })),
    meaning: 'Looks whether an idle process still answers.',
    default: false,
  }),
  maxUnreadMs: forCommands({
    ...MS_OR_NEVER,
    meaning:
      'A process that has read nothing of its stdin for so long, although something waits, is killed and started again. false: never.',
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
      'Variables of our own environment that the process gets: those that programs need to run (minimal), all, or these.',
    default: 'minimal',
    examples: ['minimal', 'all', ['PATH', 'HOME', 'HTTPS_PROXY']],
    flag: {
      serve: '--pass-environment',
      attach: '--pass-environment',
      help: 'the command gets your whole environment; attached hosts that differ in it do not share a process',
      typed: 'switch',
      toOption: () => 'all',
    },
  }),
  trustHints: forCommands({
    ...FLAG,
    meaning:
      'Believes tools that call themselves read-only or idempotent: their calls may be made again after a crash.',
    default: false,
  }),
  questions: forCommands({
    ...oneOf('adaptive', 'queue', 'refuse'),
    meaning: "What to do about a legacy server's questions while several conversations have calls in flight.",
    default: 'adaptive',
  }),
  stderrBytes: forCommands({
    ...COUNT,
    meaning: 'How much of what the process writes to stderr is kept.',
  }),
  logStderr: forCommands({
    ...FLAG,
    meaning:
      'Whether the log has what the process writes to stderr. For servers that write a lot there. Errors quote the end of it in any case.',
    default: true,
    flag: {
      serve: '--hide-stderr',
      attach: '--hide-stderr',
      help: 'do not show what the command writes to stderr; errors quote the end of it in any case',
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
