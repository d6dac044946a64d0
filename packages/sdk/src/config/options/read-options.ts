import { nearMiss } from '../../near-miss.js';
import { type DocumentTable, isTable, type Path } from '../documents/document.js';
import type { ConfigReport } from '../report.js';
import type { ServerSettings } from '../server-spec.js';
import { ALIAS_NAMES, fromAliases } from './option-aliases.js';
import { flawOf, notKnown } from './option-kinds.js';
import { isOption, OPTION_NAMES, OPTIONS } from './option-table.js';

/**
 * Reads the options of a server: next to `command`, and in the block `isthmus`, which overrides them. No other application
 * uses the block, so an invalid value there is an error. Elsewhere it is skipped with a warning.
 */
export function readSettings(
  table: DocumentTable,
  path: Path,
  secondsOnly: boolean,
  report: ConfigReport,
): ServerSettings {
  let settings = fromAliases(table, path, secondsOnly, report);
  for (const name of OPTION_NAMES) {
    if (!table.has(name)) continue;
    const setting = OPTIONS[name];
    const given = table.get(name);
    const value = setting.read(given);
    if (value !== undefined) settings = withSetting(settings, name, value);
    else if (setting.guards) reportFlaw(report, path, name, given);
    else {
      const { path: inside, message } = flawOf(setting, given);
      if (inside.length === 0) report.warning([...path, name], `is not used: it ${message}`);
      else report.warning([...path, name, ...inside], `${message} (${name} is not used)`);
    }
  }
  const block = table.get('isthmus');
  if (block === undefined) return settings;
  const at = [...path, 'isthmus'];
  if (!isTable(block)) {
    report.error(at, 'must be an object');
    return settings;
  }
  for (const [name, given] of block) {
    if (!isOption(name)) {
      report.warning([...at, name], notKnown(name, OPTION_NAMES));
      continue;
    }
    const value = OPTIONS[name].read(given);
    if (value !== undefined) settings = withSetting(settings, name, value);
    else reportFlaw(report, at, name, given);
  }
  return settings;
}

/** `tools` has two lists: setting `allow` must not remove `deny`. */
function withSetting(settings: ServerSettings, name: keyof ServerSettings, value: unknown): ServerSettings {
  if (name === 'tools') return { ...settings, tools: { ...settings.tools, ...(value as object) } };
  return { ...settings, [name]: value };
}

function reportFlaw(report: ConfigReport, path: Path, name: keyof ServerSettings, given: unknown): void {
  const { path: inside, message } = flawOf(OPTIONS[name], given);
  report.error([...path, name, ...inside], message);
}

/** Warns of options in the block that only commands can have. */
export function warnOfProcessSettings(table: DocumentTable, path: Path, report: ConfigReport): void {
  const block = table.get('isthmus');
  for (const name of isTable(block) ? block.keys() : []) {
    if (isOption(name) && OPTIONS[name].onlyCommands) {
      report.warning([...path, 'isthmus', name], 'is only for commands; this server is a URL');
    }
  }
}

/** Unknown keys belong to other applications. A key that looks like a misspelled known key gives a warning. */
export function warnOfNearMisses(table: DocumentTable, path: Path, report: ConfigReport): void {
  for (const name of table.keys()) {
    if (KNOWN_KEYS.has(name)) continue;
    const meant =
      (Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined) ?? nearMiss(name, SUGGESTED_NAMES);
    if (meant !== undefined && !table.has(meant)) {
      report.warning([...path, name], `is not known; did you mean ${meant}?`);
    }
  }
}

const BASIC = [
  ...['command', 'args', 'env', 'cwd'],
  ...['url', 'headers', 'auth', 'type', 'disabled', 'enabled', 'timeout', 'isthmus'],
];

/** Short names are too similar to names of other applications: `mode` to `model`. */
const SUGGESTED_NAMES = [...BASIC, ...OPTION_NAMES.filter((name) => name.length > 5)];

const SYNONYMS: Readonly<Record<string, string>> = {
  cmd: 'command',
  arguments: 'args',
  environment: 'env',
  workingDirectory: 'cwd',
  workdir: 'cwd',
  endpoint: 'url',
};

/** All keys of a server that are read or reported. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...BASIC,
  ...OPTION_NAMES,
  ...ALIAS_NAMES,
  ...['serverUrl', 'httpUrl', 'transport', 'transportType', 'envFile'],
  ...['env_vars', 'http_headers', 'env_http_headers', 'bearer_token_env_var'],
]);
