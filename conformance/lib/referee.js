// The official referee as a program: what it lists, and what it writes down about a run.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SetupError } from '../../scripts/setup/main.js';
import { inRoot } from '../../scripts/setup/paths.js';
import { describeEnd, run } from '../../scripts/setup/run.js';

// It imports what Node 20 does not export, so it brings a Node of its own.
const node = inRoot('conformance/node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
const program = inRoot('conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js');
const timeoutMs = 20_000;

/** Fails with words that help when the Node that the referee needs is not there. */
export async function findReferee() {
  const result = await run(node, [program, '--version'], { limitMs: 30_000 });
  if (result.ok) return result.output.trim();
  throw new SetupError(
    [
      `The referee does not start: ${describeEnd(result)}`,
      result.output.trimEnd(),
      `It runs on Node 22, which the npm package \`node\` brings for ${process.platform} ${process.arch} in an`,
      'install script. Is there such a package for this platform, and does npm run install scripts',
      '(npm config get ignore-scripts)? Then `npm ci` in conformance/ and run the same command again.',
    ].join('\n'),
  );
}

/** The scenarios of a requirement set in server mode. */
export async function listRequired(revision) {
  const { server, unscored } = parseRequired(await list('--requirements', revision));
  return { scored: server, unscored };
}

/** The scenarios of a revision in client mode. */
export async function listClient(revision) {
  const names = [...(await list('--client', '--spec-version', revision)).matchAll(/^ {2}- (\S+)/gm)];
  return names.map(([, name]) => name);
}

/** Runs a requirement set against a server; resolves with the checks of every scenario that left some. */
export function runServer(url, revision) {
  return withFolder(async (folder) => {
    const args = ['server', '--url', url, '--requirements', revision, '--timeout', String(timeoutMs)];
    const result = await run(node, [program, ...args, '-o', folder], { limitMs: 180_000 });
    if (result.timedOut) throw new SetupError(`The referee was ${describeEnd(result)}`);
    return readResults(folder);
  });
}

/** Runs one scenario against a server, also one that is in no requirement set; resolves with its checks. */
export function runScenario(url, scenario, revision) {
  return withFolder(async (folder) => {
    const args = ['server', '--url', url, '--scenario', scenario, '--spec-version', revision, '--force'];
    await run(node, [program, ...args, '--timeout', String(timeoutMs), '-o', folder], {
      limitMs: 2 * timeoutMs,
    });
    return (await readResults(folder)).get(scenario);
  });
}

/** Runs one scenario against a client; resolves with its checks, and in words how the run failed if it did. */
export function runClient(command, scenario, revision, force = false) {
  return withFolder(async (folder) => {
    const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision];
    const more = ['--timeout', String(timeoutMs), '-o', folder, ...(force ? ['--force'] : [])];
    const result = await run(node, [program, ...args, ...more], { limitMs: 2 * timeoutMs });
    // The results of `auth/NAME` are in a folder of their own.
    const [name, ...parts] = scenario.split('/').reverse();
    const checks = (await readResults(join(folder, ...parts))).get(name);
    return { exit: result.ok ? undefined : describeEnd(result), checks, output: result.output };
  });
}

/**
 * The text of `list --requirements` is made for people; what cannot be found in it shows as a wrong number.
 * @param {string} text
 */
export function parseRequired(text) {
  const parts = { server: [], client: [], unscored: [] };
  let part;
  for (const line of text.split('\n')) {
    if (line.startsWith('Server scenarios')) part = parts.server;
    else if (line.startsWith('Client scenarios')) part = parts.client;
    else if (line.startsWith('Run and reported')) part = parts.unscored;
    const [, name, mode] = /^ +- (\S+)(?: \[(\w+)\])?/.exec(line) ?? [];
    if (name !== undefined && mode !== 'client') part?.push(name);
  }
  return parts;
}

/** A folder of results is called `server-<scenario>-<time>`, in client mode `<scenario>-<time>`. */
export function scenarioOf(folder) {
  return /^(?:server-)?(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(folder)?.[1] ?? folder;
}

/** Two servers are judged by the same list: it is asked for once. */
function list(...args) {
  const key = args.join(' ');
  const known = lists.get(key) ?? readList(args);
  lists.set(key, known);
  return known;
}

const lists = new Map();

async function readList(args) {
  const result = await run(node, [program, 'list', ...args], { limitMs: 30_000 });
  if (result.ok) return result.output;
  throw new SetupError(`The referee cannot list its scenarios: ${describeEnd(result)}\n${result.output}`);
}

/** @returns {Promise<Map<string, object[]>>} */
async function readResults(folder) {
  const results = new Map();
  for (const name of (await readdir(folder)).sort()) {
    const text = await readFile(join(folder, name, 'checks.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) results.set(scenarioOf(name), JSON.parse(text));
  }
  return results;
}

async function withFolder(work) {
  const folder = await mkdtemp(join(tmpdir(), 'isthmus-conformance-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
