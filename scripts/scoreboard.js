// npm run scoreboard: judges our own server, the official ones and the reference servers with `isthmus check`, and writes
// docs/scoreboard.md with versions, commands and every failure. Not part of npm test.
//   npm run scoreboard                 all of them
//   npm run scoreboard -- everything   those whose name has the word in it; the page is not written
//
// The bridges come from benchmarks/, which has them installed after `npm run bench`.

import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { progress } from './setup/main.js';
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

const node = process.execPath;
const SEED = 20260728;

await runMain(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const word = process.argv[2];
  const subjects = allSubjects().filter(({ name }) => word === undefined || name.includes(word));
  const rows = [];
  for (const subject of subjects) {
    progress(`${subject.name} …`);
    rows.push(await judge(subject));
    const { grade, counts, ms } = rows.at(-1).report;
    progress(
      `${subject.name}: ${grade.letter}, ${counts.fail} fail, ${counts.warn} warn, ${Math.round(ms / 1000)} s`,
    );
  }
  const page = toPage(rows);
  if (word === undefined) writeFileSync(inRoot('docs/scoreboard.md'), page);
  else process.stdout.write(page);
});

/** Who is judged: `command` over stdio, or `words` with a `{port}` over HTTP. */
function allSubjects() {
  const files = mkdtempSync(join(tmpdir(), 'isthmus-scoreboard-'));
  const reference = (name) => `node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
  const everything = ['node', reference('everything'), 'stdio'];
  return [
    { name: 'isthmus demo, stdio', of: 'isthmus', command: ['node', 'bin/isthmus.js', 'demo'] },
    {
      name: 'isthmus demo, HTTP',
      of: 'isthmus',
      words: ['node', 'bin/isthmus.js', 'demo', '--listen', 'http://127.0.0.1:{port}/mcp'],
    },
    {
      name: 'official SDK v2 fixture, stdio',
      of: '@modelcontextprotocol/server',
      command: ['node', 'test/interop/peers/official-v2-server.mjs'],
      callTools: true,
    },
    {
      name: 'official SDK v2 fixture, HTTP',
      of: '@modelcontextprotocol/server',
      words: ['node', 'test/check/peers/official-v2-http.mjs', '{port}'],
      callTools: true,
    },
    {
      name: 'official SDK v1 fixture, stdio',
      of: '@modelcontextprotocol/sdk',
      command: ['node', 'test/interop/peers/official-v1-server.mjs'],
      callTools: true,
    },
    {
      name: 'official SDK v1 fixture, HTTP',
      of: '@modelcontextprotocol/sdk',
      words: ['node', 'test/check/peers/official-v1-http.mjs', '{port}'],
      callTools: true,
    },
    { name: 'server-everything, stdio', of: '@modelcontextprotocol/server-everything', command: everything },
    {
      name: 'server-everything, HTTP',
      of: '@modelcontextprotocol/server-everything',
      words: ['env', 'PORT={port}', 'node', reference('everything'), 'streamableHttp'],
    },
    {
      name: 'server-filesystem, stdio',
      of: '@modelcontextprotocol/server-filesystem',
      command: ['node', reference('filesystem'), files],
      shown: ['node', reference('filesystem'), '/some/folder'],
    },
    {
      name: 'server-memory, stdio',
      of: '@modelcontextprotocol/server-memory',
      command: ['node', reference('memory')],
      env: { MEMORY_FILE_PATH: join(files, 'memory.jsonl') },
    },
    ...bridges(everything),
  ];
}

/** server-everything behind each bridge. */
function bridges(everything) {
  const at = (name) => `benchmarks/node_modules/${name}`;
  return [
    {
      name: 'server-everything through isthmus serve',
      of: 'isthmus',
      words: ['node', 'bin/isthmus.js', 'serve', '--port', '{port}', '--', ...everything],
    },
    {
      name: 'server-everything through mcp-proxy',
      of: 'mcp-proxy',
      at: at('mcp-proxy'),
      words: [
        'node',
        `${at('mcp-proxy')}/dist/bin/mcp-proxy.mjs`,
        '--port',
        '{port}',
        '--server',
        'stream',
        '--',
        ...everything,
      ],
    },
    {
      name: 'server-everything through supergateway',
      of: 'supergateway',
      at: at('supergateway'),
      words: [
        'node',
        `${at('supergateway')}/dist/index.js`,
        '--port',
        '{port}',
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--stdio',
        everything.join(' '),
      ],
    },
  ].filter(({ at: folder }) => folder === undefined || existsSync(inRoot(folder)));
}

async function judge(subject) {
  const { checkServer, commandTarget } = await import('../dist/check/index.js');
  const { startBridge } = await import('../dist/check/through/start-bridge.js');
  const options = { seed: SEED, callTools: subject.callTools === true };
  const toWords = (words) => words.map((word) => (word === 'node' ? node : word));
  if (subject.command) {
    const [command, ...args] = toWords(subject.command);
    const env = subject.env ?? {};
    return {
      subject,
      report: await checkServer(commandTarget({ command, args, env, cwd: inRoot() }), options),
    };
  }
  const started = await startBridge({
    words: toWords(subject.words),
    server: {},
    cwd: inRoot(),
    inheritEnv: 'all',
  });
  try {
    return { subject, report: await checkServer(started.target, options) };
  } finally {
    await started.close();
  }
}

function toPage(rows) {
  const version = versionOf({ of: 'isthmus' });
  const table = rows.map(({ subject, report }) => {
    const { grade, counts, eras, ms } = report;
    const held = (level) => {
      const of = report.findings.filter((each) => each.level === level && each.outcome !== 'skip');
      return `${of.filter(({ outcome }) => outcome === 'pass').length}/${of.length}`;
    };
    const cells = [
      subject.name,
      versionOf(subject),
      eras.map(({ era, revision }) => `${era} ${revision}`).join(', '),
      held('MUST'),
      held('SHOULD'),
      grade.letter,
      `${counts.skip}`,
      `${(ms / 1000).toFixed(0)} s`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return `# Scoreboard

How servers fare with \`isthmus check\` ${version}, in its default run: no tools are called but those that say that they only
read (of the fixtures of the official SDKs, all). Written by \`npm run scoreboard\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${availableParallelism()} cores, seed ${SEED}.
MUST and SHOULD are what holds of what applies; an entry in "n/a" is a check that found nothing to judge. Percentages and letters
are explained in [check.md](check.md). The fixtures are small programs of this repository on the official SDKs, with the
defaults of those: what a fixture itself leaves undone (descriptions, a look at the capabilities of the client) is listed, too.

| server | version | eras | MUST | SHOULD | grade | n/a | took |
|---|---|---|---|---|---|---|---|
${table.join('\n')}

## The commands

${rows.map(({ subject }) => `- ${subject.name}: \`${commandOf(subject)}\``).join('\n')}

## What does not hold

Every failure was looked at on the wire, to be sure that it is the server's.

${rows.map(toFailures).join('\n')}`;
}

function toFailures({ subject, report }) {
  const broken = report.findings.filter(({ outcome }) => outcome !== 'pass' && outcome !== 'skip');
  if (broken.length === 0) return `### ${subject.name}\n\nEverything that applies holds.\n`;
  const sorted = broken.toSorted
    ? broken.toSorted((a, b) => a.level.localeCompare(b.level))
    : [...broken].sort((a, b) => a.level.localeCompare(b.level));
  const lines = sorted.map(({ id, era, level, rules, seen, outcome }) => {
    const where = era === undefined ? '' : `, ${era}`;
    const cited = rules.length > 0 ? ` (${rules.join(', ')})` : '';
    const words = seen
      .replaceAll(inRoot(), '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll('|', '\\|')
      .replaceAll('`', "'")
      .slice(0, 220);
    return `- ${outcome === 'error' ? 'not judged' : level} \`${id}\`${where}${cited}: ${words}`;
  });
  return `### ${subject.name}\n\n${lines.join('\n')}\n`;
}

function commandOf(subject) {
  const check = `isthmus check${subject.callTools ? ' --call-tools' : ''}`;
  if (subject.command) return `${check} -- ${(subject.shown ?? subject.command).join(' ')}`;
  return `${subject.words.join(' ').replaceAll('{port}', '8080')}\` and \`${check} http://127.0.0.1:8080/mcp`;
}

function versionOf({ of, at }) {
  const folder = of === 'isthmus' ? '' : (at ?? `node_modules/${of}`);
  return JSON.parse(readFileSync(inRoot(folder, 'package.json'), 'utf8')).version;
}
