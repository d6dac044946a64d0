import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { suggest } from '../arguments/suggest.js';
import { usageError } from '../cli-error.js';
import { renderMarkdown } from '../terminal/render-markdown.js';
import { table } from '../terminal/table.js';
import { processTerminal, type Terminal } from '../terminal/terminal.js';

export function docsCommand(): Command {
  return new Command('docs')
    .argument('[page]', 'the name of a page')
    .description('Show the documentation that came with this package.')
    .option('--path', 'print the path of the page, or of the folder')
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus docs --help explains the options)')
    .exitOverride()
    .action(async (name: string | undefined, { path }: { path?: boolean }) => {
      const terminal = processTerminal();
      const { stdout } = terminal;
      const folder = fileURLToPath(IS_CLONE ? new URL('../../docs/', PACKAGE) : new URL('docs/', PACKAGE));
      if (name === undefined && path) stdout.write(`${folder}\n`);
      else if (name === undefined) stdout.write(await renderList(folder, terminal));
      else {
        const page = `${folder}${await findPage(folder, name)}.md`;
        if (path) return void stdout.write(`${page}\n`);
        const text = await readFile(page, 'utf8');
        stdout.write(terminal.readsOutput ? renderMarkdown(text, terminal) : text);
      }
    });
}

const PACKAGE = new URL('../../', import.meta.url);
/** The package from the registry has no sources. */
const IS_CLONE = existsSync(new URL('src/', PACKAGE));

const HELP = `
Without PAGE, the pages are listed. On a terminal a page is laid out for reading; a pipe or a file gets its Markdown.

Examples:
  isthmus docs
  isthmus docs getting-started
  isthmus docs guides/hosts | less

Exit codes:
  0  success
  2  there is no such page`;

async function renderList(folder: string, { width, out }: Terminal): Promise<string> {
  const pages = await listPages(folder);
  const rows = await Promise.all(
    pages.map(async (page) => {
      const text = await readFile(`${folder}${page}.md`, 'utf8');
      return [page, (/^# (.*)$/m.exec(text)?.[1] ?? '').replaceAll('`', '')];
    }),
  );
  return table(rows, { width, paint: (text, column) => (column === 0 ? out.bold(text) : text) });
}

/** The whole name, or the last part of it. */
async function findPage(folder: string, name: string): Promise<string> {
  const wanted = name.replace(/^docs\//, '').replace(/\.md$/, '');
  const pages = await listPages(folder);
  const found = pages.find((page) => page === wanted) ?? pages.find((page) => page.endsWith(`/${wanted}`));
  if (found !== undefined) return found;
  const near = pages.filter((page) => page.includes(wanted));
  const meant = suggest(wanted, [...pages, ...pages.map((page) => basename(page))]);
  const hint =
    near.length > 0
      ? `Similar pages: ${near.join(', ')}`
      : meant === undefined
        ? 'isthmus docs lists the pages'
        : `Did you mean ${meant}?`;
  throw usageError(`There is no page "${name}"`, hint);
}

async function listPages(folder: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true });
  const pages = files
    .filter((file) => file.endsWith('.md'))
    .map((file) => file.slice(0, -3).replaceAll('\\', '/'));
  // Decisions are for people who change Isthmus.
  return pages.filter((page) => !page.startsWith('decisions/')).sort();
}
