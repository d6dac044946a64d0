import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../../packages/sdk/test/support/host-chaos.js';
import { connectKind, type StormClient, type StormKind } from './clients.js';
import { DEEDS, type Random } from './deeds.js';
import { type Outcome, tellOf } from './judge.js';
import type { Stage } from './stage.js';

export interface StormOptions {
  readonly seed: number;
  readonly forMs: number;
  /** What happens, from `DEEDS`. */
  readonly deeds: readonly string[];
  /** Instead of those of `DEEDS`. */
  doDeed?(name: string): Promise<void>;
  readonly clients: readonly StormKind[];
}

export interface StormReport {
  readonly outcomes: readonly Outcome[];
  readonly did: readonly string[];
  /** What clients complained of: answers that came twice, above all. */
  readonly complaints: readonly string[];
}

/** Clients call for some time, while one deed after the other is done. Then all calls come to their ends. */
export async function storm(
  stage: Stage,
  { seed, forMs, deeds, clients, doDeed }: StormOptions,
): Promise<StormReport> {
  const until = performance.now() + forMs;
  const isOver = () => performance.now() > until;
  const outcomes: Outcome[] = [];
  const complaints: string[] = [];
  const did: string[] = [];
  const rage = async () => {
    const random = createRandom(seed);
    while (!isOver()) {
      const name = random.pick(deeds);
      did.push(name);
      await (doDeed?.(name) ?? DEEDS[name]!(stage, random));
      await sleep(100 + random.upTo(400));
    }
  };
  const runners = clients.map(async (kind, at) => {
    // Each has its own numbers: who comes first must not change what the others do.
    const random = createRandom(seed * 1000 + at);
    for (let life = 0; !isOver(); life += 1) {
      const client = await connectKind(kind, stage.url).catch(() => undefined);
      if (!client) {
        await sleep(50);
        continue;
      }
      outcomes.push(...(await live(client, kind, `${seed}/${at}/${life}`, random, isOver)));
      complaints.push(
        ...client.complaints.filter((text) => STRAY.test(text)).map((text) => `${kind}: ${text}`),
      );
      await client.close().catch(() => {});
    }
  });
  await Promise.all([rage(), ...runners]);
  return { outcomes, did, complaints };
}

/** Calls until the storm is over or the client cannot go on. Most clients have several calls at once. */
async function live(
  client: StormClient,
  kind: StormKind,
  name: string,
  random: Random,
  isOver: () => boolean,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (let burst = 0; !isOver(); burst += 1) {
    const calls = Array.from({ length: 1 + random.upTo(3) }, async (_, at): Promise<Outcome> => {
      const token = `${name}/${burst}/${at}`;
      const tool = random.pick(client.tools);
      const ms = random.chance(0.3) ? random.upTo(200) : 0;
      const answer = tool.startsWith('ask') ? `${token}: yes, ${token}` : token;
      const end = client.call(tool, { token, ms }).then(
        (text) => ({ kind: 'answer', text }) as const,
        (error: unknown) => ({ kind: 'error', error: tellOf(error) }) as const,
      );
      const late = sleep(WATCHDOG_MS, { kind: 'lost' } as const, { ref: false });
      // What it has noticed before has nothing to do with this call.
      const before = client.complaints.length;
      const ended = await Promise.race([end, late]);
      const noticed = client.complaints.slice(before);
      return { client: kind, tool, token, answer, noticed, end: ended };
    });
    const ends = await Promise.all(calls);
    outcomes.push(...ends);
    if (ends.some(({ end }) => end.kind === 'error' && end.error.isSessionGone)) break;
    await sleep(random.upTo(40));
  }
  return outcomes;
}

/** Longer than the time that each client gives a call. */
const WATCHDOG_MS = 60_000;
/** An answer that no call waits for. */
const STRAY = /unknown message ID|request \d+ (had|was answered)/;
