import { type Command, Option } from 'commander';
import { collect, toMs } from './common-options.js';
import { toCount, toEra } from './serve/option-values.js';
import { type FlaggedCommand, flagsOf } from './server-flags.js';

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
