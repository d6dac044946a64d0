import { isTable, type Path, type Table } from './document.js';
import type { RestartSettings, ServerSettings } from './entry.js';
import { nearMiss } from './near-miss.js';
import type { Report } from './report.js';
import { fromAliases } from './setting-aliases.js';
import { COUNT, COUNT_OR_NONE, FLAG, isMode, MS, oneOf, type SettingKind } from './setting-kinds.js';

/**
 * How the server is to be kept. Our names count in a block `isthmus` and beside `command`; in the block they win,
 * and nobody else can have meant them, so a wrong value is an error there and is skipped with a warning elsewhere.
 */
export function readSettings(table: Table, path: Path, secondsOnly: boolean, report: Report): ServerSettings {
  let settings = fromAliases(table, path, secondsOnly, report);
  for (const name of SETTING_NAMES) {
    if (!table.has(name)) continue;
    const value = SETTINGS[name].read(table.get(name));
    if (value !== undefined) settings = { ...settings, [name]: value };
    else report.warning([...path, name], `is not used: it must be ${SETTINGS[name].expected}`);
  }
  const block = table.get('isthmus');
  if (block === undefined) return settings;
  const at = [...path, 'isthmus'];
  if (!isTable(block)) {
    report.error(at, 'must be an object');
    return settings;
  }
  for (const [name, given] of block) {
    if (!isSetting(name)) {
      const meant = nearMiss(name, SETTING_NAMES);
      report.warning([...at, name], `is not known${meant === undefined ? '' : `; did you mean ${meant}?`}`);
      continue;
    }
    const value = SETTINGS[name].read(given);
    if (value !== undefined) settings = { ...settings, [name]: value };
    else report.error([...at, name], `must be ${SETTINGS[name].expected}`);
  }
  return settings;
}

const SETTINGS: Readonly<Record<keyof ServerSettings, SettingKind>> = {
  disabled: FLAG,
  timeoutMs: MS,
  mode: {
    expected: 'auto, modern, legacy or a revision such as 2025-11-25',
    read: (value) => (isMode(value) ? value : undefined),
  },
  start: oneOf('lazy', 'eager'),
  processes: {
    expected: 'shared, per-conversation, per-principal or { "pool": NUMBER }',
    read(value) {
      if (!isTable(value)) return oneOf('shared', 'per-conversation', 'per-principal').read(value);
      const pool = COUNT.read(value.get('pool'));
      return pool === undefined ? undefined : { pool };
    },
  },
  maxProcesses: COUNT,
  maxInFlight: COUNT,
  maxQueue: COUNT_OR_NONE,
  idleMs: {
    expected: 'a number of milliseconds, 1 or more, or false for never',
    read: (value) => (value === false ? false : MS.read(value)),
  },
  maxAgeMs: MS,
  restart: {
    expected: 'false or an object of attempts, firstDelayMs, maxDelayMs and stableMs',
    read: (value) => (value === false ? false : isTable(value) ? toRestart(value) : undefined),
  },
  inheritEnv: {
    expected: 'minimal, all or a list of names',
    read(value) {
      if (Array.isArray(value)) return value.every((name) => typeof name === 'string') ? value : undefined;
      return oneOf('minimal', 'all').read(value);
    },
  },
  trustHints: FLAG,
};

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly (keyof ServerSettings)[];

function isSetting(name: string): name is keyof ServerSettings {
  return Object.hasOwn(SETTINGS, name);
}

function toRestart(table: Table): RestartSettings | undefined {
  const restart: Record<string, unknown> = {};
  for (const [name, value] of table) {
    if (!['attempts', 'firstDelayMs', 'maxDelayMs', 'stableMs'].includes(name)) return undefined;
    restart[name] = name === 'attempts' ? COUNT_OR_NONE.read(value) : MS.read(value);
    if (restart[name] === undefined) return undefined;
  }
  return restart;
}
