import { usageError } from '../cli-error.js';

/**
 * The arguments of a command line in one string, as in `--stdio "npx -y some-server"`. One with shell syntax (variables,
 * pipes, patterns) is run by a shell.
 */
export function splitCommand(text: string, option: string, platform = process.platform): readonly string[] {
  if (text.trim() === '') throw usageError(`${option} has no command`, `${option} "node server.js"`);
  const args = platform === 'win32' ? text.trim().split(/\s+/) : argumentsOf(text);
  return args ?? inShell(text, platform);
}

/** Runs the line in a shell. `exec` replaces the shell by the command, so that signals reach the command. */
export function inShell(text: string, platform = process.platform): readonly string[] {
  if (platform === 'win32') return ['cmd.exe', '/d', '/s', '/c', text];
  const isOne = !/[;&|\n]/.test(text);
  return ['/bin/sh', '-c', isOne && !/^\s*(\w+=|exec\s)/.test(text) ? `exec ${text}` : text];
}

/** Undefined where the line has shell syntax other than quotes. */
function argumentsOf(text: string): string[] | undefined {
  const args: string[] = [];
  let arg: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (/\s/.test(character)) {
      if (arg !== undefined) args.push(arg);
      arg = undefined;
    } else if (character === "'" || character === '"') {
      const end = text.indexOf(character, at + 1);
      const inside = text.slice(at + 1, end);
      if (end < 0 || (character === '"' && /[$`\\]/.test(inside))) return undefined;
      arg = (arg ?? '') + inside;
      at = end;
    } else if (SHELL_SYNTAX.test(character) || (arg === undefined && character === '~')) {
      return undefined;
    } else arg = (arg ?? '') + character;
  }
  if (arg !== undefined) args.push(arg);
  // `NAME=VALUE command` is shell syntax, too.
  return /^\w+=/.test(args[0] ?? '') ? undefined : args;
}

const SHELL_SYNTAX = /[$`\\|&;<>()*?[\]{}#]/;
