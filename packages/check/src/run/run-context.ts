import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { type CheckConversation, isAlive } from '../conversation/conversation.js';
import { openConversation } from '../conversation/open-conversation.js';
import type { Facts } from '../survey/facts.js';
import type { SurveyedEra } from '../survey/find-eras.js';
import { type WalkthroughOptions, walkThrough } from '../survey/walkthrough.js';
import type { TokenSet } from '../tokens/token-set.js';
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
  readonly tokens: TokenSet;
  readonly verdicts: readonly SurveyedEra[];
  /** A new conversation for each era that the target speaks. */
  readonly conversations: readonly CheckConversation[];
  /** Surveys one era after the other. */
  readonly inTurn: boolean;
  readonly walkthrough: WalkthroughOptions;
}

/** Surveys each era, and opens what all checks share. */
export async function openRunContext(
  options: RunContextOptions,
): Promise<RunContext & { close(): Promise<void> }> {
  const { target, clock, patience, conversations } = options;
  const warm = createWarmConnections(target, 2);
  const transcripts = new Map<Era, WireTranscript[]>();
  const current = new Map<Era, CheckConversation>();
  const remember = (era: Era, transcript: WireTranscript) => {
    transcripts.set(era, [...(transcripts.get(era) ?? []), transcript]);
  };
  for (const conversation of conversations) {
    current.set(conversation.era, conversation);
    remember(conversation.era, conversation.transcript);
  }
  const facts = new Map((await surveyEras(options)).map((each) => [each.era, each]));

  const open = (era: Era) =>
    openConversation(target, {
      era,
      revision: facts.get(era)!.revision,
      clock,
      helloMs: patience.helloMs,
      answerMs: patience.answerMs,
      knownFaults: options.walkthrough.knownFaults,
    });
  const abuse = new Map(conversations.map(({ era }) => [era, createAbuseConnection(era, open)]));

  return {
    ...options,
    knownFaults: options.walkthrough.knownFaults,
    facts,
    transcripts: (era) => transcripts.get(era) ?? [],
    openPipe: warm.take,
    async sharedConversation(era) {
      const before = current.get(era);
      if (before?.isOpen) return before;
      await before?.close();
      const conversation = await open(era);
      current.set(era, conversation);
      remember(era, conversation.transcript);
      return conversation;
    },
    abuseConversation: (era) => abuse.get(era)!.get(),
    renewAbuseConnection: (era) => abuse.get(era)!.renew(),
    abuseTranscripts: (era) => abuse.get(era)!.transcripts,
    async close() {
      await Promise.all([
        warm.close(),
        ...[...current.values()].map((conversation) => conversation.close()),
        ...[...abuse.values()].map((connection) => connection.close()),
      ]);
    },
  };
}

async function surveyEras({
  conversations,
  walkthrough,
  inTurn,
}: RunContextOptions): Promise<readonly Facts[]> {
  if (!inTurn)
    return Promise.all(conversations.map((conversation) => walkThrough(conversation, walkthrough)));
  const facts: Facts[] = [];
  for (const conversation of conversations) facts.push(await walkThrough(conversation, walkthrough));
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
    const conversation = current;
    users = 0;
    current = undefined;
    await conversation?.close();
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
