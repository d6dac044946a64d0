import { usageError } from '../cli-error.js';
import { quote } from '../target.js';
import type { CommandLine, Draft } from './habit.js';
import { inShell } from './split-command.js';

/** What can be said only when the whole line is known. */
export function finish(draft: Draft, behind: readonly string[] | undefined): CommandLine {
  const { words } = draft;
  if (behind && draft.command) {
    throw usageError(
      `Two commands: ${draft.command.map(quote).join(' ')}, and the one behind --`,
      'Give one of them',
    );
  }
  const command = behind ?? draft.command;
  if (draft.doubtful !== undefined && !behind && !words.some((word) => isOneOf(word, TARGETS))) {
    throw usageError(
      `It is not clear whether the word behind --env ${draft.doubtful} is its value or the command`,
      `Write --env ${draft.doubtful}=VALUE, and put a command behind --: isthmus serve … -- COMMAND ARGS…`,
    );
  }
  if (draft.endpoint !== undefined)
    words.push(draft.server === 'sse' ? '--sse-path' : '--path', draft.endpoint);
  const saysWhere = draft.saysHttp || words.some((word) => isOneOf(word, PLACES));
  if (draft.stdioUnlessSaid && !saysWhere) words.push('--listen', 'stdio');
  if (!draft.shell) return { words, behind: command };
  if (!command)
    throw usageError('--shell is for a command, and there is none', 'isthmus serve --shell -- COMMAND');
  return { words, behind: inShell(command.join(' ')) };
}

/** An option with its value in the next word, or in the same. */
function isOneOf(word: string, names: readonly string[]): boolean {
  return (
    names.includes(word.split('=', 1)[0]!) ||
    names.some((name) => /^-\w$/.test(name) && word.startsWith(name))
  );
}

const TARGETS = ['--upstream', '-u', '--config', '-c', '--import', '--named-server'];
const PLACES = ['--listen', '-l', '--port', '-p', '--host', '--path'];
