/** Pages of files of the repository that are not Markdown and that a page links to, such as examples. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname } from 'node:path';
import { root } from './pages.js';

const LANGUAGES = {
  '.ts': 'ts',
  '.js': 'js',
  '.json': 'json',
  '.service': 'ini',
  '.yml': 'yaml',
  '.toml': 'toml',
};
const MAX_BYTES = 100_000;

/** The page of a file or of a folder with its files, or undefined when there is neither. */
export function sourcePage(path) {
  const stats = statSync(new URL(path, root), { throwIfNoEntry: false });
  if (!stats) return undefined;
  const files = stats.isDirectory() ? filesIn(path) : [path];
  const blocks = files.map((file) => {
    const code = readFileSync(new URL(file, root), 'utf8').replaceAll('````', '');
    const heading = stats.isDirectory() ? `## ${file}\n\n` : '';
    return `${heading}\`\`\`\`${LANGUAGES[extname(file)] ?? 'text'}\n${code}\`\`\`\`\n`;
  });
  const text = `# ${path}\n\n${blocks.join('\n')}`;
  return { source: path, url: `source/${path}.html`, group: '', title: path, short: path, text };
}

function filesIn(folder) {
  return readdirSync(new URL(`${folder}/`, root), { recursive: true })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => extname(path) in LANGUAGES && !path.includes('node_modules'))
    .filter((path) => statSync(new URL(path, root)).size < MAX_BYTES)
    .sort();
}
