// The official conformance suite against what was built: a stage of `npm test`.
import { ensureInstalled } from '../scripts/setup/install.js';
import { inRoot } from '../scripts/setup/paths.js';
import { withDemo } from './lib/demo.js';
import { CLIENT, SERVER } from './lib/expected.js';
import { judgeClient, judgeServer } from './lib/judge.js';
import { findReferee, listClient, listRequired, runClient, runServer } from './lib/referee.js';

/**
 * Runs server mode and client mode, prints a line per scenario, and counts them. With `url` another server is
 * judged than the demo, and no client.
 * @param {{ url?: string, server?: boolean, client?: boolean }} [what]
 */
export async function conformance({ url, server = true, client = url === undefined } = {}) {
  await ensureInstalled('conformance');
  console.log(`referee ${await findReferee()}, Node under test ${process.version}`);
  const summaries = [];
  const count = { passed: 0, failed: 0 };
  const report = (title, rows, summary) => {
    for (const { verdict, scenario, text } of rows) {
      console.log(`${MARKS[verdict]} ${title} ${scenario}: ${text}`);
      if (verdict !== 'noted') count[verdict] += 1;
    }
    summaries.push(`${title}: ${summary}`);
  };
  if (server)
    await (url === undefined ? withDemo((own) => serverMode(own, report)) : serverMode(url, report));
  if (client) await clientMode(report);
  console.log(`\n${summaries.join('\n')}`);
  return count;
}

const MARKS = { passed: '✓', failed: '✗', noted: '·' };

async function serverMode(url, report) {
  for (const [revision, expected] of Object.entries(SERVER)) {
    const listed = await listRequired(revision);
    const results = await runServer(url, revision);
    const { rows, summary } = judgeServer({ listed, results, expected });
    report(`server ${revision}`, rows, summary);
  }
}

/** Until `isthmus/http` can connect there is no client to judge, and the report says so. */
async function hasConnector() {
  const { http } = await import('../dist/transport/http.js');
  try {
    return typeof http('http://127.0.0.1:9/mcp').connect === 'function';
  } catch {
    return false;
  }
}

/** One scenario after the other: in parallel the referee's own timing checks fail on a small machine. */
async function clientMode(report) {
  if (!(await hasConnector())) return report('client', [], 'not run, isthmus/http has no connector yet');
  // The referee hands this to a shell, and its own Node comes first on its PATH.
  const command = `"${process.execPath}" "${inRoot('conformance/client.js')}"`;
  for (const [revision, expected] of Object.entries(CLIENT)) {
    const rows = [];
    for (const scenario of new Set([...Object.keys(expected), ...(await listClient(revision))])) {
      const { exit, checks, output } = await runClient(command, scenario, revision);
      const row = judgeClient(scenario, { exit, checks, successes: expected[scenario] });
      rows.push(row.verdict === 'failed' ? { ...row, text: `${row.text}\n${indent(output)}` } : row);
    }
    const passed = rows.filter(({ verdict }) => verdict === 'passed').length;
    report(`client ${revision}`, rows, `${passed}/${rows.length} scenarios without auth/`);
  }
}

function indent(text) {
  return text.trimEnd().replace(/^/gm, '    ');
}
