#!/usr/bin/env node
/** `npm run bench`: isthmus beside a bare Node loop, the official servers and other bridges. See README.md. */

import { cpus } from 'node:os';
import { killAll } from './lib/child.js';
import { readOptions } from './lib/options.js';
import { exitStatus, renderCheck, renderMarkdown, renderVerdicts } from './lib/verdicts.js';
import { MODES } from './modes/index.js';

const subjectsOf = (/** @type {string} */ mode) =>
  MODES.find(({ name }) => name === mode)?.subjects?.join(', ');

const HELP = `Usage: npm run bench -- [mode] [options]

Modes (without one: an echo tools/call over stdio, warm and cold, beside a bare Node loop and the official servers):
  --http             servers over HTTP, with 32 connections and with 1, with 1 tool and with 50, modern and legacy
  --clients          clients: CPU per call, and connect with a first call to a server that is slow to boot
  --host             the host: calls by 50 conversations over one process, and the time of a restart
  --bridge           bridges: HTTP clients in front of a stdio server; CPU per call warm and cold, added latency, memory
                     over 100,000 calls, and results of 5 MB
  --start            the time to the first answer of demo and serve, and of commands that print
  --memory           bytes per idle legacy session, open listen, waiting call and idle HTTP connection
  --aggregate        tools/list over 30 servers with 280 tools, also with a server that hangs
  --auth             the CPU that a login adds to a request
  --cluster          three replicas with Redis beside one process; needs redis-server and nginx
  --install          a cold npm install of @isthmus/sdk beside the official server package; needs a registry
  --all              every mode in turn except --cluster and --install
  --goals            print the goals and measure nothing

Options:
  --quick            a first look, too short to quote
  --check            exit with 1 where a required goal is missed or not measured, and print which
  --json             one JSON document with all numbers instead of the tables
  --markdown         only the table of goals, as Markdown
  --only <names>     subjects, separated by commas: ${subjectsOf('stdio')};
                     with --clients: ${subjectsOf('clients')};
                     with --http: ${subjectsOf('http')};
                     with --bridge: ${subjectsOf('bridge')};
                     with --memory: ${subjectsOf('memory')}
  --era <era>        modern or legacy; both unless given
  --upstream <era>   with --bridge: modern, legacy or both, the newest era that the server behind it knows; modern
                     unless given, both with --check and --all
  --help             this text

Exit status: 0 measured (without --check, whether or not the goals are met), 1 a subject failed or --check found a
goal that is not met, 2 wrong usage.
`;

process.on('exit', killAll);
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

const options = readOptions(process.argv.slice(2), MODES);
if (options.kind === 'help') {
  process.stdout.write(HELP);
} else if (options.kind === 'wrong') {
  process.stderr.write(`bench: ${options.why}\n\n${HELP}`);
  process.exitCode = 2;
} else if (options.kind === 'goals') {
  const verdicts = MODES.filter(({ name }) => options.modes.includes(name)).flatMap((mode) =>
    mode.judge(options),
  );
  const text = options.format === 'markdown' ? renderMarkdown(verdicts) : renderVerdicts(verdicts);
  process.stdout.write(`${options.format === 'json' ? JSON.stringify(verdicts, null, 2) : text}\n`);
} else {
  process.exitCode = await run(options);
}

/** @param {import('./lib/options.js').RunOptions} options */
async function run({ modes, only, eras, upstreams, quick, check, format }) {
  const about = { ...aboutRun(), quick };
  /** @type {Record<string, object>} */
  const documents = {};
  /** @type {import('./lib/verdicts.js').Verdict[]} */
  const verdicts = [];
  let failed = false;
  for (const mode of MODES.filter(({ name }) => modes.includes(name))) {
    if (modes.length > 1) process.stderr.write(`bench: ${mode.name}\n`);
    try {
      const names = only ?? mode.subjects?.filter((name) => !mode.onRequest?.includes(name)) ?? [];
      const outcome = await mode.measure({ names, eras, upstreams, quick });
      failed ||= outcome.failed;
      const judged = mode.judge({ eras, upstreams, ...outcome.document });
      // With some of the subjects, most goals have nothing to compare.
      const shown = only === undefined ? judged : judged.filter(({ state }) => state !== 'unmeasured');
      verdicts.push(...shown);
      documents[mode.name] = { ...outcome.document, verdicts: shown };
      if (format !== 'text') continue;
      const heading = modes.length > 1 ? `== ${mode.name}\n\n` : '';
      const table = mode.render({ quick, ...outcome.document });
      process.stdout.write(`${heading}${table}\n\n${renderVerdicts(shown)}\n\n`);
    } catch (error) {
      failed = true;
      process.stderr.write(`bench: ${mode.name}: ${/** @type {Error} */ (error).message}\n`);
      verdicts.push(...mode.judge({ eras, upstreams }));
    }
  }
  if (format === 'json') {
    const document =
      modes.length > 1 ? { ...about, modes: documents, verdicts } : { ...about, ...documents[modes[0]] };
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  }
  if (format === 'markdown') process.stdout.write(`${renderMarkdown(verdicts)}\n`);
  // Standard output has the document alone.
  if (check) (format === 'text' ? process.stdout : process.stderr).write(`${renderCheck(verdicts)}\n`);
  return exitStatus({ check, failed, verdicts });
}

/** Where and when these numbers were taken. */
function aboutRun() {
  const machine = {
    platform: process.platform,
    arch: process.arch,
    cpu: cpus()[0]?.model,
    cores: cpus().length,
  };
  return { date: new Date().toISOString(), node: process.version, machine };
}
