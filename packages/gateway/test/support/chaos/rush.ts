import { setTimeout as sleep } from 'node:timers/promises';
import type { createRandom } from '../../../../sdk/test/support/host-chaos.js';
import { type Connect, canAnswer, KINDS, type StormClient } from './clients.js';
import { asking, type CallShape, type ServerName } from './plan.js';

export type Random = ReturnType<typeof createRandom>;

/** How one call ended. */
export interface Outcome {
  readonly client: string;
  readonly server: ServerName;
  readonly token: string;
  /** The only right one. */
  readonly answer: string;
  readonly calledOff: boolean;
  readonly end:
    | { readonly kind: 'answer'; readonly text: unknown }
    | { readonly kind: 'error'; readonly error: Told }
    | { readonly kind: 'lost' };
}

export interface Rush {
  readonly origin: string;
  readonly isOver: () => boolean;
  readonly outcomes: Outcome[];
  /** What went wrong and belongs to no call. */
  readonly troubles: string[];
  /** A call or a connection that has not ended by then is lost. */
  readonly watchdogMs: number;
}

/** Who calls: at the address of all servers, or of one. */
export interface Runner {
  readonly kind: string;
  readonly at: 'all' | ServerName;
}

/** Calls, some at once, some called off, until the storm is over; comes back when it lost its session. */
export async function run(rush: Rush, runner: Runner, index: number, random: Random): Promise<void> {
  const name = `${index} ${runner.kind} at ${runner.at}`;
  for (let life = 0; !rush.isOver(); life += 1) {
    const client = await enter(rush, name, KINDS[runner.kind]!, urlOf(rush, runner));
    if (!client) {
      await sleep(30 + random.upTo(100));
      continue;
    }
    const calledOff = await live(rush, runner, client, { name: `${name} ${life}`, random });
    const strays = client.complaints.filter(isStray);
    // A cancellation and the answer may cross on their way.
    const twice = strays.length > calledOff ? strays : strays.filter((text) => !text.includes('unknown'));
    rush.troubles.push(...twice.map((text) => `${name}: ${text}`));
    await settled(rush, `${name} closes`, client.close());
  }
}

function urlOf({ origin }: Rush, { at }: Runner): string {
  return `${origin}/mcp${at === 'all' ? '' : `/${at}`}`;
}

interface Life {
  readonly name: string;
  readonly random: Random;
}

/** Gives the number of calls that it called off. */
async function live(
  rush: Rush,
  runner: Runner,
  client: StormClient,
  { name, random }: Life,
): Promise<number> {
  let calledOff = 0;
  const bursts = 5 + random.upTo(25);
  for (let burst = 0; burst < bursts && !rush.isOver(); burst += 1) {
    const calls = Array.from({ length: 1 + random.upTo(3) }, (_, at) => {
      const server = runner.at === 'all' ? random.pick(SHARED) : runner.at;
      const shape = {
        ms: random.chance(0.2) ? random.upTo(30) : 0,
        dies: server === 'fragile' && random.chance(0.1),
        asks: (server === 'v1' || server === 'v2') && random.chance(0.3) && canAnswer(runner.kind),
        cancelsAfter: random.chance(0.05) ? random.upTo(15) : undefined,
      };
      return one(rush, runner, client, { server, token: `${name}, ${burst}.${at}`, ...shape });
    });
    const ends = await Promise.all(calls);
    calledOff += ends.filter((outcome) => outcome.calledOff).length;
    // A session that is gone does not come back.
    if (ends.some(isGone)) break;
    await sleep(20 + random.upTo(100));
  }
  return calledOff;
}

/** At the address of all; the slow ones are asked less. */
const SHARED: readonly ServerName[] = [
  ...(['legacy', 'modern', 'tree', 'fragile'] as const),
  ...(['legacy', 'modern', 'tree', 'demo', 'v1', 'v2', 'remote'] as const),
];

interface One extends CallShape {
  readonly server: ServerName;
  readonly token: string;
  readonly cancelsAfter?: number | undefined;
}

async function one(rush: Rush, runner: Runner, client: StormClient, what: One): Promise<Outcome> {
  const { server, token, cancelsAfter } = what;
  const { tool, args, answer } = asking(server, token, what);
  const abort = new AbortController();
  const timer = cancelsAfter === undefined ? undefined : setTimeout(() => abort.abort(), cancelsAfter);
  const name = runner.at === 'all' ? `${server}__${tool}` : tool;
  const end: Promise<Outcome['end']> = client.call(name, args, abort.signal).then(
    (text) => ({ kind: 'answer', text }),
    (error: unknown) => ({ kind: 'error', error: tellOf(error) }),
  );
  const outcome: Outcome = {
    client: runner.kind,
    server,
    token,
    answer,
    calledOff: cancelsAfter !== undefined,
    end: await within(rush.watchdogMs, end, { kind: 'lost' }),
  };
  clearTimeout(timer);
  rush.outcomes.push(outcome);
  return outcome;
}

async function enter(
  rush: Rush,
  name: string,
  connect: Connect,
  url: string,
): Promise<StormClient | undefined> {
  const entering = connect(url).then(
    (client) => ({ client }),
    (error: unknown) => ({ error }),
  );
  const entered = await within(rush.watchdogMs, entering, undefined);
  if (!entered) rush.troubles.push(`${name} never got in`);
  if (!entered || 'client' in entered) return entered?.client;
  const fault = faultOfError(tellOf(entered.error));
  if (fault !== undefined) rush.troubles.push(`${name} could not get in: ${fault}`);
  return undefined;
}

async function settled(rush: Rush, what: string, doing: Promise<unknown>): Promise<void> {
  const late = await within(
    rush.watchdogMs,
    doing.then(
      () => undefined,
      () => undefined,
    ),
    `${what}: not in time`,
  );
  if (late !== undefined) rush.troubles.push(late);
}

export async function within<T>(ms: number, work: Promise<T>, late: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(late), ms);
  });
  return Promise.race([work, limit]).finally(() => clearTimeout(timer));
}

/** An answer that nobody waits for. */
function isStray(complaint: string): boolean {
  return /unknown message ID|request \d+ (had|was answered)/.test(complaint);
}

/** The session or the address is not there any more. */
function isGone({ end }: Outcome): boolean {
  if (end.kind !== 'error') return false;
  const { code, status, text } = end.error;
  return code === 404 || status === 404 || /Not connected|session|404/i.test(text);
}

/** What an error says, without what it holds on to: its stack keeps whole clients alive. */
export interface Told {
  readonly text: string;
  readonly code: unknown;
  readonly status: unknown;
  readonly reason: unknown;
  /** Whether the call had left, as the gateway says it. */
  readonly sent: unknown;
}

export function tellOf(error: unknown): Told {
  const { code, status, data, sent, cause } = error as Record<string, unknown>;
  const why = (cause as { code?: unknown } | undefined)?.code;
  const { reason, sent: told } = (data ?? {}) as Record<string, unknown>;
  const text = `${String(error)}${why === undefined ? '' : ` (${String(why)})`}`;
  return { text, code, status, reason, sent: told ?? sent };
}

/** What is to be said against an error: that it has no code, or that it is the network's and not ours. */
export function faultOfError({ code, text }: Told): string | undefined {
  if (typeof code === 'number') return undefined;
  if (/fetch failed|hang up|ECONN|terminated|other side closed|was lost|was interrupted/i.test(text))
    return text;
  return typeof code === 'string' ? undefined : `no code: ${text}`;
}
