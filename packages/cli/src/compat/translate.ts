import type { Command } from 'commander';
import { suggest } from '../arguments/suggest.js';
import { usageError } from '../cli-error.js';
import { targetAt } from '../target.js';
import type { CommandLine, CompatFlag, CompatFlags, DraftLine } from './flags.js';

export interface Translation {
  /** Our command. Its own options are kept. */
  readonly command: Command;
  /** The options of other programs. */
  readonly flags: CompatFlags;
  /** Whether the first argument that is not an option begins the command of a server, or belongs to us. */
  readonly plainArguments: 'command' | 'ours';
  /** Whether the system can start a program of this name. */
  readonly isProgram: (name: string) => Promise<boolean>;
  /** Our words for an argument that is not an option; `before` has the arguments before it. Default: itself. */
  readonly toOurs?: (arg: string, before: readonly string[]) => readonly string[];
}

/** Replaces options of other programs by ours. Options may be in camelCase. Values stay as they are. */
export async function translate(line: CommandLine, translation: Translation): Promise<DraftLine> {
  const { command, flags, plainArguments } = translation;
  const known = knownOptions(command);
  const draft: DraftLine = { args: [], command: undefined };
  const { args } = line;
  let rest: readonly string[] = [];
  for (let at = 0; at < args.length; ) {
    const typed = args[at]!;
    if (!isOption(typed)) {
      const isUpstream = targetAt(typed) !== undefined && !draft.args.some((each) => UPSTREAM.test(each));
      if (plainArguments === 'command' && !isUpstream) {
        rest = args.slice(at);
        break;
      }
      const ours = translation.toOurs?.(typed, draft.args) ?? [typed];
      draft.args.push(...(plainArguments === 'command' ? ['--upstream', typed] : ours));
      at += 1;
      continue;
    }
    at += take(args, at, { known, flags, draft });
  }
  const isOurs = (arg: string) => isOption(arg) && nameOf(toKebab(arg), known, flags) !== undefined;
  const isCommand = await isCommandLine(rest, isOurs, translation.isProgram);
  if (isCommand && !line.afterDashes && !draft.command) draft.command = rest;
  else draft.args.push(...rest);
  return draft;
}

const UPSTREAM = /^(-u|--upstream(=|$))/;

interface Known {
  readonly known: ReadonlyMap<string, KnownOption>;
  readonly flags: CompatFlags;
}

/** Translates one option with its values; returns the number of arguments. */
function take(
  args: readonly string[],
  at: number,
  { known, flags, draft }: Known & { draft: DraftLine },
): number {
  const typed = args[at]!;
  const [option, inline] = splitAtEquals(toKebab(typed));
  const name = nameOf(option, known, flags);
  if (name === undefined) {
    refuseNearMiss(typed, option, { known, flags });
    draft.args.push(typed);
    return 1;
  }
  const flag = flagOf(name, flags);
  if (flag) {
    const values = valuesOf(flag, option, inline, args.slice(at + 1));
    if (!isSwitchedOff(flag, inline)) flag.apply(values, draft);
    return 1 + values.length - (inline === undefined ? 0 : 1);
  }
  const { takesValue } = known.get(name)!;
  if (takesValue || inline === undefined)
    draft.args.push(inline === undefined ? option : `${option}=${inline}`);
  // Other programs accept --flag=true and --flag=false.
  else if (inline === 'true') draft.args.push(option);
  else if (inline !== 'false') throw usageError(`${option} does not take a value`, `Leave =${inline} out`);
  if (!takesValue || inline !== undefined || at + 1 >= args.length) return 1;
  draft.args.push(args[at + 1]!);
  return 2;
}

function isSwitchedOff({ takes }: CompatFlag, inline: string | undefined): boolean {
  return takes === 'nothing' && inline === 'false';
}

function flagOf(name: string, flags: CompatFlags): CompatFlag | undefined {
  const bare = name.replace(/^--?/, '');
  return Object.hasOwn(flags, bare) ? flags[bare] : undefined;
}

/** The name of an option that we know, without its value. */
function nameOf(arg: string, known: Known['known'], flags: CompatFlags): string | undefined {
  const [name] = splitAtEquals(arg);
  return flagOf(name, flags) || known.has(name) ? name : undefined;
}

function splitAtEquals(arg: string): readonly [string, string | undefined] {
  const at = arg.startsWith('--') ? arg.indexOf('=') : -1;
  return at < 0 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

function isOption(arg: string): boolean {
  return arg.length > 1 && arg.startsWith('-');
}

function valuesOf(
  { takes }: CompatFlag,
  name: string,
  inline: string | undefined,
  next: readonly string[],
): readonly string[] {
  const first = inline === undefined ? [] : [inline];
  if (takes === 'nothing') return first;
  if (takes === 'origins') {
    const end = next.findIndex((arg) => !ORIGIN.test(arg));
    return [...first, ...next.slice(0, end < 0 ? next.length : end)];
  }
  if (takes === 'maybe') {
    const [value] = next;
    return first.length > 0 || value === undefined || isOption(value) ? first : [value];
  }
  const [value, second] = inline === undefined ? next : [inline, next[0]];
  if (value === undefined) throw usageError(`${name} needs a value`);
  const isPair = takes === 'two' && !hasBoth(value) && second !== undefined && !isOption(second);
  return isPair ? [value, second] : [value];
}

/** `NAME=VALUE` and `Name: value` have the name and the value in one argument. */
function hasBoth(arg: string): boolean {
  return /^[^\s=:]+(=|:)/.test(arg);
}

/** Every origin that a page can have. A pattern matches too, and is refused later with a reason. */
const ORIGIN = /^(\*|null|https?:\/\/[^/\s]+\/?|\/.+\/)$/;

/** Refuses a likely typo in an option of another program. Commander does the same for ours. */
function refuseNearMiss(typed: string, option: string, { known, flags }: Known): void {
  if (!option.startsWith('--')) return;
  const ours = [...known.keys()].filter((each) => each.startsWith('--'));
  const foreign = Object.keys(flags).filter((each) => each.length > 1);
  if (suggest(option, ours) !== undefined) return;
  const meant = suggest(
    option,
    foreign.map((each) => `--${each}`),
  );
  if (meant !== undefined)
    throw usageError(`There is no option ${splitAtEquals(typed)[0]}`, `Did you mean ${meant}?`);
}

/** `--streamableHttp=x` becomes `--streamable-http=x`. Values and other arguments stay as they are. */
function toKebab(arg: string): string {
  const [, name, value = ''] = /^(--[a-z][A-Za-z0-9-]*)(=.*)?$/s.exec(arg) ?? [];
  if (name === undefined) return arg;
  return `${name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()}${value}`;
}

/**
 * Whether arguments that lack their `--` are a command line without doubt: the first is a program, and none of the
 * others could be an option for us.
 */
async function isCommandLine(
  args: readonly string[],
  isOurs: (arg: string) => boolean,
  isProgram: (name: string) => Promise<boolean>,
): Promise<boolean> {
  const [first, ...rest] = args;
  return first !== undefined && !rest.some(isOurs) && isProgram(first);
}

interface KnownOption {
  readonly takesValue: boolean;
}

/** The options of a command by every name that they have. */
function knownOptions(command: Command): ReadonlyMap<string, KnownOption> {
  const known = new Map<string, KnownOption>([
    ['--help', { takesValue: false }],
    ['-h', { takesValue: false }],
  ]);
  for (const { long, short, required, optional } of command.options) {
    for (const name of [long, short]) if (name) known.set(name, { takesValue: required || optional });
  }
  return known;
}
