// Verdicts, from nothing but what the referee wrote down. Its exit codes and its green marks are not enough: it
// ignores warnings, and a scenario in which nothing was checked is green to it.

/**
 * A line of the report. `passed` and `failed` count; `noted` is a scenario that is not scored or cannot pass, and
 * ended as expected.
 * @typedef {{ verdict: 'passed' | 'failed' | 'noted', scenario: string, text: string }} Row
 * @typedef {{ id: string, status: string, errorMessage?: string }} Check
 * @typedef {{ scored: readonly string[], unscored: readonly string[] }} Listed
 * @typedef {{ says: readonly string[], why: string, isUnsteady?: boolean }} Limit
 * `own`: scenarios that the referee does not score and we do, with the number of successful checks of each.
 * @typedef {{ scored: number, successes: number, own?: Record<string, number>,
 *   unscored: Record<string, { ends: string, why: string }>, limits?: Record<string, Limit> }} Expected
 */

// It passes when only the referee spoke.
const HOLLOW = 'wire-schema-valid';
const STATUSES = ['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO'];

/**
 * One requirement set in server mode.
 * @param {{ listed: Listed, results: ReadonlyMap<string, readonly Check[]>, expected: Expected }} facts
 */
export function judgeServer({ listed, results, expected }) {
  /** @type {Row[]} */
  const rows = listed.scored.map((scenario) => {
    const limit = expected.limits?.[scenario];
    const checks = results.get(scenario);
    return limit && checks ? judgeLimited(scenario, checks, limit) : judgeScored(scenario, checks);
  });
  const own = Object.entries(expected.own ?? {});
  for (const [scenario, wanted] of own) {
    const limit = expected.limits?.[scenario];
    const checks = results.get(scenario);
    rows.push(limit && checks ? judgeLimited(scenario, checks, limit) : judgeOwn(scenario, checks, wanted));
  }
  const known = Object.keys(expected.unscored);
  for (const scenario of new Set([...known, ...listed.unscored])) {
    if (expected.own?.[scenario] !== undefined) continue;
    const isListed = listed.unscored.includes(scenario);
    rows.push(judgeUnscored(scenario, isListed, results.get(scenario), expected.unscored[scenario]));
  }
  const strangers = [...results.keys()].filter((name) => !rows.some(({ scenario }) => scenario === name));
  for (const scenario of strangers) rows.push(failed(scenario, 'it was run but is in no list'));

  const steady = listed.scored.filter((scenario) => !expected.limits?.[scenario]?.isUnsteady);
  const successes = sum(steady.map((scenario) => count(results.get(scenario) ?? [], 'SUCCESS')));
  if (listed.scored.length !== expected.scored) {
    rows.push(failed('scored scenarios', `${listed.scored.length} are listed, expected ${expected.scored}`));
  } else if (successes !== expected.successes) {
    rows.push(failed('checks', `${successes} were successful in all, expected ${expected.successes}`));
  }
  const passed = rows.filter(({ verdict }) => verdict === 'passed').length;
  const ownSuccesses = sum(own.map(([scenario]) => count(results.get(scenario) ?? [], 'SUCCESS')));
  const limits = Object.keys(expected.limits ?? {});
  const noted = rows.filter(({ verdict }) => verdict === 'noted').map(({ scenario }) => scenario);
  const summary = [
    `${passed}/${expected.scored + own.length} scored scenarios, ${successes + ownSuccesses} checks`,
    ...(limits.length > 0 ? [`${common(limits, noted)}/${limits.length} that cannot pass as expected`] : []),
    `${common(known, noted)}/${known.length} unscored as expected`,
  ].join('; ');
  return { rows, summary };
}

/**
 * One scenario in client mode, where the exit code of the referee counts too: it covers that of the client.
 * @param {string} scenario
 * @param {{ exit: string | undefined, checks: readonly Check[] | undefined, successes: number | undefined }} facts
 * @returns {Row}
 */
export function judgeClient(scenario, { exit, checks, successes }) {
  if (successes === undefined) return failed(scenario, 'the referee lists it, and nothing is expected of it');
  if (checks === undefined) return failed(scenario, `it left no result${exit ? ` (${exit})` : ''}`);
  const complaint = complaintOf(checks, ['FAILURE', 'WARNING']);
  if (complaint !== undefined) return failed(scenario, complaint);
  if (exit !== undefined) return failed(scenario, `the referee or the client failed: ${exit}`);
  const found = count(checks, 'SUCCESS');
  if (found !== successes) return failed(scenario, `${found} checks were successful, expected ${successes}`);
  return { verdict: 'passed', scenario, text: plural(found) };
}

/**
 * @param {string} scenario
 * @param {readonly Check[] | undefined} checks
 * @returns {Row}
 */
function judgeScored(scenario, checks) {
  if (checks === undefined) return failed(scenario, 'it left no result');
  const complaint = complaintOf(checks, ['FAILURE', 'WARNING', 'SKIPPED']);
  if (complaint !== undefined) return failed(scenario, complaint);
  if (!checks.some(({ id, status }) => status === 'SUCCESS' && id !== HOLLOW)) {
    return failed(scenario, 'nothing was checked');
  }
  return { verdict: 'passed', scenario, text: plural(count(checks, 'SUCCESS')) };
}

/**
 * A scenario that the referee does not score, and we do.
 * @param {string} scenario
 * @param {readonly Check[] | undefined} checks
 * @param {number} wanted
 * @returns {Row}
 */
function judgeOwn(scenario, checks, wanted) {
  const row = judgeScored(scenario, checks);
  const found = count(checks ?? [], 'SUCCESS');
  if (row.verdict === 'failed' || found === wanted) return row;
  return failed(scenario, `${found} checks were successful, expected ${wanted}`);
}

/**
 * A scored scenario that cannot pass: it complains of exactly what it is known to complain of.
 * @param {string} scenario
 * @param {readonly Check[]} checks
 * @param {Limit} limit
 * @returns {Row}
 */
function judgeLimited(scenario, checks, { says, why, isUnsteady }) {
  const found = complaintsOf(checks, ['FAILURE', 'WARNING', 'SKIPPED']);
  const heads = found.map(({ status, id }) => `${status} ${id}`);
  if (heads.join() === says.join()) return { verdict: 'noted', scenario, text: `${says.join(', ')}: ${why}` };
  if (isUnsteady && found.length === 0)
    return { verdict: 'noted', scenario, text: `passes this time; otherwise ${says.join(', ')}: ${why}` };
  const text = found.length > 0 ? inWords(found) : 'nothing';
  return failed(scenario, `it complains of ${text}; expected: ${says.join(', ')} (${why})`);
}

/**
 * @param {string} scenario
 * @param {boolean} isListed
 * @param {readonly Check[] | undefined} checks
 * @param {{ ends: string, why: string } | undefined} expected
 * @returns {Row}
 */
function judgeUnscored(scenario, isListed, checks, expected) {
  if (expected === undefined) return failed(scenario, 'not scored, and nothing is expected of it');
  if (!isListed) return failed(scenario, 'it has vanished from the list of what is not scored');
  if (checks === undefined) return failed(scenario, 'it left no result');
  const { ends, why } = expected;
  const found = endOf(checks);
  if (ends !== 'ends' && found !== ends)
    return failed(scenario, `it ${found}, expected that it ${ends} (not scored: ${why})`);
  return { verdict: 'noted', scenario, text: `${ends}; not scored: ${why}` };
}

/**
 * A scenario of an extension that the server does not have.
 * @param {string} scenario
 * @param {readonly Check[] | undefined} checks
 * @param {string} why
 * @returns {Row}
 */
export function judgeSkipped(scenario, checks, why) {
  if (checks === undefined) return failed(scenario, 'it left no result');
  const judged = checks.filter(({ id }) => id !== HOLLOW);
  const skipped = judged.filter(({ status }) => status === 'SKIPPED');
  if (skipped.length === 0 || skipped.length < judged.length)
    return failed(
      scenario,
      `${skipped.length} of ${judged.length} checks skip themselves, expected all (${why})`,
    );
  return { verdict: 'noted', scenario, text: `skips itself: ${why}` };
}

/** @param {readonly Check[]} checks */
function endOf(checks) {
  if (count(checks, 'FAILURE') > 0) return 'fails';
  if (count(checks, 'WARNING') > 0) return 'warns';
  return count(checks, 'SUCCESS') > 0 ? 'passes' : 'says nothing';
}

/**
 * @param {readonly Check[]} checks
 * @param {readonly string[]} bad
 */
function complaintOf(checks, bad) {
  const complaints = complaintsOf(checks, bad);
  return complaints.length > 0 ? inWords(complaints) : undefined;
}

/**
 * @param {readonly Check[]} checks
 * @param {readonly string[]} bad
 */
function complaintsOf(checks, bad) {
  return checks.filter(({ status }) => bad.includes(status) || !STATUSES.includes(status));
}

/** @param {readonly Check[]} complaints */
function inWords(complaints) {
  return complaints
    .map(({ status, id, errorMessage }) => `${status} ${id}${errorMessage ? `: ${errorMessage}` : ''}`)
    .join('; ');
}

/**
 * @param {readonly Check[]} checks
 * @param {string} wanted
 */
function count(checks, wanted) {
  return checks.filter(({ status }) => status === wanted).length;
}

/**
 * @param {readonly string[]} some
 * @param {readonly string[]} others
 */
function common(some, others) {
  return some.filter((each) => others.includes(each)).length;
}

/** @param {readonly number[]} numbers */
function sum(numbers) {
  return numbers.reduce((total, each) => total + each, 0);
}

/** @param {number} checks */
function plural(checks) {
  return checks === 1 ? '1 check' : `${checks} checks`;
}

/**
 * @param {string} scenario
 * @param {string} text
 * @returns {Row}
 */
function failed(scenario, text) {
  return { verdict: 'failed', scenario, text };
}
