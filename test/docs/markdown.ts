/** What the tests of this folder read out of the pages of the repository. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of code. */
export interface CodeBlock {
  readonly page: string;
  /** Of the fence that opens it, counted from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** The comment right before it: `<!-- KEY: VALUE -->`. */
  readonly mark: { readonly key: string; readonly value: string } | undefined;
}

export interface PageLink {
  readonly page: string;
  readonly line: number;
  readonly target: string;
}

/** Every Markdown file of the repository, from its root. */
export function allPages(): readonly string[] {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.md'], {
    cwd: root,
    encoding: 'utf8',
  });
  return files.trimEnd().split('\n');
}

export function readPage(page: string, base = root): string {
  return readFileSync(join(base, page), 'utf8');
}

export function blocksOf(page: string): readonly CodeBlock[] {
  const found: CodeBlock[] = [];
  let open: { line: number; language: string; text: string[]; mark: CodeBlock['mark'] } | undefined;
  let before = '';
  for (const [at, line] of readPage(page).split('\n').entries()) {
    const [, language] = /^ *```(\S*)/.exec(line) ?? [];
    if (language === undefined) {
      open?.text.push(line);
      if (line.trim() !== '') before = line;
    } else if (open === undefined) {
      const [, key, value] = /^<!-- ([a-z ]+)(?:: (.*))? -->$/.exec(before) ?? [];
      const mark = key === undefined ? undefined : { key, value: value ?? '' };
      open = { line: at + 1, language, text: [], mark };
    } else {
      found.push({ page, ...open, text: `${open.text.join('\n')}\n` });
      open = undefined;
      before = line;
    }
  }
  if (open !== undefined) throw new Error(`${page}:${open.line}: the block does not end`);
  return found;
}

/** Links and images, without those to other sites. */
export function linksOf(page: string, base = root): readonly PageLink[] {
  return prose(page, base).flatMap(({ text, line }) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target]) => ({ page, line, target: target! }))
      .filter(({ target }) => !/^[a-z]+:/.test(target)),
  );
}

/** The path that a link means, from the root, and its anchor. */
export function resolveLink({ page, target }: PageLink): { path: string; anchor: string | undefined } {
  const [path = '', anchor] = target.split('#');
  return { path: path === '' ? page : posix.normalize(posix.join(dirname(page), path)), anchor };
}

/** The anchors of the headings of a page, as GitHub makes them. */
export function anchorsOf(page: string, base = root): ReadonlySet<string> {
  const seen = new Map<string, number>();
  return new Set(
    prose(page, base).flatMap(({ text }) => {
      const [, heading] = /^#{1,6} (.*)$/.exec(text) ?? [];
      if (heading === undefined) return [];
      const slug = heading
        .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-');
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      return [count === 0 ? slug : `${slug}-${count}`];
    }),
  );
}

/** The lines outside of code. */
function prose(page: string, base: string): readonly { text: string; line: number }[] {
  let isCode = false;
  return readPage(page, base)
    .split('\n')
    .flatMap((text, at) => {
      if (/^ *```/.test(text)) isCode = !isCode;
      return isCode
        ? []
        : [{ text: text.replace(/`[^`]*`/g, (code) => (/^#/.test(text) ? code : '')), line: at + 1 }];
    });
}
