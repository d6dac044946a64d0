import type { Path, Table } from './document.js';
import type { ServerEntry, ServerSettings, Source } from './entry.js';
import { createFields } from './fields.js';
import { readCommand } from './read-command.js';
import { readUrl } from './read-url.js';
import type { Report } from './report.js';
import { warnOfProcessSettings } from './settings.js';
import { transportOf } from './transport-of.js';
import { warnOfNearMisses } from './unknown-keys.js';
import { resolverOf, type Variables } from './variables.js';

export interface EntryContext {
  readonly name: string;
  readonly path: Path;
  readonly source: Source;
  readonly variables: Variables;
  readonly settings: ServerSettings;
  readonly report: Report;
  /** From its `envFile`. */
  readonly fileEnv: Readonly<Record<string, string>>;
}

/** One server of a file; `undefined` when it cannot be used, and then the report says why. */
export function readEntry(table: Table, context: EntryContext): ServerEntry | undefined {
  const { name, path, source, variables, settings, report, fileEnv } = context;
  const fields = createFields(path, report, resolverOf(variables));
  warnOfNearMisses(table, path, report);
  const transport = transportOf(table);
  if (transport.kind === 'wrong') {
    const { key, message, hint } = transport;
    report.error(key === undefined ? path : [...path, key], message, hint === undefined ? {} : { hint });
    return undefined;
  }
  if (transport.kind === 'command') {
    const part = readCommand(table, fields, variables, fileEnv);
    if (!part || report.failed) return undefined;
    return { kind: 'command', name, ...part, ...settings, source };
  }
  warnOfProcessSettings(table, path, report);
  const part = readUrl(table, transport.key, fields, variables);
  if (!part || report.failed) return undefined;
  return { kind: 'url', name, ...part, transport: transport.transport, ...settings, source };
}
