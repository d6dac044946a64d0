import type { UnitDefinition } from '../../gateway/unit-definition.js';
import { usageError } from '../cli-error.js';
import { splitCommand } from '../habits/split-command.js';
import type { ServeOptions } from './serve-options.js';
import { settingsOf } from './single-settings.js';
import { unitOfTarget } from './unit-of-target.js';

/** The servers of `--named-server NAME=COMMAND`. All get what the command line says about one. */
export function namedUnits(options: ServeOptions, hasPrincipals: boolean): readonly UnitDefinition[] {
  const settings = settingsOf(options);
  const ofMany = hasPrincipals && !settings.stateless ? 'per-principal' : 'shared';
  const names = new Set<string>();
  return (options.namedServer ?? []).map((text) => {
    const { name, words } = namedCommand(text);
    if (names.has(name))
      throw usageError(`Two servers are called ${name}`, 'Give each --named-server its own name');
    names.add(name);
    const [command = '', ...args] = words;
    return unitOfTarget(
      { kind: 'command', command, args },
      { ...settings, name, processes: options.processes ?? ofMany, start: 'eager' },
    );
  });
}

function namedCommand(text: string): { readonly name: string; readonly words: readonly string[] } {
  const [, name, command] = /^([^\s=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || command === undefined) {
    throw usageError(
      '--named-server needs a name and a command',
      '--named-server weather "npx -y weather-server"',
    );
  }
  return { name, words: splitCommand(command, `--named-server ${name}`) };
}
