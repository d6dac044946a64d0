import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../../../../../test/support/until.js';
import { createRandom } from '../../../../sdk/test/support/host-chaos.js';
import { controlClient } from '../../../src/control/index.js';
import type { Gateway } from '../../../src/create-gateway.js';
import { runGateway } from '../../../src/run-gateway.js';
import { createLog } from '../../../src/telemetry/log.js';
import { createRedactor } from '../../../src/telemetry/redactor.js';
import { countingClock } from './counting-clock.js';
import { DEEDS, nextDeed, type Storm } from './deeds.js';
import { readMetrics, total } from './metrics.js';
import { Plan } from './plan.js';
import { Processes } from './processes.js';
import { type Remote, startRemote } from './remote.js';
import { faultOfError, type Outcome, type Runner, type Rush, run, tellOf, within } from './rush.js';
import { testify, type Witness } from './watch-pages.js';

export interface StormOptions {
  readonly seed: number;
  readonly runners: readonly Runner[];
  /** The deeds are the same for the same seed; how many there is time for, the machine decides. */
  readonly limitMs: number;
  readonly watchdogMs: number;
}

export interface StormReport {
  readonly outcomes: readonly Outcome[];
  /** How often each token was run, by the account of the servers themselves. */
  readonly runs: ReadonlyMap<string, number>;
  readonly deeds: readonly string[];
  readonly troubles: readonly string[];
  readonly lies: readonly string[];
  readonly weighed: Witness['weighed'];
  readonly processes: number;
  /** What is left when all clients are gone and everything is configured as at the beginning. */
  readonly calm: Calm;
  /** What is left when the gateway is closed. */
  readonly timersLeft: readonly string[];
  readonly processesLeft: readonly number[];
}

export interface Calm {
  readonly ready: boolean;
  readonly inFlight: number;
  readonly queued: number;
  /** Of clients that are gone. */
  readonly conversations: number;
}

/** Clients of both eras call many servers while everything happens that can happen to a gateway. */
export async function weather(options: StormOptions): Promise<StormReport> {
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-storm-'));
  const diary = join(folder, 'diary');
  writeFileSync(diary, '');
  const processes = new Processes();
  const clock = countingClock();
  const undo = new Set<() => void>();
  let remote: Remote | undefined;
  let close = async () => {};
  try {
    remote = await startRemote();
    const plan = new Plan(diary, remote.url);
    const redactor = createRedactor();
    const lines = { write: (line: string) => void JSON.parse(line) };
    const operation = await runGateway({
      clock,
      redactor,
      log: createLog({ level: 'debug', format: 'json', destination: lines, redactor }),
      units: plan.units(),
      addresses: ['http://127.0.0.1:0/mcp'],
      controlPath: join(folder, 'control.sock'),
      host: { ledger: false, cache: false },
      graceMs: GRACE_MS,
      read: async () => ({ units: plan.units(), problem: undefined, warnings: [] }),
      onHostEvent: processes.onHostEvent,
    });
    close = () => operation.close({ graceMs: 0 });
    const control = controlClient(join(folder, 'control.sock'));
    const { origin } = new URL(operation.gateway.addresses[0]!);
    await becomesReady(operation.gateway);
    const witness: Witness = { origin, plan, processes, remote, lies: [], weighed: NOTHING() };
    const troubles: string[] = [];
    const storm: Storm = {
      ...{ operation, control, plan, processes, remote, undo },
      random: createRandom(options.seed),
      settles: (what, doing, waits) => settles(options.watchdogMs, troubles, what, doing, waits),
    };
    let isOver = false;
    const rush: Rush = {
      origin,
      isOver: () => isOver,
      outcomes: [],
      troubles,
      watchdogMs: options.watchdogMs,
    };
    const runners = options.runners.map((runner, at) =>
      // Each has its own numbers: who comes first must not change what the others do.
      run(rush, runner, at, createRandom(options.seed * 1000 + at)),
    );
    const deeds = await rage(storm, witness, options).finally(() => {
      isOver = true;
    });
    await Promise.all(runners);

    for (const each of undo) each();
    const calm = await calmDown(storm, origin);
    await operation.close({ graceMs: 0 });
    return {
      outcomes: rush.outcomes,
      runs: count(readFileSync(diary, 'utf8').split('\n').filter(Boolean)),
      ...{ deeds, troubles, calm },
      lies: witness.lies,
      weighed: witness.weighed,
      processes: processes.count,
      timersLeft: await timersLeft(clock),
      processesLeft: await whoStays(processes),
    };
  } finally {
    for (const each of undo) each();
    await close();
    await remote?.kill();
    processes.killAll();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** One blow after the other, and after each the witness looks at what is said. */
async function rage(storm: Storm, witness: Witness, options: StormOptions): Promise<string[]> {
  const deeds: string[] = [];
  const end = Date.now() + options.limitMs;
  for (let step = 1; step <= FEWEST || Date.now() < end; step += 1) {
    const { what, name } = nextDeed(storm.random);
    const doing = Promise.resolve(DEEDS[what]!(storm, name)).catch((error: unknown) => {
      witness.lies.push(`step ${step}, ${what} ${name}: ${String(error)}`);
    });
    deeds.push(`${what} ${name}`);
    // The pages are looked at while it happens, or when it has happened.
    if (storm.random.chance(0.5)) await doing;
    await testify(witness, `step ${step}, ${what} ${name}`, storm.random);
    await doing;
  }
  return deeds;
}

/** Everything is as it was at the beginning, as soon as that can be. */
async function calmDown(storm: Storm, origin: string): Promise<Calm> {
  const { operation, plan, remote, control } = storm;
  const { gateway } = operation;
  await remote.revive();
  plan.calmDown();
  operation.adopt({ units: plan.units(), problem: undefined, warnings: [] });
  await Promise.all(plan.names.map((name) => storm.settles(`start ${name}`, control.start(name), true)));
  // Out of a crash loop only somebody helps who says so.
  await storm.settles('restart fragile', control.restart('fragile'), true);
  await becomesReady(gateway).catch(() => {});
  // Those of servers that were replaced have the grace to end.
  const conversations = await conversationsLeft(gateway, GRACE_MS + 3000);
  const status = await gateway.status();
  const sum = (member: 'inFlight' | 'queued') =>
    Object.values(status.servers).reduce((total, unit) => total + (unit.processes?.[member] ?? 0), 0);
  const counted = await readMetrics(origin);
  return {
    ready: status.ready,
    inFlight: sum('inFlight') + total(counted, 'isthmus_calls_in_flight'),
    queued: sum('queued') + total(counted, 'isthmus_server_queue_depth'),
    conversations,
  };
}

async function becomesReady(gateway: { unready(): Promise<readonly string[]> }): Promise<void> {
  const end = Date.now() + 20_000;
  for (;;) {
    const unready = await gateway.unready();
    if (unready.length === 0) return;
    if (Date.now() > end) throw new Error(`not ready within 20 s: ${unready.join(', ')}`);
    await sleep(20);
  }
}

/** Those of clients, as soon as there are none of them, or after a while. */
async function conversationsLeft(gateway: Gateway, patienceMs: number): Promise<number> {
  const end = Date.now() + patienceMs;
  for (;;) {
    const { servers } = await gateway.status();
    // All modern clients that nobody knows are one caller, and have one together.
    const extra = Object.values(servers).map(({ processes }) => (processes?.conversations ?? 0) - 1);
    const left = extra.reduce((sum, each) => sum + Math.max(0, each), 0);
    if (left === 0 || Date.now() > end) return left;
    await sleep(20);
  }
}

/** Some look once more, and then not again. */
async function timersLeft(clock: ReturnType<typeof countingClock>): Promise<string[]> {
  await until('no timer is left', () => clock.pending().length === 0, 5000).catch(() => {});
  return clock.pending();
}

async function whoStays(processes: Processes): Promise<number[]> {
  await until('every process is gone', () => processes.left().length === 0, 5000).catch(() => {});
  return processes.left();
}

/** A command settles in time, and fails in words if it fails. */
async function settles(
  watchdogMs: number,
  troubles: string[],
  what: string,
  doing: Promise<unknown>,
  waits: boolean,
): Promise<void> {
  const ended = doing.then(
    () => undefined,
    (error: unknown) => {
      const fault = faultOfError(tellOf(error));
      return fault && `${what}: ${fault}`;
    },
  );
  const watched = within(watchdogMs, ended, `${what} did not settle`).then((trouble) => {
    if (trouble) troubles.push(trouble);
  });
  if (waits) await watched;
}

function count(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}

/** However slow the machine is. */
const FEWEST = 8;
const GRACE_MS = 2000;
const NOTHING = () => ({ pages: 0, calls: 0 });
