import {
  OPTIONS,
  type OptionFlag,
  type ServerOption,
} from '@isthmus/sdk/internal/config/options/option-table.js';
import type { ServerSettings } from '@isthmus/sdk/internal/config/server-spec.js';

export type FlaggedCommand = 'serve' | 'attach';

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

export interface NamedFlag {
  /** The name of the option. */
  readonly key: string;
  readonly option: ServerOption;
  readonly flag: OptionFlag;
  /** In the syntax of Commander. */
  readonly flags: string;
  /** The name of the typed value in Commander. */
  readonly attribute: string;
}

/** The flags of a command, in the order of the option table. */
export function flagsOf(name: FlaggedCommand): readonly NamedFlag[] {
  return Object.entries(OPTIONS).flatMap(([key, option]): NamedFlag[] => {
    const flags = option.flag?.[name];
    if (option.flag === undefined || flags === undefined) return [];
    return [{ key, option, flag: option.flag, flags, attribute: attributeOf(flags) }];
  });
}

/** As Commander has it, which is not loaded for every command line: `-t, --timeout <ms>` is `timeout`. */
function attributeOf(flags: string): string {
  const [, name = ''] = /--([a-z-]+)/.exec(flags) ?? [];
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
