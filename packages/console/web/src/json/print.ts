import type { Raw } from './raw.js';

/** With two spaces a level. Numbers stay as they were typed. */
export function pretty(raw: Raw, indent = ''): string {
  const inner = `${indent}  `;
  switch (raw.kind) {
    case 'object':
      if (raw.members.length === 0) return '{}';
      return `{\n${raw.members
        .map(([name, value]) => `${inner}${JSON.stringify(name)}: ${pretty(value, inner)}`)
        .join(',\n')}\n${indent}}`;
    case 'array':
      if (raw.items.length === 0) return '[]';
      return `[\n${raw.items.map((item) => inner + pretty(item, inner)).join(',\n')}\n${indent}]`;
    case 'string':
      return JSON.stringify(raw.value);
    default:
      return raw.text;
  }
}

/** On one line. */
export function compact(raw: Raw): string {
  switch (raw.kind) {
    case 'object':
      return `{${raw.members.map(([name, value]) => `${JSON.stringify(name)}:${compact(value)}`).join(',')}}`;
    case 'array':
      return `[${raw.items.map(compact).join(',')}]`;
    case 'string':
      return JSON.stringify(raw.value);
    default:
      return raw.text;
  }
}

/** The last member with this name, as JSON.parse takes it. */
export function member(raw: Raw | undefined, name: string): Raw | undefined {
  if (raw?.kind !== 'object') return undefined;
  return raw.members.findLast(([each]) => each === name)?.[1];
}

export function hasRepeatedKeys(raw: Raw): boolean {
  if (raw.kind === 'array') return raw.items.some(hasRepeatedKeys);
  if (raw.kind !== 'object') return false;
  const names = new Set(raw.members.map(([name]) => name));
  return names.size < raw.members.length || raw.members.some(([, value]) => hasRepeatedKeys(value));
}
