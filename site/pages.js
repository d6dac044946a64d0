/** Which pages the site has, and in which group of the navigation each one is. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { renderReference } from './reference.js';

export const root = new URL('../', import.meta.url);

/** The groups in order, with their pages in order. A page of docs/ that is not here is a guide. */
const GROUPS = {
  Start: ['README.md', 'docs/getting-started.md', 'docs/eras.md', 'docs/compare.md', 'CHANGELOG.md'],
  Guides: [
    'docs/server.md',
    'docs/client.md',
    'docs/http-client.md',
    'docs/login.md',
    'docs/tasks.md',
    'docs/host.md',
    'docs/moving.md',
  ],
  Serve: ['docs/serving.md', 'docs/gateway.md', 'docs/attach.md', 'docs/bridge.md', 'docs/http.md'],
  Operate: [
    'docs/operations.md',
    'docs/config.md',
    'docs/security.md',
    'docs/enterprise.md',
    'docs/limits.md',
  ],
  Explore: ['docs/cli.md', 'docs/solved.md'],
  Test: [
    'docs/check.md',
    'docs/check-ci.md',
    'docs/check-client.md',
    'docs/check-rules.md',
    'docs/scoreboard.md',
    'docs/conformance.md',
    'docs/bench.md',
    'benchmarks/README.md',
  ],
  Reference: ['docs/architecture.md', 'docs/dependencies.md', 'CONTRIBUTING.md', 'SECURITY.md'],
  Decisions: [],
};

/** Names in the navigation that are shorter than the headings of their pages. */
const SHORT = {
  'README.md': 'Overview',
  'CHANGELOG.md': 'Changes',
  'CONTRIBUTING.md': 'Contributing',
  'SECURITY.md': 'Reporting a vulnerability',
  'benchmarks/README.md': 'Benchmarks',
};

/**
 * @typedef {{ source: string, url: string, group: string, title: string, short: string, text: string }} Page
 * `source` is the path in the repository, `url` the path in the site.
 */

/** @returns {Promise<Page[]>} in the order of the navigation */
export async function collectPages() {
  const listed = Object.values(GROUPS).flat();
  const guides = markdownIn('docs/').concat(markdownIn('docs/guides/'));
  const groups = {
    ...GROUPS,
    Guides: [...guides.filter((path) => !listed.includes(path)), ...GROUPS.Guides],
    Decisions: markdownIn('docs/decisions/'),
  };
  const reference = (await renderReference()).map(({ path, text }) => ({ path: `reference/${path}`, text }));
  return Object.entries(groups).flatMap(([group, paths]) => [
    ...(group === 'Decisions' ? [decisionsPage(paths)] : []),
    ...(group === 'Reference' ? reference.map(({ path, text }) => toPage(group, path, text)) : []),
    ...paths.filter(isThere).map((path) => toPage(group, path, read(path))),
  ]);
}

function toPage(group, source, text) {
  const title =
    /^# (.+)$/m.exec(text)?.[1].replaceAll('`', '').replaceAll('\\', '') ?? basename(source, '.md');
  return { source, url: urlOf(source), group, title, short: SHORT[source] ?? title, text };
}

function urlOf(source) {
  if (source === 'README.md') return 'index.html';
  const isProject = /^[A-Z]+\.md$/.test(source);
  const path = isProject ? `project/${source}` : source.replace(/^docs\//, '').replace('@isthmus/', '');
  return `${path.replace(/\.md$/, '').toLowerCase()}.html`;
}

function decisionsPage(paths) {
  const entries = paths.map((path) => `- [${toPage('', path, read(path)).title}](${basename(path)})`);
  const text = `# Decisions\n\nWhat was decided in this project, with the reasons.\n\n${entries.join('\n')}\n`;
  return toPage('Decisions', 'docs/decisions/index.md', text);
}

function markdownIn(folder) {
  const url = new URL(folder, root);
  try {
    return readdirSync(url)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .map((name) => `${folder}${name}`);
  } catch {
    return [];
  }
}

function isThere(path) {
  try {
    read(path);
    return true;
  } catch {
    return false;
  }
}

function read(path) {
  return readFileSync(new URL(path, root), 'utf8');
}
