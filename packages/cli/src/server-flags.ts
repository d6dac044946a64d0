import {
  OPTIONS,
  type OptionFlag,
  type ServerOption,
} from '@isthmus/sdk/internal/config/options/option-table.js';
import type { ServerSettings } from '@isthmus/sdk/internal/config/server-spec.js';
import { type Command, Option } from 'commander';
import { collect, toMs } from './common-options.js';
import { toCount, toEra } from './serve/option-values.js';

type FlaggedCommand = 'serve' | 'attach';

/** Adds the flags of the option table to a command. `forMany`: only the flags that apply to all servers of a file. */
export function addServerFlags(command: Command, name: FlaggedCommand, { forMany = false } = {}): void {
  for (const { flag, flags } of flagsOf(name)) {
    if ((flag.forMany ?? false) !== forMany) continue;
    const option = new Option(flags, flag.help);
    if (typeof flag.typed === 'object') option.choices(flag.typed);
    else if (flag.typed !== 'switch') option.argParser(PARSERS[flag.typed] as (text: string) => unknown);
    command.addOption(option);
  }
}

const PARSERS = { ms: toMs, count: toCount, mode: toEra, list: collect } as const;

/** The server options that were typed as flags. */
export function settingsOfFlags(
  name: FlaggedCommand,
  typed: object,
  kind: 'command' | 'url' | 'socket',
): ServerSettings {
  const settings: Record<string, unknown> = {};
  for (const { option, key, flag, attribute } of flagsOf(name)) {
    const value = (typed as Record<string, unknown>)[attribute];
    if (value === undefined || (option.onlyCommands && kind !== 'command')) continue;
    settings[key] = flag.toOption ? flag.toOption(value) : value;
  }
  return settings;
}

/** Names of the flags for one server, as in Commander. `onlyCommands`: only the flags that an address cannot have. */
export function namesOfFlags(name: FlaggedCommand, { onlyCommands = false } = {}): readonly string[] {
  return flagsOf(name)
    .filter(({ option, flag }) => !flag.forMany && (!onlyCommands || option.onlyCommands))
    .map(({ attribute }) => attribute);
}

interface NamedFlag {
  /** The name of the option. */
  readonly key: string;
  readonly option: ServerOption;
  readonly flag: OptionFlag;
  /** In the syntax of Commander. */
  readonly flags: string;
  /** The name of the typed value in Commander. */
  readonly attribute: string;
}

function flagsOf(name: FlaggedCommand): readonly NamedFlag[] {
  return Object.entries(OPTIONS).flatMap(([key, option]): NamedFlag[] => {
    const flags = option.flag?.[name];
    if (option.flag === undefined || flags === undefined) return [];
    return [{ key, option, flag: option.flag, flags, attribute: new Option(flags).attributeName() }];
  });
}
