import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { type CheckConversation, isAlive } from '../conversation/conversation.js';
import { openConversation } from '../conversation/open-conversation.js';
import type { Facts } from '../survey/facts.js';
import type { SurveyedEra } from '../survey/find-eras.js';
import { type WalkthroughOptions, walkThrough } from '../survey/walkthrough.js';
import type { CheckTarget, Pipe } from '../wire/targets.js';
import type { WireTranscript } from '../wire/transcript.js';
import type { CheckPatience } from './check-context.js';
import type { RunContext } from './prepare-context.js';
import type { ServerWatch } from './server-watch.js';

interface RunContextOptions {
  readonly target: CheckTarget;
  readonly clock: Clock;
  readonly patience: CheckPatience;
  readonly watch: ServerWatch;
  readonly seed: number;
  readonly fuzzRuns: number;
  readonly verdicts: readonly SurveyedEra[];
  /** A new conversation for each era that the target speaks. */
  readonly talks: readonly CheckConversation[];
  /** Surveys one era after the other. */
  readonly inTurn: boolean;
  readonly tour: WalkthroughOptions;
}

/** Surveys each era, and opens what all checks share. */
export async function openRunContext(
  options: RunContextOptions,
): Promise<RunContext & { close(): Promise<void> }> {
  const { target, clock, patience, talks } = options;
  const warm = createWarmConnections(target, 2);
  const transcripts = new Map<Era, WireTranscript[]>();
  const current = new Map<Era, CheckConversation>();
  const remember = (era: Era, transcript: WireTranscript) => {
    transcripts.set(era, [...(transcripts.get(era) ?? []), transcript]);
  };
  for (const talk of talks) {
    current.set(talk.era, talk);
    remember(talk.era, talk.transcript);
  }
  const facts = new Map((await surveyEras(options)).map((each) => [each.era, each]));

  const open = (era: Era) =>
    openConversation(target, {
      era,
      revision: facts.get(era)!.revision,
      clock,
      helloMs: patience.helloMs,
      answerMs: patience.answerMs,
      manners: options.tour.manners,
    });
  const rough = new Map(talks.map(({ era }) => [era, createAbuseConnection(era, open)]));

  return {
    ...options,
    manners: options.tour.manners,
    facts,
    transcripts: (era) => transcripts.get(era) ?? [],
    openPipe: warm.take,
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
        warm.close(),
        ...[...current.values()].map((talk) => talk.close()),
        ...[...rough.values()].map((talk) => talk.close()),
      ]);
    },
  };
}

async function surveyEras({ talks, tour, inTurn }: RunContextOptions): Promise<readonly Facts[]> {
  if (!inTurn) return Promise.all(talks.map((talk) => walkThrough(talk, tour)));
  const facts: Facts[] = [];
  for (const talk of talks) facts.push(await walkThrough(talk, tour));
  return facts;
}

/** Connections that are opened before they are needed, since programs take time to start. */
interface WarmConnections {
  take(): Promise<Pipe>;
  /** Closes them, and opens no more. */
  close(): Promise<void>;
}

function createWarmConnections(target: CheckTarget, count: number): WarmConnections {
  const ready: Promise<Pipe>[] = [];
  let isClosed = false;
  const open = (): Promise<Pipe> => {
    if (target.transport === 'http') return Promise.reject(new Error('a target at a URL has no stream'));
    return target.open();
  };
  const refill = () => {
    while (!isClosed && target.transport === 'command' && ready.length < count) {
      const pipe = open();
      // The check that takes it gets the error. Perhaps no check takes it.
      pipe.catch(() => {});
      ready.push(pipe);
    }
  };
  return {
    async take() {
      for (let next = ready.shift(); next; next = ready.shift()) {
        const pipe = await next;
        if (pipe.process?.isGone !== true) {
          refill();
          return pipe;
        }
        await pipe.close();
      }
      refill();
      return open();
    },
    async close() {
      isClosed = true;
      await Promise.all(ready.splice(0).map((next) => next.then((pipe) => pipe.close()).catch(() => {})));
    },
  };
}

/** The conversation of one era that gets all bad input, and the earlier ones. */
interface AbuseConnection {
  /** Returns the conversation; opens a new one when the last no longer answers. */
  get(): Promise<CheckConversation>;
  /** Closes the connection if more than one check has used it, so that the next use opens a new one. Returns whether it closed. */
  renew(): Promise<boolean>;
  close(): Promise<void>;
  readonly transcripts: readonly WireTranscript[];
}

function createAbuseConnection(era: Era, open: (era: Era) => Promise<CheckConversation>): AbuseConnection {
  const transcripts: WireTranscript[] = [];
  let current: CheckConversation | undefined;
  let users = 0;
  const close = async () => {
    const talk = current;
    users = 0;
    current = undefined;
    await talk?.close();
  };
  return {
    transcripts,
    close,
    async renew() {
      if (users <= 1) return false;
      await close();
      return true;
    },
    async get() {
      if (current && !(await isAlive(current))) await close();
      if (!current) {
        current = await open(era);
        transcripts.push(current.transcript);
      }
      users++;
      return current;
    },
  };
}
