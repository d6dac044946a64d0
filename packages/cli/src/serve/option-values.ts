import { isLegacyRevision, isModernRevision, REVISION_TABLE } from '@isthmus/sdk/internal/era/revisions.js';
import { InvalidArgumentError, Option } from 'commander';

/** An option that a variable can replace. An empty variable does not count. */
export function env<T>(
  flags: string,
  description: string,
  variable: string,
  parse?: (text: string, before: T) => T,
): Option {
  const option = new Option(flags, description);
  if (parse) option.argParser(parse);
  const name = `ISTHMUS_${variable}`;
  return process.env[name] === '' ? option : option.env(name);
}

export function toPort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65535) {
    throw new InvalidArgumentError('It must be a port, from 0 to 65535.');
  }
  return port;
}

export function toCount(text: string): number {
  const count = toCountOrNone(text);
  if (count < 1) throw new InvalidArgumentError('It must be a whole number, 1 or more.');
  return count;
}

export function toCountOrNone(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count)) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return count;
}

export function toPath(text: string): string {
  if (/^\/[^?#\s]*$/.test(text)) return text;
  throw new InvalidArgumentError('It must be a path that begins with /.');
}

/** For an option that may be given more than once. */
export function toPaths(text: string, before: readonly string[] = []): string[] {
  return [...before, toPath(text)];
}

export function toEra(text: string): string {
  if (/^(auto|modern|legacy)$/.test(text) || isLegacyRevision(text) || isModernRevision(text)) return text;
  const known = /^\d{4}-\d{2}-\d{2}$/.test(text) ? ` Known revisions: ${REVISION_TABLE}.` : '';
  throw new InvalidArgumentError(`It must be auto, modern, legacy or a revision such as 2025-11-25.${known}`);
}
