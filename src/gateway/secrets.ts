import { isSecretName } from './telemetry/secret-patterns.js';
import type { UnitDefinition } from './unit-definition.js';

/** What a definition holds that nobody may read in logs or in the status. */
export function secretsOf({ source }: UnitDefinition): string[] {
  if (source.kind === 'command') {
    const { env = {} } = source.definition;
    return Object.entries(env).flatMap(([name, value]) => (isSecret(name, value) ? [value] : []));
  }
  if (source.kind !== 'url') return [];
  return [...Object.values(source.connect.headers).flatMap(withoutScheme), ...secretsInUrl(source.url)];
}

/** By its name, or because it looks like nothing that people would write. */
function isSecret(name: string, value: string): boolean {
  return isSecretName(name) || (/^[\w+/=.~-]{24,}$/.test(value) && /\d/.test(value));
}

/** Some give out addresses that are keys. */
function secretsInUrl(text: string): string[] {
  if (!URL.canParse(text)) return [];
  const { pathname, searchParams } = new URL(text);
  return [...searchParams.values(), ...pathname.split('/').filter((segment) => isSecret('', segment))];
}

/** `Bearer abc` is seen as a whole and as `abc`. */
function withoutScheme(value: string): string[] {
  const token = /^[A-Za-z-]+ +(\S.*)$/.exec(value)?.[1];
  return token === undefined ? [value] : [value, token];
}
