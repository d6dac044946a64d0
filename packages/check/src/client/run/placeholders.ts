import type { Over } from '../model.js';
import type { ScriptedServer } from './scripted-server.js';

/** Where the words of a client command name the server. */
const FOR: Readonly<Record<Over, RegExp>> = {
  http: /\{(?:url|server)\}/,
  stdio: /\{(?:command|server)(?:\.\.\.)?\}/,
};

/** Why a client cannot be shown servers over this; nothing when it can. */
export function whyNot(words: readonly string[], over: Over, insists: boolean): string | undefined {
  const names = (which: Over) => words.some((word) => FOR[which].test(word));
  if (names(over) || (insists && !names('http') && !names('stdio'))) return undefined;
  if (over === 'http') {
    // As the official suite does it, the address is the last argument.
    return names('stdio') ? 'the client command has no {url} or {server} for the address' : undefined;
  }
  return 'the client command has no {command} or {server} for the command line of the server';
}

/** The words with the server in its place. */
export function fillIn(words: readonly string[], { over, url, command = [] }: ScriptedServer): string[] {
  if (over === 'http') {
    const named = words.map((word) => word.replaceAll(/\{(?:url|server)\}/g, () => url ?? ''));
    return words.some((word) => FOR.http.test(word)) ? named : [...named, url ?? ''];
  }
  return words.flatMap((word) => {
    if (/^\{(?:command|server)\.\.\.\}$/.test(word)) return command;
    return [word.replaceAll(/\{(?:command|server)\}/g, () => commandLine(command))];
  });
}

/** As a shell would read it. */
export function commandLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : quote(word))).join(' ');
}

function quote(word: string): string {
  return process.platform === 'win32' ? `"${word}"` : `'${word.replaceAll("'", `'\\''`)}'`;
}
