import { secretsOf } from '../gateway/secrets.js';
import type { AttachParams } from './definition.js';

/** What nobody may read in logs or in the status. */
export function secretsIn({ unit }: AttachParams): string[] {
  const { source } = unit;
  if (source.kind !== 'command') return secretsOf(unit);
  const { definition } = source;
  // Every variable of the process is here; these are in any path that is worth reading.
  const env = Object.fromEntries(
    Object.entries(definition.env).filter(([name]) => !HARMLESS.has(name.toUpperCase())),
  );
  return secretsOf({ ...unit, source: { ...source, definition: { ...definition, env } } });
}

const HARMLESS: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'PWD',
]);
