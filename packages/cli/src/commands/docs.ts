import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { usageError } from '../cli-error.js';
import { processTerminal } from '../terminal/terminal.js';

export function docsCommand(): Command {
  return new Command('docs')
    .argument('[page]', 'the name of a page')
    .description('Show the documentation that came with this package.')
    .option('--path', 'print the path of the page, or of the folder')
    .addHelpText('after', HELP)
    .showHelpAfterError('(isthmus docs --help explains the options)')
    .exitOverride()
    .action(async (name: string | undefined, { path }: { path?: boolean }) => {
      const { stdout } = processTerminal();
      const folder = fileURLToPath(IS_CLONE ? new URL('../../docs/', PACKAGE) : new URL('docs/', PACKAGE));
      if (name === undefined && path) stdout.write(`${folder}\n`);
      else if (name === undefined) stdout.write(await renderList(folder));
      else {
        const page = `${folder}${await findPage(folder, name)}.md`;
        stdout.write(path ? `${page}\n` : await readFile(page, 'utf8'));
      }
    });
}

const PACKAGE = new URL('../../', import.meta.url);
/** The package from the registry has no sources. */
const IS_CLONE = existsSync(new URL('src/', PACKAGE));

const HELP = `
Pages are Markdown. Without PAGE, the pages are listed.

Examples:
  isthmus docs
  isthmus docs getting-started
  isthmus docs guides/hosts | less
`;

async function renderList(folder: string): Promise<string> {
  const pages = await listPages(folder);
  const width = Math.max(...pages.map((page) => page.length));
  const lines = await Promise.all(
    pages.map(async (page) => {
      const text = await readFile(`${folder}${page}.md`, 'utf8');
      return `${page.padEnd(width)}  ${/^# (.*)$/m.exec(text)?.[1] ?? ''}\n`;
    }),
  );
  return lines.join('');
}

/** The whole name, or the last part of it. */
async function findPage(folder: string, name: string): Promise<string> {
  const wanted = name.replace(/^docs\//, '').replace(/\.md$/, '');
  const pages = await listPages(folder);
  const found = pages.find((page) => page === wanted) ?? pages.find((page) => page.endsWith(`/${wanted}`));
  if (found !== undefined) return found;
  const near = pages.filter((page) => page.includes(wanted));
  const hint = near.length > 0 ? `Similar pages: ${near.join(', ')}` : 'isthmus docs lists the pages';
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
