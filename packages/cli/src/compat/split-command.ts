import { usageError } from '../cli-error.js';

/**
 * A command in one word, as `--stdio "npx -y some-server"` has it. Where nothing but a shell understands it (variables,
 * pipes, patterns), a shell gets it.
 */
export function splitCommand(text: string, option: string, platform = process.platform): readonly string[] {
  if (text.trim() === '') throw usageError(`${option} has no command`, `${option} "node server.js"`);
  const words = platform === 'win32' ? text.trim().split(/\s+/) : wordsOf(text);
  if (words) return words;
  return inShell(text, platform);
}

/** What the user's shell makes of it. The shell gives way to the command where it can, so that signals reach it. */
export function inShell(text: string, platform = process.platform): readonly string[] {
  if (platform === 'win32') return ['cmd.exe', '/d', '/s', '/c', text];
  const isOne = !/[;&|\n]/.test(text);
  return ['/bin/sh', '-c', isOne && !/^\s*(\w+=|exec\s)/.test(text) ? `exec ${text}` : text];
}

/** The words of a line without shell syntax other than quotes; undefined where there is some. */
function wordsOf(text: string): string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]!;
    if (/\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === "'" || character === '"') {
      const end = text.indexOf(character, at + 1);
      const inside = text.slice(at + 1, end);
      if (end < 0 || (character === '"' && /[$`\\]/.test(inside))) return undefined;
      word = (word ?? '') + inside;
      at = end;
    } else if (SHELL_SYNTAX.test(character) || (word === undefined && character === '~')) {
      return undefined;
    } else word = (word ?? '') + character;
  }
  if (word !== undefined) words.push(word);
  // A variable for the command comes first.
  return /^\w+=/.test(words[0] ?? '') ? undefined : words;
}

const SHELL_SYNTAX = /[$`\\|&;<>()*?[\]{}#]/;
