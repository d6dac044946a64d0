import type { Path, Table } from './document.js';
import type { ServerEntry, ServerSettings, Source, UrlEntry } from './entry.js';
import { createFields } from './fields.js';
import { readCommand } from './read-command.js';
import { readUrl } from './read-url.js';
import type { Report } from './report.js';
import { warnOfProcessSettings } from './settings.js';
import { warnOfNearMisses } from './unknown-keys.js';
import { resolverOf, type Variables } from './variables.js';

export interface EntryContext {
  readonly name: string;
  readonly path: Path;
  readonly source: Source;
  readonly variables: Variables;
  readonly settings: ServerSettings;
  readonly report: Report;
}

/** One server of a file; `undefined` when it cannot be used, and then the report says why. */
export function readEntry(table: Table, context: EntryContext): ServerEntry | undefined {
  const { name, path, source, variables, settings, report } = context;
  const fields = createFields(path, report, resolverOf(variables));
  warnOfNearMisses(table, path, report);
  const transport = readTransport(table, path, report);
  if (transport === undefined) return undefined;
  if (transport.kind === 'command') {
    const part = readCommand(table, fields, variables);
    if (!part || report.failed) return undefined;
    return { kind: 'command', name, ...part, ...settings, source };
  }
  warnOfProcessSettings(table, path, report);
  const part = readUrl(table, transport.key, fields, variables);
  if (!part || report.failed) return undefined;
  return { kind: 'url', name, ...part, transport: transport.transport, ...settings, source };
}

type Transport =
  | { readonly kind: 'command' }
  | { readonly kind: 'url'; readonly key: string; readonly transport: UrlEntry['transport'] };

/** By `type` where it is given, otherwise by what is there. */
function readTransport(table: Table, path: Path, report: Report): Transport | undefined {
  const urlKey = URL_KEYS.find((key) => table.has(key));
  const typeKey = TYPE_KEYS.find((key) => table.has(key));
  const type = typeKey === undefined ? undefined : TYPES.get(table.get(typeKey));
  if (typeKey !== undefined && type === undefined) {
    report.error([...path, typeKey], 'must be stdio, http, streamable-http or sse');
    return undefined;
  }
  if (type === undefined && table.has('command') && urlKey !== undefined) {
    report.error(path, `has both command and ${urlKey}: type has to say which counts`);
    return undefined;
  }
  if (type === 'command' || (type === undefined && table.has('command'))) {
    if (table.has('command')) return { kind: 'command' };
    report.error(path, 'has no command, which its type asks for');
    return undefined;
  }
  if (urlKey === undefined) {
    if (type !== undefined) report.error(path, 'has no url, which its type asks for');
    else
      report.error(path, 'has neither command nor url', {
        hint: 'give it a command to start, or a url to reach',
      });
    return undefined;
  }
  return { kind: 'url', key: urlKey, transport: type ?? (urlKey === 'httpUrl' ? 'http' : 'auto') };
}

/** Windsurf and Gemini have names of their own. */
const URL_KEYS = ['url', 'serverUrl', 'httpUrl'];
const TYPE_KEYS = ['type', 'transport', 'transportType'];

const TYPES: ReadonlyMap<unknown, 'command' | UrlEntry['transport']> = new Map([
  ['stdio', 'command'],
  ['local', 'command'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['streamable_http', 'http'],
  ['sse', 'sse'],
  ['remote', 'auto'],
  ['auto', 'auto'],
] as const);
