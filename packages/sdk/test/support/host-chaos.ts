import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fixture } from '../../../../test/support/child.js';
import { type Clock, systemClock } from '../../src/async/clock.js';
import type { Client } from '../../src/client/client.js';
import type { ProcessModel } from '../../src/config/server-spec.js';
import { IsthmusError } from '../../src/errors.js';
import { createHost, type Host } from '../../src/host/create-host.js';
import type { ServerDefinition } from '../../src/host/definition.js';

export interface ChaosOptions {
  readonly seed: number;
  readonly era: 'modern' | 'legacy';
  readonly processes: ProcessModel;
  readonly conversations: number;
  readonly callsEach: number;
  /** A call or a command to the host that has not ended by then is lost. */
  readonly watchdogMs: number;
}

/** How one call ended. */
export interface Outcome {
  readonly token: string;
  readonly retry: boolean;
  /** Whether the caller called it off, or closed its conversation while it was under way. */
  readonly calledOff: boolean;
  readonly end:
    | { readonly kind: 'answer'; readonly text: unknown }
    | { readonly kind: 'error'; readonly error: unknown }
    | { readonly kind: 'lost' };
}

export interface ChaosReport {
  readonly outcomes: readonly Outcome[];
  /** How often each token was run, by the account of the processes themselves. */
  readonly runs: ReadonlyMap<string, number>;
  /** Every process that was ever ready. */
  readonly pids: readonly number[];
  readonly did: Readonly<Record<Deed | 'close', number>>;
  /** Commands to the host that did not settle, or failed with something else than a typed error. */
  readonly troubles: readonly string[];
  /** Timers of the host that nobody has called off, also those that keep nobody waiting. */
  timersLeft(): number;
}

type Deed = 'kill' | 'restart' | 'disable' | 'configure';

/** Many conversations call a server while everything happens to its processes that can happen. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
  const { seed, watchdogMs } = options;
  const folder = mkdtempSync(join(tmpdir(), 'isthmus-chaos-'));
  const diary = join(folder, 'diary');
  writeFileSync(diary, '');
  const define = (version: number, overlap: boolean): ServerDefinition => ({
    command: process.execPath,
    args: [fixture('server-notes-its-calls.mjs'), diary, options.era],
    env: { VERSION: String(version) },
    processes: options.processes,
    overlap,
    timeoutMs: 10_000,
    drainMs: 1000,
    restart: { attempts: 10_000, firstDelayMs: 1, maxDelayMs: 20, jitter: 0.5 },
  });
  const clock = countingClock();
  const host = createHost({
    clock,
    servers: { chaos: define(0, false) },
    cache: false,
    ledger: join(folder, 'ledger'),
  });
  const pids = new Set<number>();
  host.watch((event) => {
    if (event.kind === 'ready' && event.pid !== undefined) pids.add(event.pid);
  });
  const random = createRandom(seed);
  const stage: Stage = { host, watchdogMs, troubles: [], outcomes: [], closes: 0 };
  try {
    const talks = Array.from({ length: options.conversations }, (_, at) =>
      // Each has its own numbers: who comes first must not change what the others do.
      converse(stage, createRandom(seed * 1000 + at), `c${at}`, options.callsEach),
    );
    let over = false;
    const all = Promise.all(talks).finally(() => {
      over = true;
    });
    const deeds = await rage(stage, random, define, () => over);
    await all;
    return {
      outcomes: stage.outcomes,
      runs: count(readFileSync(diary, 'utf8').split('\n').filter(Boolean)),
      pids: [...pids],
      did: { ...deeds, close: stage.closes },
      troubles: stage.troubles,
      timersLeft: clock.pending,
    };
  } finally {
    await stage.host.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What an outcome has against the rules, if anything. */
export function faultOf({ token, retry, calledOff, end }: Outcome, ran: number): string | undefined {
  if (ran > (retry ? 2 : 1)) return `${token} ran ${ran} times`;
  if (end.kind === 'lost') return `${token} never ended`;
  if (end.kind === 'answer') {
    if (end.text !== token) return `${token} was given the answer ${JSON.stringify(end.text)}`;
    return ran === 0 ? `${token} was answered by nobody` : undefined;
  }
  const { error } = end;
  if (!(error instanceof IsthmusError)) return `${token} failed with ${String(error)}`;
  const { code, sent, generation, message } = error;
  const what = `${token} (retry ${retry}, called off ${calledOff}) failed with ${code}, sent ${sent}, generation ${generation}: ${message}`;
  if (!CODES.has(code)) return `unexpected: ${what}`;
  if (code === 'CANCELLED' && !calledOff) return `nobody called it off: ${what}`;
  // Whoever waits for a process gets the next one, whatever happens to this one.
  if (code === 'CONNECTION_CLOSED' && sent === 'no' && !calledOff) return `it could have waited: ${what}`;
  if (sent !== 'no' && sent !== 'maybe') return `not said whether it was sent: ${what}`;
  if (sent === 'no' && ran > 0) return `it ran ${ran} times: ${what}`;
  const concernsProcess = sent === 'maybe' || code === 'CHILD_EXITED';
  if (concernsProcess && !Number.isSafeInteger(generation)) return `no generation: ${what}`;
  return undefined;
}

/** mulberry32: small, and the same everywhere. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    chance: (share) => next() < share,
    upTo: (limit) => Math.floor(next() * limit),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}

interface Random {
  chance(share: number): boolean;
  /** From 0 to below the limit. */
  upTo(limit: number): number;
  pick<T>(items: readonly T[]): T;
}

interface Stage {
  readonly host: Host;
  readonly watchdogMs: number;
  readonly troubles: string[];
  readonly outcomes: Outcome[];
  closes: number;
}

/** With several calls at a time, some called off, some with a conversation that is closed under them. */
async function converse(stage: Stage, random: Random, name: string, calls: number): Promise<void> {
  let talk = stage.host.conversation('chaos', { name });
  for (let done = 0; done < calls; ) {
    const some = Math.min(calls - done, 1 + random.upTo(4));
    const closes = random.chance(0.06);
    const under = Array.from({ length: some }, (_, at) =>
      call(stage, random, talk, `${name}-${done + at}`, closes),
    );
    if (closes) {
      await sleep(random.upTo(12));
      stage.closes += 1;
      await settles(stage, `closing ${name}`, talk.close());
      talk = stage.host.conversation('chaos', { name });
    }
    await Promise.all(under);
    done += some;
    await sleep(random.upTo(100));
  }
  await settles(stage, `closing ${name}`, talk.close());
}

async function call(
  stage: Stage,
  random: Random,
  talk: Client,
  token: string,
  closes: boolean,
): Promise<void> {
  const retry = random.chance(0.3);
  const cancels = random.chance(0.1);
  const ms = random.upTo(15);
  const abort = new AbortController();
  if (cancels) setTimeout(() => abort.abort(), random.upTo(15));
  const options = { signal: abort.signal, ...(retry && { retry: 'safe' as const }) };
  const end: Promise<Outcome['end']> = talk.callTool('run', { token, ms }, options).then(
    ({ content }) => ({ kind: 'answer', text: content[0]?.type === 'text' ? content[0].text : content }),
    (error: unknown) => ({ kind: 'error', error }),
  );
  const lost = { kind: 'lost' } as const;
  const outcome = { token, retry, calledOff: cancels || closes };
  stage.outcomes.push({ ...outcome, end: await within(stage.watchdogMs, end, lost) });
}

/** One blow after the other, until nobody is there any more. */
async function rage(
  stage: Stage,
  random: Random,
  define: (version: number, overlap: boolean) => ServerDefinition,
  isOver: () => boolean,
): Promise<Record<Deed, number>> {
  const { host } = stage;
  const did = { kill: 0, restart: 0, disable: 0, configure: 0 };
  for (let version = 1; !isOver(); version += 1) {
    await sleep(10 + random.upTo(60));
    const deed = random.pick<Deed>(['kill', 'kill', 'kill', 'restart', 'disable', 'configure']);
    if (deed !== 'kill') did[deed] += 1;
    switch (deed) {
      case 'kill': {
        const { chaos } = (await host.status()).servers;
        const alive = chaos!.processes.flatMap(({ pid }) => pid ?? []);
        if (alive.length > 0 && kill(random.pick(alive))) did.kill += 1;
        break;
      }
      case 'restart':
        // Sometimes nobody waits for it, and the next blow comes in the middle.
        await settles(stage, 'restart', host.restart('chaos'), random.chance(0.5));
        break;
      case 'disable': {
        const disabled = settles(stage, 'disable', host.disable('chaos'));
        await sleep(random.upTo(20));
        if (random.chance(0.5)) await disabled;
        await settles(stage, 'enable', host.enable('chaos'));
        break;
      }
      case 'configure':
        await settles(
          stage,
          'configure',
          host.configure({ chaos: define(version, random.chance(0.5)) }),
          random.chance(0.5),
        );
        break;
    }
  }
  return did;
}

/** A command to the host settles in time, and fails in words if it fails. */
async function settles(stage: Stage, what: string, doing: Promise<void>, wait = true): Promise<void> {
  const watched = within(
    stage.watchdogMs,
    doing.then(
      () => undefined,
      (error: unknown) => (error instanceof IsthmusError ? undefined : `${what}: ${String(error)}`),
    ),
    `${what} did not settle`,
  ).then((trouble) => {
    if (trouble) stage.troubles.push(trouble);
  });
  if (wait) await watched;
}

async function within<T>(ms: number, work: Promise<T>, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** The system's, with a count of what was set and neither came nor was called off. */
function countingClock(): Clock & { pending(): number } {
  const set = new Set<object>();
  return {
    now: systemClock.now,
    after(ms, action, options) {
      const timer = {};
      set.add(timer);
      const run = () => {
        set.delete(timer);
        action();
      };
      const callOff = systemClock.after(ms, run, options);
      return () => {
        set.delete(timer);
        callOff();
      };
    },
    pending: () => set.size,
  };
}

function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false; // It was faster.
  }
}

function count(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}

/** What may happen to a call here. Everything else would be a surprise. */
const CODES: ReadonlySet<string> = new Set(['CHILD_EXITED', 'CONNECTION_CLOSED', 'CANCELLED', 'DISABLED']);
