import { isTable } from '../documents/document.js';
import type { LimitSettings, ServerSettings } from '../server-spec.js';
import {
  COUNT,
  COUNT_OR_NONE,
  FLAG,
  isMode,
  MS,
  NAMES,
  objectOf,
  oneOf,
  orFalse,
  type SettingKind,
  SHARE,
} from './option-kinds.js';

/** A setting of a server: what it may be, and for whom. */
export interface Setting extends SettingKind {
  /** Left out: also a server at a URL can have it. */
  readonly onlyCommands?: boolean;
  /** It is there to keep something away, so a value that cannot be read is an error wherever it stands. */
  readonly guards?: boolean;
}

/** Also what a gateway has for all of its servers. */
export const LIMITS: SettingKind = objectOf({
  maxConcurrent: COUNT,
  maxQueue: COUNT_OR_NONE,
  maxConcurrentPerCaller: COUNT,
  maxListens: COUNT,
  maxSessions: COUNT,
  ratePerMinute: COUNT,
} satisfies Record<keyof LimitSettings, SettingKind>);

const LISTS = objectOf({ allow: NAMES, deny: NAMES });

/** Every setting by our own name for it. */
export const SETTINGS: Readonly<Record<keyof ServerSettings, Setting>> = {
  disabled: FLAG,
  needed: FLAG,
  tools: {
    expected: 'a list of names, or an object of allow and deny',
    read(value) {
      const allow = NAMES.read(value);
      return allow === undefined ? LISTS.read(value) : { allow };
    },
    flaw: (value) => LISTS.flaw?.(value),
    guards: true,
  },
  limits: { ...LIMITS, guards: true },
  stateless: FLAG,
  timeoutMs: MS,
  connectTimeoutMs: MS,
  silenceMs: MS,
  bootMs: MS,
  mode: {
    expected: 'auto, modern, legacy or a revision such as 2025-11-25',
    read: (value) => (isMode(value) ? value : undefined),
  },
  maxRounds: COUNT,
  maxInFlight: COUNT,
  maxLineBytes: COUNT,
  idleMs: orFalse(MS, 'a number of milliseconds, 1 or more, or false for never'),
  start: forCommands(oneOf('lazy', 'eager')),
  processes: forCommands({
    expected: 'shared, per-conversation, per-principal or { "pool": NUMBER }',
    read(value) {
      if (!isTable(value)) return oneOf('shared', 'per-conversation', 'per-principal').read(value);
      const pool = COUNT.read(value.get('pool'));
      return pool === undefined ? undefined : { pool };
    },
  }),
  maxProcesses: forCommands(COUNT),
  maxQueue: forCommands(COUNT_OR_NONE),
  maxParked: forCommands(COUNT),
  maxAgeMs: forCommands(MS),
  overlap: forCommands(FLAG),
  drainMs: forCommands(MS),
  restart: forCommands(
    orFalse(
      objectOf({ attempts: COUNT_OR_NONE, firstDelayMs: MS, maxDelayMs: MS, stableMs: MS, jitter: SHARE }),
    ),
  ),
  health: forCommands(orFalse(objectOf({ everyMs: MS, timeoutMs: MS, maxSilentMs: MS }))),
  maxUnreadMs: forCommands(orFalse(MS, 'a number of milliseconds, 1 or more, or false for never')),
  shutdown: forCommands(objectOf({ closeMs: MS, termMs: MS, killMs: MS })),
  inheritEnv: forCommands({
    expected: 'minimal, all or a list of names',
    read: (value) => NAMES.read(value) ?? oneOf('minimal', 'all').read(value),
  }),
  trustHints: forCommands(FLAG),
  questions: forCommands(oneOf('adaptive', 'queue', 'refuse')),
  stderrBytes: forCommands(COUNT),
};

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly (keyof ServerSettings)[];

export function isSetting(name: string): name is keyof ServerSettings {
  return Object.hasOwn(SETTINGS, name);
}

function forCommands(kind: SettingKind): Setting {
  return { ...kind, onlyCommands: true };
}
