// npm run scoreboard: judges our own server, the official ones, twelve that people use, bridges, and six clients, and writes
// docs/scoreboard.md with versions, commands, every failure, and why each failure of a MUST is the peer's. It fails when
// such a reason is missing or stale (scoreboard/reasons.json). Up to half an hour on two cores. Not part of npm test.
//   npm run scoreboard                 all of them
//   npm run scoreboard -- everything   those whose name has the word in it; the page is not written

import { writeFileSync } from 'node:fs';
import { judgeClient, judgeServer } from '../scoreboard/judge.js';
import { brokenMusts, toPage } from '../scoreboard/page.js';
import { REAL_CLIENTS } from '../scoreboard/real-clients.js';
import { matchReasons, readReasons } from '../scoreboard/reasons.js';
import { allServers } from '../scoreboard/subjects.js';
import { progress } from './setup/main.js';
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';

/** Longer than any of them needs: a peer that hangs costs its own row. */
const LONGEST_MS = 600_000;

await runMain(async () => {
  await ensureInstalled();
  await ensureInstalled('scoreboard');
  // The bridges.
  await ensureInstalled('benchmarks');
  await ensureBuilt();
  const word = process.argv[2];
  const isMeant = ({ name }) => word === undefined || name.includes(word);
  const began = Date.now();
  const subjects = allServers().filter(isMeant);
  const players = REAL_CLIENTS.filter(isMeant);
  const all = subjects.length + players.length;
  const servers = [];
  for (const [at, subject] of subjects.entries()) {
    const work = (onProgress) => judgeServer(subject, onProgress);
    servers.push(await judged(subject, `${at + 1}/${all}`, work));
  }
  const clients = [];
  for (const [at, subject] of players.entries()) {
    const work = (onProgress) => judgeClient(subject, { onProgress });
    clients.push(await judged(subject, `${subjects.length + at + 1}/${all}`, work));
  }
  const reasons = readReasons();
  const page = toPage({ servers, clients, reasons, ms: Date.now() - began });
  if (word === undefined) writeFileSync(inRoot('docs/scoreboard.md'), page);
  else process.stdout.write(page);
  const rows = [...servers, ...clients].map(({ subject, report }) => ({
    name: subject.name,
    broken: brokenMusts(report),
  }));
  const { unexplained, stale } = matchReasons(rows, reasons);
  for (const each of unexplained) progress(`has no reason in scoreboard/reasons.json: ${each}`);
  for (const each of stale) progress(`has a reason, but does not fail any more: ${each}`);
  if (unexplained.length + stale.length > 0) process.exitCode = 1;
});

async function judged(subject, place, work) {
  progress(`${place} ${subject.name} …`);
  let told = Date.now();
  const onProgress = (done, of) => {
    if (Date.now() - told < 10_000) return;
    told = Date.now();
    progress(`${place} ${subject.name}: ${done} of ${of}`);
  };
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${subject.name} took longer than ${LONGEST_MS} ms`)),
      LONGEST_MS,
    );
  });
  const report = await Promise.race([work(onProgress), late]).finally(() => clearTimeout(timer));
  const { grade, counts, ms } = report;
  progress(
    `${place} ${subject.name}: ${grade.letter}, ${counts.fail} fail, ${counts.warn} warn, ${Math.round(ms / 1000)} s`,
  );
  return { subject, report };
}
