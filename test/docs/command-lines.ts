/** The command lines of a block, and whether their commands and options exist. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { ISTHMUS } from '../support/child.js';
import type { CodeBlock } from './markdown.js';

const SCRIPTS = Object.keys(
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).scripts,
);
const SUBCOMMANDS = ['config', 'daemon', 'completion', 'help'];
const helps = new Map<string, Promise<string>>();

/** What is wrong with the lines; empty when nothing is. */
export async function problemsOf(block: CodeBlock): Promise<readonly string[]> {
  const problems = await Promise.all(linesOf(block).map(problemOf));
  return problems.flat();
}

/** The typed lines: in a transcript those with `$`, without comments. A `\` at the end goes on. */
export function linesOf({ text }: CodeBlock): readonly string[] {
  const lines = text
    .replaceAll(/\\\n\s*/g, '')
    .trimEnd()
    .split('\n');
  const typed = lines.some((line) => line.startsWith('$ '))
    ? lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
    : lines;
  return typed.map((line) => line.replace(/(?:^|\s)#.*$/, '').trimEnd()).filter((line) => line !== '');
}

async function problemOf(line: string): Promise<string[]> {
  const [, script] = /\bnpm run (\S+)/.exec(line) ?? [];
  if (script !== undefined && !SCRIPTS.includes(script)) return [`${line}: there is no script ${script}`];
  // Quoted words are not ours, nor is what follows `--`, a pipe or `&&`.
  const own = line.replaceAll(/'[^']*'|"[^"]*"/g, 'X').replace(/ -- .*| [|&>].*/, '');
  const [, rest] = /(?:^|\s)isthmus (.*)$/.exec(own) ?? [];
  if (rest === undefined) return [];
  const [name = '', second = '', ...words] = rest.split(/\s+/);
  if (name.startsWith('-')) return [];
  const problems = await Promise.all(
    name.split('|').map(async (each) => {
      const subcommands = SUBCOMMANDS.includes(each) && /^[a-z|]+$/.test(second) ? second.split('|') : [''];
      const help = (await Promise.all(subcommands.map((sub) => helpOf(`${each} ${sub}`.trim())))).join('\n');
      if (!help.includes('Usage: isthmus')) return [`${line}: there is no command ${each}`];
      const options = [second, ...words].flatMap((word) => /^-{1,2}[a-z][a-z-]*/i.exec(word) ?? []);
      const unknown = options.filter(
        (option) => !new RegExp(`(?:^|[ ,])${option}(?![\\w-])`, 'm').test(help),
      );
      return unknown.map((option) => `${line}: ${each} has no option ${option}`);
    }),
  );
  return problems.flat();
}

function helpOf(command: string): Promise<string> {
  const known = helps.get(command);
  if (known !== undefined) return known;
  const asked = promisify(execFile)(process.execPath, [ISTHMUS, ...command.split(' '), '--help']).then(
    ({ stdout }) => stdout,
    (error: { stderr?: string }) => error.stderr ?? '',
  );
  helps.set(command, asked);
  return asked;
}
