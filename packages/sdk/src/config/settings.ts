import { type DocumentTable, isTable, type Path } from './document.js';
import { isSetting, SETTING_NAMES, SETTINGS } from './option-table.js';
import type { ConfigReport } from './report.js';
import type { ServerSettings } from './server-spec.js';
import { fromAliases } from './setting-aliases.js';
import { flawOf, notKnown } from './setting-kinds.js';

/**
 * How the server is to be kept. Our names count in a block `isthmus` and beside `command`; in the block they win,
 * and nobody else can have meant them, so a wrong value is an error there and is skipped with a warning elsewhere.
 */
export function readSettings(
  table: DocumentTable,
  path: Path,
  secondsOnly: boolean,
  report: ConfigReport,
): ServerSettings {
  let settings = fromAliases(table, path, secondsOnly, report);
  for (const name of SETTING_NAMES) {
    if (!table.has(name)) continue;
    const setting = SETTINGS[name];
    const given = table.get(name);
    const value = setting.read(given);
    if (value !== undefined) settings = withSetting(settings, name, value);
    else if (setting.guards) complain(report, path, name, given);
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
    if (!isSetting(name)) {
      report.warning([...at, name], notKnown(name, SETTING_NAMES));
      continue;
    }
    const value = SETTINGS[name].read(given);
    if (value !== undefined) settings = withSetting(settings, name, value);
    else complain(report, at, name, given);
  }
  return settings;
}

/** Lists of tools are two settings in one: who says what is allowed has not taken back what is denied. */
function withSetting(settings: ServerSettings, name: keyof ServerSettings, value: unknown): ServerSettings {
  if (name === 'tools') return { ...settings, tools: { ...settings.tools, ...(value as object) } };
  return { ...settings, [name]: value };
}

function complain(report: ConfigReport, path: Path, name: keyof ServerSettings, given: unknown): void {
  const { path: inside, message } = flawOf(SETTINGS[name], given);
  report.error([...path, name, ...inside], message);
}

/** Settings in the block that a server at a URL cannot have. */
export function warnOfProcessSettings(table: DocumentTable, path: Path, report: ConfigReport): void {
  const block = table.get('isthmus');
  for (const name of isTable(block) ? block.keys() : []) {
    if (isSetting(name) && SETTINGS[name].onlyCommands) {
      report.warning([...path, 'isthmus', name], 'is for a command, and this is a URL');
    }
  }
}
