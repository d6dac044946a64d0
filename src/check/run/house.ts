import type { Clock } from '../../async/clock.js';
import type { Era } from '../../exchange/call.js';
import type { Facts } from '../survey/facts.js';
import type { EraVerdict } from '../survey/find-eras.js';
import { type TourOptions, takeTour } from '../survey/tour.js';
import { openTalk } from '../talk/open-talk.js';
import type { Talk } from '../talk/talk.js';
import type { Target } from '../wire/target.js';
import type { Transcript } from '../wire/transcript.js';
import { createRoughTalk } from './rough-talk.js';
import type { ServerWatch } from './server-watch.js';
import type { House } from './set-table.js';
import { createSpares } from './spares.js';
import type { Patience } from './table.js';

export interface HouseOptions {
  readonly target: Target;
  readonly clock: Clock;
  readonly patience: Patience;
  readonly watch: ServerWatch;
  readonly seed: number;
  readonly fuzzRuns: number;
  readonly verdicts: readonly EraVerdict[];
  /** One of each era that the target speaks, just opened. */
  readonly talks: readonly Talk[];
  /** Looks around in one after the other. */
  readonly inTurn: boolean;
  readonly tour: TourOptions;
}

/** Takes a look around in each era, and keeps what all checks share. */
export async function openHouse(options: HouseOptions): Promise<House & { close(): Promise<void> }> {
  const { target, clock, patience, talks } = options;
  const spares = createSpares(target, 2);
  const transcripts = new Map<Era, Transcript[]>();
  const current = new Map<Era, Talk>();
  const remember = (era: Era, transcript: Transcript) => {
    transcripts.set(era, [...(transcripts.get(era) ?? []), transcript]);
  };
  for (const talk of talks) {
    current.set(talk.era, talk);
    remember(talk.era, talk.transcript);
  }
  const facts = new Map((await lookAround(options)).map((each) => [each.era, each]));

  const open = (era: Era) =>
    openTalk(target, {
      era,
      revision: facts.get(era)!.revision,
      clock,
      helloMs: patience.helloMs,
      answerMs: patience.answerMs,
      manners: options.tour.manners,
    });
  const rough = new Map(talks.map(({ era }) => [era, createRoughTalk(era, open)]));

  return {
    ...options,
    manners: options.tour.manners,
    facts,
    transcripts: (era) => transcripts.get(era) ?? [],
    openPipe: spares.take,
    async sharedTalk(era) {
      const before = current.get(era);
      if (before?.isOpen) return before;
      await before?.close();
      const talk = await open(era);
      current.set(era, talk);
      remember(era, talk.transcript);
      return talk;
    },
    roughTalk: (era) => rough.get(era)!.get(),
    renewRoughTalk: (era) => rough.get(era)!.renew(),
    roughTranscripts: (era) => rough.get(era)!.transcripts,
    async close() {
      await Promise.all([
        spares.close(),
        ...[...current.values()].map((talk) => talk.close()),
        ...[...rough.values()].map((talk) => talk.close()),
      ]);
    },
  };
}

async function lookAround({ talks, tour, inTurn }: HouseOptions): Promise<readonly Facts[]> {
  if (!inTurn) return Promise.all(talks.map((talk) => takeTour(talk, tour)));
  const facts: Facts[] = [];
  for (const talk of talks) facts.push(await takeTour(talk, tour));
  return facts;
}
