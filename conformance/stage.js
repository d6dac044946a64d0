// The official conformance suite against what was built: a stage of `npm test`.
import { ensureInstalled } from '../scripts/setup/install.js';
import { inRoot } from '../scripts/setup/paths.js';
import { ATTEMPTS, BRIDGE, CLIENT, SERVER } from './lib/expected.js';
import { judgeClient, judgeServer } from './lib/judge.js';
import { findReferee, listClient, listRequired, runClient, runServer } from './lib/referee.js';
import { withBridge, withDemo } from './lib/under-test.js';

/** What is judged: the demo as a server, the same through a bridge, and a client. */
export const PARTS = ['server', 'bridge', 'client'];

/**
 * Runs the parts, prints a line per scenario, and counts them. With `url` another server is judged, and nothing
 * else. `brief`: only what failed is printed, and the bridge stands before the demo as it is, and not also before
 * one that knows a single era.
 * @param {{ url?: string, only?: string, brief?: boolean }} [what]
 */
export async function conformance({ url, only, brief = false } = {}) {
  await ensureInstalled('conformance');
  console.log(`referee ${await findReferee()}, Node under test ${process.version}`);
  const summaries = [];
  const count = { passed: 0, failed: 0 };
  const failures = [];
  const report = (title, rows, summary) => {
    for (const { verdict, scenario, text } of rows) {
      if (!brief || verdict === 'failed') console.log(`${MARKS[verdict]} ${title} ${scenario}: ${text}`);
      if (verdict === 'failed') failures.push({ name: `conformance > ${title} ${scenario}`, error: text });
      if (verdict !== 'noted') count[verdict] += 1;
    }
    summaries.push(`${title}: ${summary}`);
  };
  if (url === undefined) {
    for (const part of only ? [only] : PARTS) await RUNS[part](report, brief);
  } else {
    await serverMode('server', url, SERVER, report);
  }
  console.log(`${brief ? '' : '\n'}${summaries.join('\n')}`);
  return { ...count, failures };
}

const MARKS = { passed: '✓', failed: '✗', noted: '·' };

const RUNS = {
  server: (report) => withDemo((url) => serverMode('server', url, SERVER, report)),
  async bridge(report, brief) {
    for (const { era, sets } of BRIDGE.filter(({ era }) => !brief || era === undefined)) {
      const title = era ? `bridge to a ${era} server` : 'bridge';
      await withBridge(era, (url) => serverMode(title, url, sets, report));
    }
  },
  client: clientMode,
};

async function serverMode(title, url, sets, report) {
  for (const [revision, expected] of Object.entries(sets)) {
    const listed = await listRequired(revision);
    const results = await runServer(url, revision);
    const { rows, summary } = judgeServer({ listed, results, expected });
    report(`${title} ${revision}`, rows, summary);
  }
}

/** One scenario after the other: in parallel the referee's own timing checks fail on a small machine. */
async function clientMode(report) {
  // The referee hands this to a shell, and its own Node comes first on its PATH.
  const command = `"${process.execPath}" "${inRoot('conformance/client.js')}"`;
  for (const [revision, expected] of Object.entries(CLIENT)) {
    const rows = [];
    for (const scenario of new Set([...Object.keys(expected), ...(await listClient(revision))])) {
      rows.push(await clientScenario(command, scenario, revision, expected[scenario]));
    }
    const passed = rows.filter(({ verdict }) => verdict === 'passed').length;
    report(`client ${revision}`, rows, `${passed}/${rows.length} scenarios without auth/`);
  }
}

async function clientScenario(command, scenario, revision, successes) {
  for (let attempt = 1; ; attempt += 1) {
    const { exit, checks, output } = await runClient(command, scenario, revision);
    const row = judgeClient(scenario, { exit, checks, successes });
    const text = attempt === 1 ? row.text : `${row.text} (attempt ${attempt})`;
    if (row.verdict === 'passed') return { ...row, text };
    if (attempt >= (ATTEMPTS[scenario] ?? 1)) return { ...row, text: `${text}\n${indent(output)}` };
  }
}

function indent(text) {
  return text.trimEnd().replace(/^/gm, '    ');
}
