// npm run soak: many calls through one shared process, and the memory must stay flat. Not part of npm test.
//   npm run soak -- --calls 100000 --era modern
//   npm run soak -- --serve                       a million calls through `isthmus serve`: soak-serve.js
//   npm run soak -- --storms 10                   ten minutes of storms over a gateway: soak-storms.js
//   npm run soak -- --attacks                     one client attacks, another one must not notice: soak-attacks.js
//   npm run soak -- --attacks --only S6,S7        only these attacks

import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SetupError } from './setup/main.js';
import { inRoot } from './setup/paths.js';
import { ensureBuilt, ensureInstalled, runMain } from './setup.js';
import { soakAttacks } from './soak-attacks.js';
import { soakServe } from './soak-serve.js';
import { soakStorms } from './soak-storms.js';

const CONVERSATIONS = 10;
const IN_FLIGHT = 50;
/** What may be left of one call, subscription or conversation: nothing, give or take the noise of a heap. */
const MAX_HEAP_GROWTH = 3e6;
const MAX_RSS_GROWTH = 32e6;
/** A soak that hangs fails. */
const LIMIT_MS = 15 * 60_000;

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

await runMain(async () => {
  const { values } = parseArgs({
    options: {
      calls: { type: 'string' },
      era: { type: 'string' },
      serve: { type: 'boolean', default: false },
      storms: { type: 'string' },
      attacks: { type: 'boolean', default: false },
      only: { type: 'string' },
      seed: { type: 'string' },
    },
  });
  if (values.storms !== undefined) {
    await ensureInstalled();
    const seed = values.seed === undefined ? undefined : Number(values.seed);
    if (!(await soakStorms(Number(values.storms), seed))) process.exitCode = 1;
    return;
  }
  if (values.attacks) {
    await ensureInstalled();
    await ensureBuilt();
    if (!(await soakAttacks(values.only?.split(',')))) process.exitCode = 1;
    return;
  }
  const calls = Number(values.calls ?? (values.serve ? 1_000_000 : 100_000));
  // With fewer, a leak is smaller than the noise.
  if (!(Number.isSafeInteger(calls) && calls >= 20_000)) {
    throw new SetupError(`--calls is a whole number of at least 20000, not ${values.calls}`);
  }
  if (values.era !== undefined && values.era !== 'modern' && values.era !== 'legacy') {
    throw new SetupError(`--era is modern or legacy, not ${values.era}`);
  }
  await ensureInstalled();
  await ensureBuilt();
  const { createHost } = await import('@isthmus/sdk');
  setTimeout(() => {
    console.log(`soak: not done after ${LIMIT_MS / 60_000} min`);
    process.exit(1);
  }, LIMIT_MS).unref();

  if (values.serve) return judge(await soakServe(calls));
  console.log(
    'era     what                                         times   heap MB  growth    RSS MB  growth  B each',
  );
  const failures = [];
  for (const era of values.era ? [values.era] : ['modern', 'legacy']) {
    const demo = { command: process.execPath, args: [inRoot('bin/isthmus.js'), 'demo'], mode: era };
    const host = createHost({ cache: false, ledger: false, servers: { demo } });
    try {
      failures.push(...(await soakAll(host, era, calls)));
    } finally {
      await host.close();
    }
  }
  judge(failures);
});

function judge(failures) {
  console.log(failures.length === 0 ? 'flat' : `NOT FLAT: ${failures.join('; ')}`);
  if (failures.length > 0) process.exitCode = 1;
}

/** Names what was not flat. */
async function soakAll(host, era, calls) {
  const failures = [];
  for (const [what, times, once] of scenes(host, calls)) {
    const line = await soak(what, times, once);
    console.log(`${era.padEnd(8)}${line.text}`);
    if (!line.isFlat) failures.push(`${era}, ${what}`);
  }
  const { processes, inFlight, queued } = (await host.status()).servers.demo;
  const lives = processes.map(({ generation }) => generation).join(', ');
  if (lives !== '1') failures.push(`${era}: it was not one process, but generation ${lives}`);
  if (inFlight + queued > 0)
    failures.push(`${era}: ${inFlight} calls in flight and ${queued} queued are left`);
  return failures;
}

/** What is done again and again: its name, how often, and how. */
function scenes(host, calls) {
  const talks = Array.from({ length: CONVERSATIONS }, () => host.conversation('demo'));
  const forever = new AbortController();
  const few = Math.max(1, Math.round(calls / 20));
  return [
    ['calls', calls, (n) => echo(talks[n % CONVERSATIONS], n)],
    [
      'calls, a signal each, some aborted',
      calls,
      async (n) => {
        const abort = new AbortController();
        const call = echo(talks[n % CONVERSATIONS], n, { signal: abort.signal });
        if (n % 10 !== 0) return call;
        abort.abort();
        await call.then(unexpected, ({ code }) => code === 'CANCELLED' || unexpected(code));
      },
    ],
    [
      'calls, one signal for all',
      calls,
      (n) => echo(talks[n % CONVERSATIONS], n, { signal: forever.signal }),
    ],
    [
      'subscriptions opened and closed',
      few,
      async (n) => {
        const changes = await talks[n % CONVERSATIONS].listen({ tools: true, uris: ['demo://clock'] });
        changes.close();
      },
    ],
    [
      'conversations opened and closed',
      few,
      async (n) => {
        const talk = host.conversation('demo');
        await echo(talk, n);
        await talk.close();
      },
    ],
    [
      'conversations closed with a call in flight',
      few,
      async (n) => {
        const talk = host.conversation('demo');
        const call = echo(talk, n).catch(() => {});
        await Promise.resolve();
        await talk.close();
        await call;
      },
    ],
  ];
}

async function echo(talk, n, options) {
  const text = `text ${n}`;
  const { content } = await talk.callTool('echo', { text }, options);
  if (content[0].text !== text) unexpected(`${content[0].text} for ${text}`);
}

function unexpected(what) {
  throw new Error(`soak: got ${what}`);
}

/** The same thing many times; the first fifth is the warm-up. */
async function soak(what, times, once) {
  let next = 0;
  const until = (end) =>
    Promise.all(
      Array.from({ length: IN_FLIGHT }, async () => {
        while (next < end) await once(next++);
      }),
    );
  const warm = Math.round(times / 5);
  await until(warm);
  const before = await weigh();
  await until(times);
  const after = await weigh();
  const heap = after.heapUsed - before.heapUsed;
  const rss = after.rss - before.rss;
  const text = [
    what.padEnd(43),
    String(times).padStart(7),
    megabytes(after.heapUsed).padStart(10),
    megabytes(heap).padStart(8),
    megabytes(after.rss).padStart(10),
    megabytes(rss).padStart(8),
    (heap / (times - warm)).toFixed(0).padStart(8),
  ].join('');
  return { text, isFlat: heap < MAX_HEAP_GROWTH && rss < MAX_RSS_GROWTH };
}

/** What is really in use: after everything that is over has been let go. */
async function weigh() {
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    gc();
  }
  return process.memoryUsage();
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
