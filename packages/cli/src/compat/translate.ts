import type { Command } from 'commander';
import { suggest } from '../arguments/suggest.js';
import { usageError } from '../cli-error.js';
import { targetAt } from '../target.js';
import { finish } from './finish.js';
import type { CommandLine, Draft, Habit, ToolFlags } from './habit.js';

export interface Translation {
  /** The command of ours, for its options. */
  readonly command: Command;
  readonly habits: ToolFlags;
  /** Words that are no options: what follows them belongs to a command, or is still for us. */
  readonly words: 'command' | 'ours';
  /** Whether the system would start something of this name. */
  readonly isProgram: (name: string) => Promise<boolean>;
  /** Throws where a word cannot be meant; `before` is what stands before it. */
  readonly checkWord?: (word: string, before: readonly string[]) => void;
}

/** What was typed, in our words: options of other programs are ours, in camelCase, too. Values are not looked at. */
export async function translate(line: CommandLine, translation: Translation): Promise<CommandLine> {
  const { command, habits, words: kind } = translation;
  const known = knownOptions(command);
  const draft: Draft = { words: [], command: undefined };
  const { words } = line;
  let rest: readonly string[] = [];
  for (let at = 0; at < words.length; ) {
    const typed = words[at]!;
    if (!isOption(typed)) {
      const isTheOne = targetAt(typed) !== undefined && !draft.words.some((each) => UPSTREAM.test(each));
      if (kind === 'command' && !isTheOne) {
        rest = words.slice(at);
        break;
      }
      translation.checkWord?.(typed, draft.words);
      draft.words.push(...(kind === 'command' ? ['--upstream', typed] : [typed]));
      at += 1;
      continue;
    }
    at += take(words, at, { known, habits, draft });
  }
  const isCommand = await classifyWords(rest, {
    isOurs: (word) => isOption(word) && nameOf(toKebab(word), known, habits) !== undefined,
    isProgram: translation.isProgram,
  });
  if (isCommand && !line.behind && !draft.command) draft.command = rest;
  else draft.words.push(...rest);
  return finish(draft, line.behind);
}

const UPSTREAM = /^(-u|--upstream(=|$))/;

interface Known {
  readonly known: ReadonlyMap<string, KnownOption>;
  readonly habits: ToolFlags;
}

/** Takes one option with what belongs to it; returns how many words that were. */
function take(
  words: readonly string[],
  at: number,
  { known, habits, draft }: Known & { draft: Draft },
): number {
  const typed = words[at]!;
  const [word, inline] = splitAtEquals(toKebab(typed));
  const name = nameOf(word, known, habits);
  if (name === undefined) {
    refuseNearMiss(typed, word, { known, habits });
    draft.words.push(typed);
    return 1;
  }
  const habit = habitOf(name, habits);
  if (habit) {
    const values = valuesOf(habit, word, inline, words.slice(at + 1));
    if (!isSwitchedOff(habit, inline)) habit.say(values, draft);
    return 1 + values.length - (inline === undefined ? 0 : 1);
  }
  const { takesValue } = known.get(name)!;
  if (takesValue || inline === undefined) draft.words.push(inline === undefined ? word : `${word}=${inline}`);
  // Elsewhere a flag may be told its value.
  else if (inline === 'true') draft.words.push(word);
  else if (inline !== 'false') throw usageError(`${word} takes no value`, `Leave =${inline} out`);
  if (!takesValue || inline !== undefined || at + 1 >= words.length) return 1;
  draft.words.push(words[at + 1]!);
  return 2;
}

function isSwitchedOff({ takes }: Habit, inline: string | undefined): boolean {
  return takes === 'nothing' && inline === 'false';
}

function habitOf(name: string, habits: ToolFlags): Habit | undefined {
  const bare = name.replace(/^--?/, '');
  return Object.hasOwn(habits, bare) ? habits[bare] : undefined;
}

/** The name of an option of ours or of others, without its value. */
function nameOf(word: string, known: Known['known'], habits: ToolFlags): string | undefined {
  const [name] = splitAtEquals(word);
  return habitOf(name, habits) || known.has(name) ? name : undefined;
}

function splitAtEquals(word: string): readonly [string, string | undefined] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}

function isOption(word: string): boolean {
  return word.length > 1 && word.startsWith('-');
}

function valuesOf(
  { takes }: Habit,
  name: string,
  inline: string | undefined,
  next: readonly string[],
): readonly string[] {
  const first = inline === undefined ? [] : [inline];
  if (takes === 'nothing') return first;
  if (takes === 'origins') {
    const end = next.findIndex((word) => !ORIGIN.test(word));
    return [...first, ...next.slice(0, end < 0 ? next.length : end)];
  }
  if (takes === 'maybe') {
    const [value] = next;
    return first.length > 0 || value === undefined || isOption(value) ? first : [value];
  }
  const [value, second] = inline === undefined ? next : [inline, next[0]];
  if (value === undefined) throw usageError(`${name} needs a value`);
  const isPair = takes === 'two' && !isWhole(value) && second !== undefined && !isOption(second);
  return isPair ? [value, second] : [value];
}

/** `NAME=VALUE` and `Name: value` say both in one word. */
function isWhole(word: string): boolean {
  return /^[^\s=:]+(=|:)/.test(word);
}

/** All that pages can have as their origin; a pattern is taken too, to be refused with a reason. */
const ORIGIN = /^(\*|null|https?:\/\/[^/\s]+\/?|\/.+\/)$/;

/** A slip in an option of others; commander knows ours. */
function refuseNearMiss(typed: string, word: string, { known, habits }: Known): void {
  if (!word.startsWith('--')) return;
  const ours = [...known.keys()].filter((each) => each.startsWith('--'));
  const theirs = Object.keys(habits).filter((each) => each.length > 1);
  if (suggest(word, ours) !== undefined) return;
  const meant = suggest(
    word,
    theirs.map((each) => `--${each}`),
  );
  if (meant !== undefined)
    throw usageError(`There is no option ${splitAtEquals(typed)[0]}`, `Did you mean ${meant}?`);
}

/** `--streamableHttp=x` is `--streamable-http=x`. Words that are not options stay as they are, and so do values. */
function toKebab(word: string): string {
  const [, name, value = ''] = /^(--[a-z][A-Za-z0-9-]*)(=.*)?$/s.exec(word) ?? [];
  if (name === undefined) return word;
  return `${name.replace(/([a-z0-9])([A-Z])/g, '$1-$2').toLowerCase()}${value}`;
}

/** What is known of the words of a line. */
interface WordFacts {
  /** An option of ours, or one that we understand. */
  isOurs(word: string): boolean;
  isProgram(name: string): Promise<boolean>;
}

/**
 * Whether words that lack their `--` are a command without doubt: the first is a program, and nothing behind it could
 * be meant for us.
 */
async function classifyWords(words: readonly string[], facts: WordFacts): Promise<boolean> {
  const [first, ...rest] = words;
  if (first === undefined || rest.some((word) => facts.isOurs(word))) return false;
  return facts.isProgram(first);
}

/** What a command of ours knows of an option: whether a value follows. */
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
