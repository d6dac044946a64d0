#!/usr/bin/env node
/** `npm run bench`: isthmus beside a bare Node loop and the official servers. See README.md. */

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { benchBridge } from './lib/bridge-bench.js';
import { BRIDGE_SUBJECTS } from './lib/bridge-subjects.js';
import { killAll } from './lib/child.js';
import { benchClients, CLIENTS } from './lib/client-bench.js';
import { GOALS, judge, nameCell } from './lib/goals.js';
import { benchHost } from './lib/host-bench.js';
import { benchHttp, HTTP_SUBJECTS } from './lib/http-bench.js';
import { ensureInstalled } from './lib/install.js';
import { benchInstall } from './lib/install-bench.js';
import { measureCell, measureStarts } from './lib/measure.js';
import { createProgress } from './lib/progress.js';
import { BENCHMARKS, SUBJECTS } from './lib/subjects.js';
import { renderGenerator, renderTable, renderVerdicts } from './lib/table.js';

const HELP = `Usage: npm run bench -- [options]

Echo tools/call over stdio: requests per second, server CPU per request, latency, start and memory,
for isthmus, a bare Node loop (the limit) and the official TypeScript servers v2 and v1.

  --quick            about 20 s instead of about 90 s; a first look, too short to quote
  --clients          clients instead: calls per second, client CPU per call, latency, and connect with a
                     first call to a server that is slow to boot
  --host             the host instead: CPU of calls by 50 conversations over one shared process beside one plain
                     client, and the time from a restart or a crash to a process that answers
  --http             over HTTP instead: server CPU per request, latency and memory with 32 connections and with 1,
                     with 1 tool and with 50, modern and in legacy sessions
  --bridge           bridges instead: HTTP clients in front of a stdio server; CPU in the bridge per call, what it
                     adds to the latency, its memory over 100,000 calls, and results of 5 MB
  --install          a cold npm install of @isthmus/sdk beside the official server package: packages, megabytes, seconds
  --upstream <era>   with --bridge: modern or legacy, the newest era that the server behind it knows; modern unless
                     given, "both" for both
  --only <names>     subjects, separated by commas: ${SUBJECTS.map(({ name }) => name).join(', ')};
                     with --clients: ${CLIENTS.map(({ name }) => name).join(', ')};
                     with --http: ${HTTP_SUBJECTS.map(({ name }) => name).join(', ')};
                     with --bridge: ${BRIDGE_SUBJECTS.map(({ name }) => name).join(', ')}
  --era <era>        modern or legacy; both unless given
  --json             one JSON document with all numbers instead of the table
  --help             this text

Exit status: 0 measured (whether or not the goals are met), 1 a subject failed, 2 wrong usage.
`;

const EFFORT = {
  starts: 7,
  warmUpMs: 400,
  warmUpRequests: 8000,
  warmUpLargeRequests: 1500,
  warmUpAtMostMs: 2000,
  rounds: 7,
  roundMs: 250,
};
const QUICK_EFFORT = {
  starts: 3,
  warmUpMs: 120,
  warmUpRequests: 3000,
  warmUpLargeRequests: 400,
  warmUpAtMostMs: 600,
  rounds: 3,
  roundMs: 80,
};
const TEXT_BYTES = [64, 64 * 1024];
const IN_FLIGHT = [64, 1];

process.on('exit', killAll);
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));

const options = readOptions(process.argv.slice(2));
if (options.kind === 'help') {
  process.stdout.write(HELP);
} else if (options.kind === 'wrong') {
  process.stderr.write(`bench: ${options.why}\n\n${HELP}`);
  process.exitCode = 2;
} else {
  const about = aboutRun();
  const measure = {
    run: () => main(/** @type {Options} */ (options)),
    clients: () => benchClients({ .../** @type {ClientsOptions} */ (options), about }),
    http: () => benchHttp({ .../** @type {HttpOptions} */ (options), about }),
    host: () => benchHost({ .../** @type {HostOptions} */ (options), about }),
    install: () => benchInstall({ .../** @type {InstallOptions} */ (options), about }),
    bridge: () => benchBridge({ .../** @type {BridgeOptions} */ (options), about }),
  }[options.kind]();
  process.exitCode = await measure.catch((error) => {
    process.stderr.write(`bench: ${error.message}\n`);
    return 1;
  });
}

/** @param {Options} options */
async function main({ subjects, eras, quick, json }) {
  if (subjects.some(({ rival }) => rival)) await ensureInstalled(BENCHMARKS);

  const effort = quick ? QUICK_EFFORT : EFFORT;
  const cells = eras.flatMap((era) =>
    TEXT_BYTES.flatMap((textBytes) => IN_FLIGHT.map((inFlight) => ({ era, textBytes, inFlight }))),
  );
  const progress = createProgress(process.stderr, eras.length + cells.length);
  /** @type {{ subject: string, era: string, message: string }[]} */
  const failures = [];
  /** @type {import('./lib/measure.js').OnFailure} */
  const onFailure = (subject, era, { message }) => {
    failures.push({ subject: subject.name, era, message });
    progress.note(`${subject.title} FAILED in the ${era} era and is left out of it: ${message}`);
  };
  const alive = (/** @type {import('./lib/subjects.js').Era} */ era) =>
    subjects.filter(
      ({ name, eras }) =>
        eras.includes(era) && !failures.some((failure) => failure.subject === name && failure.era === era),
    );

  const starts = [];
  for (const era of eras) {
    progress.next(`${era}, start to first answer`);
    starts.push(...(await measureStarts(alive(era), era, effort, onFailure)));
  }
  const measured = [];
  for (const cell of cells) {
    progress.next(nameCell(cell));
    measured.push({
      ...cell,
      results: await measureCell(alive(cell.era), cell, effort, onFailure, progress.at),
    });
  }
  progress.end();

  const verdicts = judge(measured, starts);
  if (json) {
    const about = { ...aboutRun(), quick, effort, goals: GOALS };
    process.stdout.write(
      `${JSON.stringify({ ...about, starts, cells: measured, verdicts, failures }, null, 2)}\n`,
    );
  } else {
    const caveat = quick
      ? 'Quick run: too short to warm up the official servers; judge by the full run.'
      : '';
    const parts = [
      renderTable(measured, starts),
      renderGenerator(measured),
      caveat,
      renderVerdicts(verdicts),
    ];
    process.stdout.write(`${parts.filter(Boolean).join('\n\n')}\n`);
    for (const { subject, era, message } of failures)
      process.stdout.write(`FAILED ${subject}, ${era}: ${message}\n`);
  }
  return failures.length === 0 ? 0 : 1;
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

/**
 * @typedef {object} Options
 * @property {'run'} kind
 * @property {import('./lib/subjects.js').Subject[]} subjects
 * @property {import('./lib/subjects.js').Era[]} eras
 * @property {boolean} quick
 * @property {boolean} json
 */

/**
 * @typedef {object} ClientsOptions
 * @property {'clients'} kind
 * @property {string[]} names
 * @property {import('./lib/subjects.js').Era[]} eras
 * @property {boolean} quick
 * @property {boolean} json
 */

/**
 * @typedef {object} HttpOptions
 * @property {'http'} kind
 * @property {string[]} names
 * @property {boolean} quick
 * @property {boolean} json
 */

/**
 * @typedef {object} HostOptions
 * @property {'host'} kind
 * @property {import('./lib/subjects.js').Era[]} eras
 * @property {boolean} quick
 * @property {boolean} json
 */

/**
 * @typedef {object} InstallOptions
 * @property {'install'} kind
 * @property {boolean} quick
 * @property {boolean} json
 */

/**
 * @typedef {object} BridgeOptions
 * @property {'bridge'} kind
 * @property {string[]} names
 * @property {import('./lib/subjects.js').Era[]} eras
 * @property {import('./lib/subjects.js').Era[]} upstreams
 * @property {boolean} quick
 * @property {boolean} json
 */

/**
 * @param {string[]} args
 * @returns {Options | ClientsOptions | HttpOptions | HostOptions | InstallOptions | BridgeOptions | { kind: 'help' } | { kind: 'wrong', why: string }}
 */
function readOptions(args) {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        clients: { type: 'boolean', default: false },
        host: { type: 'boolean', default: false },
        http: { type: 'boolean', default: false },
        bridge: { type: 'boolean', default: false },
        install: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        only: { type: 'string' },
        era: { type: 'string' },
        upstream: { type: 'string' },
      },
    }));
  } catch (error) {
    return { kind: 'wrong', why: /** @type {Error} */ (error).message };
  }
  if (values.help) return { kind: 'help' };
  const all = values.bridge
    ? BRIDGE_SUBJECTS
    : values.http
      ? HTTP_SUBJECTS
      : values.clients
        ? CLIENTS
        : SUBJECTS;
  const known = all.map(({ name }) => name);
  const names = values.only?.split(',').map((name) => name.trim()) ?? known;
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) return { kind: 'wrong', why: `there is no subject called ${unknown.join(', ')}` };
  if (values.era !== undefined && values.era !== 'modern' && values.era !== 'legacy') {
    return { kind: 'wrong', why: `--era is modern or legacy, not ${values.era}` };
  }
  /** @type {import('./lib/subjects.js').Era[]} */
  const eras = values.era === undefined ? ['modern', 'legacy'] : [values.era];
  const { quick = false, json = false } = values;
  if (values.install) {
    const others = [values.bridge, values.http, values.clients, values.host, values.only, values.era];
    if (others.some(Boolean))
      return { kind: 'wrong', why: '--install stands alone: it has subjects of its own' };
    return { kind: 'install', quick, json };
  }
  if (values.bridge && (values.http || values.clients || values.host)) {
    return { kind: 'wrong', why: '--bridge goes with neither --http, --clients nor --host' };
  }
  if (values.upstream !== undefined && !values.bridge) {
    return { kind: 'wrong', why: '--upstream goes with --bridge only' };
  }
  if (values.bridge) {
    const { upstream = 'modern' } = values;
    if (upstream !== 'modern' && upstream !== 'legacy' && upstream !== 'both') {
      return { kind: 'wrong', why: `--upstream is modern, legacy or both, not ${upstream}` };
    }
    /** @type {import('./lib/subjects.js').Era[]} */
    const upstreams = upstream === 'both' ? ['modern', 'legacy'] : [upstream];
    return { kind: 'bridge', names, eras, upstreams, quick, json };
  }
  if (values.http && (values.clients || values.host || values.era !== undefined)) {
    return { kind: 'wrong', why: '--http goes with neither --clients, --host nor --era' };
  }
  if (values.http) return { kind: 'http', names, quick, json };
  if (values.host && (values.clients || values.only !== undefined)) {
    return { kind: 'wrong', why: '--host stands alone: it has subjects of its own' };
  }
  if (values.host) return { kind: 'host', eras, quick, json };
  if (values.clients) return { kind: 'clients', names, eras, quick, json };
  const subjects = SUBJECTS.filter(({ name }) => names.includes(name));
  return { kind: 'run', subjects, eras, quick, json };
}
