// The official conformance suite against what was built: a stage of `npm test`.
import { withCluster } from '../scripts/cluster/with-cluster.js';
import { ensureInstalled } from '../scripts/setup/install.js';
import { inRoot } from '../scripts/setup/paths.js';
import { ATTEMPTS, BRIDGE, CLIENT, CLIENT_EXTENSIONS, CLUSTER, SERVER, SKIPPED } from './lib/expected.js';
import { judgeClient, judgeServer, judgeSkipped } from './lib/judge.js';
import { findReferee, listClient, listRequired, runClient, runScenario, runServer } from './lib/referee.js';
import { withBridge, withDemo } from './lib/under-test.js';

/** What is judged: the demo as a server, the same through a bridge, a client, and the demo in a cluster. */
export const PARTS = ['server', 'bridge', 'client', 'cluster'];

/**
 * Runs the parts, prints a line per scenario, and counts them. With `url` another server is judged, and nothing
 * else. `brief`: only what failed is printed, and the bridge stands before the demo as it is, and not also before
 * one that knows a single era. The cluster needs Redis and nginx, so it is judged only by its name.
 * @param {{ url?: string, only?: string, brief?: boolean }} [what]
 */
export async function conformance({ url, only, brief = false } = {}) {
  await ensureInstalled('conformance');
  console.log(`referee ${await findReferee()}, Node under test ${process.version}`);
  const summaries = { server: [], bridge: [], client: [], cluster: [] };
  const count = { passed: 0, failed: 0 };
  const failures = [];
  const report = (part) => (title, rows, summary) => {
    for (const { verdict, scenario, text } of rows) {
      if (!brief || verdict === 'failed') console.log(`${MARKS[verdict]} ${title} ${scenario}: ${text}`);
      if (verdict === 'failed') failures.push({ name: `conformance > ${title} ${scenario}`, error: text });
      if (verdict !== 'noted') count[verdict] += 1;
    }
    summaries[part].push(`${title}: ${summary}`);
  };
  if (only === 'cluster') {
    await RUNS.cluster(report('cluster'));
  } else if (url === undefined) {
    const judge = async (part, quiet) =>
      (only ?? part) === part ? RUNS[part](report(part), { brief, quiet }) : undefined;
    // Both lanes wait more than they work. They do not use the same servers.
    const servers = judge('server').then(() => judge('bridge'));
    await Promise.all([servers, judge('client', servers)]);
  } else {
    await serverMode('server', url, SERVER, report('server'));
  }
  console.log(`${brief ? '' : '\n'}${Object.values(summaries).flat().join('\n')}`);
  return { ...count, failures };
}

const MARKS = { passed: '✓', failed: '✗', noted: '·' };

const RUNS = {
  server: (report) =>
    withDemo(async (url) => {
      await serverMode('server', url, SERVER, report);
      await skippedScenarios(url, report);
    }),
  async bridge(report, { brief }) {
    for (const { era, sets } of BRIDGE.filter(({ era }) => !brief || era === undefined)) {
      const title = era ? `bridge to a ${era} server` : 'bridge';
      await withBridge(era, (url) => serverMode(title, url, sets, report));
    }
  },
  client: clientMode,
  cluster: (report) => withCluster({}, ({ url }) => serverMode('cluster', url, CLUSTER, report)),
};

async function serverMode(title, url, sets, report) {
  for (const [revision, expected] of Object.entries(sets)) {
    const listed = await listRequired(revision);
    const results = await runServer(url, revision);
    const { rows, summary } = judgeServer({ listed, results, expected });
    report(`${title} ${revision}`, rows, summary);
  }
}

/** The demo does not have these extensions, and the scenarios must see that. */
async function skippedScenarios(url, report) {
  const rows = [];
  for (const [scenario, why] of Object.entries(SKIPPED)) {
    rows.push(judgeSkipped(scenario, await runScenario(url, scenario, NEWEST), why));
  }
  const noted = rows.filter(({ verdict }) => verdict === 'noted').length;
  report(`server ${NEWEST}, in no set`, rows, `${noted}/${rows.length} skip themselves`);
}

/**
 * One scenario after the other: in parallel the referee's own timing checks fail on a small machine. Those that
 * are known for it come last, when it is `quiet`. Logins have no such checks, so some of them run at once.
 */
async function clientMode(report, { quiet }) {
  const jobs = [];
  for (const [revision, expected] of Object.entries(CLIENT)) {
    for (const scenario of new Set([...Object.keys(expected), ...(await listClient(revision))])) {
      jobs.push({ revision, scenario, successes: expected[scenario] });
    }
  }
  for (const [scenario, successes] of Object.entries(CLIENT_EXTENSIONS)) {
    jobs.push({ revision: NEWEST, scenario, successes, force: true });
  }
  const isTimed = ({ scenario }) => ATTEMPTS[scenario] !== undefined;
  const isLogin = ({ scenario }) => scenario.startsWith('auth/');
  const rows = new Map();
  const plain = jobs.filter((each) => !isTimed(each) && !isLogin(each));
  for (const job of plain) rows.set(job, await clientScenario(job));
  const logins = jobs.filter(isLogin);
  const lane = async () => {
    for (let job = logins.shift(); job; job = logins.shift()) rows.set(job, await clientScenario(job));
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  await quiet?.catch(() => {});
  for (const job of jobs.filter(isTimed)) rows.set(job, await clientScenario(job));
  for (const revision of Object.keys(CLIENT)) {
    const own = jobs.filter((job) => job.revision === revision).map((job) => rows.get(job));
    const passed = own.filter(({ verdict }) => verdict === 'passed').length;
    report(`client ${revision}`, own, `${passed}/${own.length} scenarios`);
  }
}

const NEWEST = '2026-07-28';
const LANES = 3;

async function clientScenario({ scenario, revision, successes, force = false }) {
  // The referee hands this to a shell, and its own Node comes first on its PATH.
  const command = `"${process.execPath}" "${inRoot('conformance/client.js')}"`;
  for (let attempt = 1; ; attempt += 1) {
    const { exit, checks, output } = await runClient(command, scenario, revision, force);
    const row = judgeClient(scenario, { exit, checks, successes });
    const text = attempt === 1 ? row.text : `${row.text} (attempt ${attempt})`;
    if (row.verdict === 'passed') return { ...row, text };
    if (attempt >= (ATTEMPTS[scenario] ?? 1)) return { ...row, text: `${text}\n${indent(output)}` };
  }
}

function indent(text) {
  return text.trimEnd().replace(/^/gm, '    ');
}
