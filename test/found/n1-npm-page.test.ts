/** N1: who has the package from npm has its pages. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isthmus } from '../../packages/cli/test/support/isthmus.js';
import { PUBLIC_ADDRESS, withAddress } from '../../scripts/release/address.js';
import { succeed } from '../../scripts/release/packages.js';
import { keepLinks } from '../../scripts/release/pages.js';
import { ensureBuilt } from '../../scripts/setup.js';
import { anchorsOf, linksOf, resolveLink } from '../docs/markdown.js';

const cli = fileURLToPath(new URL('../../packages/cli', import.meta.url));
let folder: string;
let files: readonly string[];

beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'isthmus-n1-'));
  await succeed('npm', ['pack', '--pack-destination', folder], cli);
  execFileSync('sh', ['-c', 'tar xzf *.tgz'], { cwd: folder });
  const list = execFileSync('find', ['package', '-type', 'f'], { cwd: folder, encoding: 'utf8' });
  files = list
    .trimEnd()
    .split('\n')
    .map((path) => path.slice('package/'.length));
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('N1: the packed isthmus', () => {
  it('has the pages, the examples and the images', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        ...['README.md', 'CHANGELOG.md', 'SECURITY.md', 'docs/getting-started.md', 'docs/guides/hosts.md'],
        ...['docs/images/era-matrix.svg', 'examples/hello-server/server.ts', 'deploy/isthmus.service'],
      ]),
    );
  });

  it('has no link that leads nowhere', () => {
    const base = join(folder, 'package');
    const pages = files.filter((path) => path.endsWith('.md'));
    const dead = pages.flatMap((page) =>
      linksOf(page, base).filter((link) => {
        const { path, anchor } = resolveLink(link);
        const isThere = files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));
        return !isThere || (anchor !== undefined && !anchorsOf(path, base).has(anchor));
      }),
    );
    expect(linksOf('README.md', base).length).toBeGreaterThan(5);
    expect(dead.map(({ page, line, target }) => `${page}:${line} ${target}`)).toEqual([]);
  });

  it('has every page that a help names', async () => {
    const { stdout } = await isthmus('--help');
    const names = [...stdout.matchAll(/^ {2,4}([a-z][a-z-]+) /gm)].map(([, name]) => name!);
    expect(names).toContain('serve');
    const helps = await Promise.all(names.map((name) => isthmus(name, '--help')));
    const named = helps.flatMap((help) => help.stdout.match(/docs\/[\w/-]+\.md/g) ?? []);
    expect(named.filter((page) => !files.includes(page))).toEqual([]);
  });

  it('is not large: at most 4.5 MB, of which pages and examples are at most 1.2 MB', () => {
    const sizeOf = (some: readonly string[]) =>
      some.reduce((sum, path) => sum + statSync(join(folder, 'package', path)).size, 0) / 1e6;
    expect(sizeOf(files)).toBeLessThan(4.5);
    expect(sizeOf(files.filter((path) => /^(?:docs|examples|deploy)\//.test(path)))).toBeLessThan(1.2);
  });

  it('leaves no copies behind in the repository', () => {
    const status = execFileSync('git', ['status', '--porcelain', '--ignored', '.'], {
      cwd: cli,
      encoding: 'utf8',
    });
    expect(status).not.toMatch(/(?:docs|examples|deploy)\/$/m);
  });
});

it('N1: a link or an image that leads out of the package becomes text, and others stay', () => {
  const page =
    'See [a](../a.md#x), [`b`](b.md), [c](https://c.example/), [d](#d), ![e](e.svg) and ![f](f.webp).';
  expect(keepLinks(page, 'docs/p.md', (path) => ['docs/b.md', 'docs/e.svg'].includes(path))).toBe(
    'See a, [`b`](b.md), [c](https://c.example/), [d](#d), ![e](e.svg) and f.',
  );
});

describe('N1: the address of the repository', () => {
  const manifest = (name: string) => readFileSync(join(cli, '..', name, 'package.json'), 'utf8');

  it.each(['sdk', 'gateway', 'check', 'console', 'cli'])('is in packages/%s as the constant says', (name) => {
    const text = manifest(name);
    expect(text, 'run npm run generate').toBe(withAddress(text, PUBLIC_ADDRESS, `packages/${name}`));
    expect(JSON.parse(text).keywords).toContain('mcp');
  });

  it('gives repository, homepage and bugs once it is set', () => {
    const text = withAddress(manifest('sdk'), 'https://example.com/isthmus', 'packages/sdk');
    expect(JSON.parse(text)).toMatchObject({
      homepage: 'https://example.com/isthmus#readme',
      repository: { type: 'git', url: 'git+https://example.com/isthmus.git', directory: 'packages/sdk' },
      bugs: { url: 'https://example.com/isthmus/issues' },
    });
    expect(withAddress(text, undefined, 'packages/sdk')).toBe(manifest('sdk'));
  });
});
