import type { DocumentTable, Path } from './document.js';
import { nearMiss } from './near-miss.js';
import { SETTING_NAMES } from './option-table.js';
import type { ConfigReport } from './report.js';
import { ALIAS_NAMES } from './setting-aliases.js';

/** Unknown keys belong to somebody else and are left alone, unless they look like a known one that is missing. */
export function warnOfNearMisses(table: DocumentTable, path: Path, report: ConfigReport): void {
  for (const name of table.keys()) {
    if (KNOWN_KEYS.has(name)) continue;
    const meant =
      (Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined) ?? nearMiss(name, WORTH_A_GUESS);
    if (meant !== undefined && !table.has(meant)) {
      report.warning([...path, name], `is not known; did you mean ${meant}?`);
    }
  }
}

const BASIC = [
  ...['command', 'args', 'env', 'cwd'],
  ...['url', 'headers', 'type', 'disabled', 'enabled', 'timeout', 'isthmus'],
];

/** Short names of ours are also close to words of others: `mode` to `model`. */
const WORTH_A_GUESS = [...BASIC, ...SETTING_NAMES.filter((name) => name.length > 5)];

const SYNONYMS: Readonly<Record<string, string>> = {
  cmd: 'command',
  arguments: 'args',
  environment: 'env',
  workingDirectory: 'cwd',
  workdir: 'cwd',
  endpoint: 'url',
};

/** Every key of a server that is read, or told about. */
export const KNOWN_KEYS: ReadonlySet<string> = new Set([
  ...BASIC,
  ...SETTING_NAMES,
  ...ALIAS_NAMES,
  ...['serverUrl', 'httpUrl', 'transport', 'transportType', 'envFile'],
  ...['env_vars', 'http_headers', 'env_http_headers', 'bearer_token_env_var'],
]);
