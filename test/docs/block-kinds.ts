/** What proves a block of code. Each block has exactly one kind; a block without one fails the tests. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blocksOf, type CodeBlock, root } from './markdown.js';

/**
 * `quote`: it is in an example, which runs. `program`: compiled, and run where the page is a story. `value`: a literal that is
 * parsed. `config`: read as a file with servers. `data`: other JSON or YAML that is parsed. `commands`: command lines whose
 * commands and options exist; on a story they run. `file`: a file of a story that
 * the commands after it use. `illustration`: nothing to run, with a reason.
 */
export type BlockKind =
  | 'quote'
  | 'program'
  | 'value'
  | 'config'
  | 'data'
  | 'commands'
  | 'file'
  | 'illustration';

/** Pages that are read from top to bottom as one work in one folder: every file is written, every command runs. */
export const STORIES = ['README.md', 'docs/getting-started.md', 'docs/tasks.md', ...guides()];

/** Blocks of reference pages that have nothing to run, by their first line. */
const ILLUSTRATIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'docs/architecture.md': {
    '@isthmus/sdk': 'a diagram of the packages; test/package/layers.test.ts holds it',
  },
  'docs/attach.md': { 'Claude Desktop': 'a diagram' },
  'docs/bridge.md': { client: 'a diagram' },
  'docs/check.md': { broken: 'a report; examples/check-your-server prints it' },
  'docs/cluster.md': {
    'upstream isthmus': 'nginx; test/cluster runs one',
    replica: 'a status; packages/cli/test/control/cluster.test.ts has one',
    'ACL SETUSER': 'a command of Redis; test/cluster/redis-failures.test.ts uses it',
  },
  'docs/host.md': {
    use: 'a diagram; packages/sdk/test/host holds its table',
    receipt: 'a part of a status',
  },
  'docs/http.md': { 'location /tools/': 'nginx; test/found/p7-sse-prefix.test.ts runs one' },
  'docs/operations.md': {
    '[07:12:01.734]': 'a log',
    '# calls that fail': 'queries of Prometheus',
  },
};

export function kindOf(block: CodeBlock): BlockKind | undefined {
  const { language, text, mark } = block;
  if (reasonOf(block) !== undefined) return 'illustration';
  if (['ts', 'js'].includes(language)) {
    if (isQuote(text)) return 'quote';
    return language === 'js' && isLiteral(text) ? 'value' : 'program';
  }
  if (language === 'json' || language === 'jsonc') return isConfig(text) ? 'config' : 'data';
  if (language === 'yaml') return 'data';
  if (language === 'text' && mark?.key === 'file') return 'file';
  if (['sh', 'console'].includes(language)) return 'commands';
  if (language === '' && mark === undefined && /^(?:\$ |isthmus |npx |npm )/.test(text)) return 'commands';
  return undefined;
}

/** Why a block is not run: a mark before it, or a line of the table above. */
export function reasonOf({ page, text, mark }: CodeBlock): string | undefined {
  if (mark?.key === 'illustration' && mark.value !== '') return mark.value;
  const reasons = Object.entries(ILLUSTRATIONS[page] ?? {});
  return reasons.find(([begin]) => text.trimStart().startsWith(begin))?.[1];
}

/** As `page:line`, for titles and errors. */
export function placeOf({ page, line }: CodeBlock): string {
  return `${page}:${line}`;
}

export function blocksOfKind(pages: readonly string[], kind: BlockKind): readonly CodeBlock[] {
  return pages.flatMap(blocksOf).filter((block) => kindOf(block) === kind);
}

function guides(): readonly string[] {
  return readdirSync(join(root, 'docs/guides')).map((name) => `docs/guides/${name}`);
}

function isQuote(text: string): boolean {
  return EXAMPLES.some((example) => example.includes(text.trim()));
}

const EXAMPLES = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(root, 'examples', name), 'utf8'));

function isLiteral(text: string): boolean {
  return [text, `{${text}}`].some((literal) => {
    try {
      // Parses, and runs nothing.
      new Function(`return () => (${literal})`);
      return /^[[{]/.test(literal);
    } catch {
      return false;
    }
  });
}

function isConfig(text: string): boolean {
  return /^\s*"(?:mcpServers|servers|context_servers|mcp)":/m.test(text);
}
