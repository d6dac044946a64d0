import type { AccessLevel } from '@isthmus/console';
import { InvalidArgumentError } from 'commander';

/** What an operator may do. Each level has those before it. */
export type ConsoleLevel = AccessLevel;

export const LEVELS_UP_TO: Readonly<Record<ConsoleLevel | 'none', readonly AccessLevel[]>> = {
  none: [],
  look: ['look'],
  act: ['look', 'act'],
  record: ['look', 'act', 'record'],
};

/** A caller or a scope, and what it may do. */
export interface NamedLevel {
  readonly name: string;
  readonly level: ConsoleLevel;
}

/** `NAME=LEVEL`. The name of a token may have `=` in it. */
export function collectKeyLevel(text: string, before: readonly NamedLevel[] = []): readonly NamedLevel[] {
  const [, name, level] = /^(.+)=(look|act|record)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('It must be NAME=look, NAME=act or NAME=record.');
  return [...before, { name, level: level as ConsoleLevel }];
}

/** `LEVEL=SCOPE`. */
export function collectScopeLevel(text: string, before: readonly NamedLevel[] = []): readonly NamedLevel[] {
  const [, level, name] = /^(look|act|record)=(.+)$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError('It must be look=SCOPE, act=SCOPE or record=SCOPE.');
  return [...before, { name, level: level as ConsoleLevel }];
}
