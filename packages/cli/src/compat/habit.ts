import { usageError } from '../cli-error.js';

/** What was typed for a command, up to `--` and behind it. */
export interface CommandLine {
  readonly words: readonly string[];
  readonly behind: readonly string[] | undefined;
}

/** The same line, as it is being written in our words. */
export interface Draft {
  readonly words: string[];
  /** The command that is to be started. */
  command: readonly string[] | undefined;
  /** It runs in a shell. */
  shell?: boolean;
  /** Clients speak over stdin and stdout, unless the line says where else. */
  stdioUnlessSaid?: boolean;
  /** The line says that it is served over HTTP, and no more. */
  saysHttp?: boolean;
  /** Which of two transports `--endpoint` is about. */
  server?: string;
  /** The path of `--endpoint`. */
  endpoint?: string;
  /** `--env` had a name, and then a word that may be its value or a command. */
  doubtful?: string;
}

/**
 * The words that belong to an option: none, one, two (or one that says both: `NAME=VALUE`), one if it is there, or all
 * that are origins.
 */
export type Takes = 'nothing' | 'one' | 'two' | 'maybe' | 'origins';

/** An option of another program, by its name in kebab-case without dashes. */
export interface Habit {
  readonly takes: Takes;
  /** Puts down the same in our words; throws where we do not do it. */
  say(values: readonly string[], draft: Draft): void;
}

export type ToolFlags = Readonly<Record<string, Habit>>;

/** We have the same under another name. */
export function renamed(option: string, toOurs: (value: string) => string = (value) => value): Habit {
  return {
    takes: 'one',
    say: ([value = ''], { words }) => void words.push(option, toOurs(value)),
  };
}

/** What it asks for is what we do anyway. */
export function anyway(takes: Takes = 'nothing'): Habit {
  return { takes, say: () => {} };
}

/** We do not do it: why, and what to do instead. */
export function refused(why: string, hint: string, takes: Takes = 'nothing'): Habit {
  return {
    takes,
    say() {
      throw usageError(why, hint);
    },
  };
}
