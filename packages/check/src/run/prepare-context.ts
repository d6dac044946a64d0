import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { LATEST_LEGACY, LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { CheckConversation, RequestDefaults } from '../conversation/conversation.js';
import { openConversation } from '../conversation/open-conversation.js';
import type { WireLine } from '../model.js';
import { type Facts, hasCapability } from '../survey/facts.js';
import type { SurveyedEra } from '../survey/find-eras.js';
import { excerptOf, KEPT } from '../wire/excerpt.js';
import { createHttpPeer } from '../wire/http-peer.js';
import { type StreamPeer, streamPeerOn } from '../wire/stream-peer.js';
import type { CheckTarget, Pipe } from '../wire/targets.js';
import type { WireTranscript } from '../wire/transcript.js';
import { type CheckContext, type CheckPatience, Failed, Skipped } from './check-context.js';
import type { ServerWatch } from './server-watch.js';

/** What all tables of a run have in common. */
export interface RunContext {
  readonly target: CheckTarget;
  readonly clock: Clock;
  readonly patience: CheckPatience;
  readonly seed: number;
  readonly fuzzRuns: number;
  readonly verdicts: readonly SurveyedEra[];
  readonly facts: ReadonlyMap<Era, Facts>;
  /** The common conversation of an era; a new one where the last has ended. */
  sharedTalk(era: Era): Promise<CheckConversation>;
  /** The conversation of an era that bears the rough treatment; a new one where the last is not well. */
  roughTalk(era: Era): Promise<CheckConversation>;
  /** Makes room for a new one, unless it had borne nothing before the check that has just ended; says which. */
  renewRoughTalk(era: Era): Promise<boolean>;
  roughTranscripts(era: Era): readonly WireTranscript[];
  /** Knows whether it is still there. */
  readonly watch: ServerWatch;
  /** What is known to spoil conversations with it. */
  readonly manners: RequestDefaults;
  /** A connection, perhaps one that was opened before it was needed. */
  openPipe(): Promise<Pipe>;
  transcripts(era: Era): readonly WireTranscript[];
}

interface PreparedContext {
  readonly table: CheckContext;
  /** What was said on the connections of this check, within limits. */
  excerpt(): WireLine[];
  clear(): Promise<void>;
}

export function prepareContext(house: RunContext, era: Era): PreparedContext {
  const { target, clock, patience } = house;
  const facts = house.facts.get(era)!;
  const opened: { readonly transcript: WireTranscript; readonly from: number }[] = [];
  const endings: (() => unknown)[] = [];
  const watched = new Set<WireTranscript>();
  const watch = (transcript: WireTranscript) => {
    if (watched.has(transcript)) return;
    watched.add(transcript);
    opened.push({ transcript, from: transcript.lines.length });
  };
  const skip = (why: string): never => {
    throw new Skipped(why);
  };
  const fail: CheckContext['fail'] = (seen, expected, more) => {
    throw new Failed(seen, expected, more);
  };
  const needServer = () => {
    const { goneAfter } = house.watch;
    if (goneAfter !== undefined) skip(`the server was gone after ${goneAfter}`);
  };
  const openStream = async (): Promise<StreamPeer> => {
    needServer();
    const peer = streamPeerOn(await house.openPipe(), clock, `${target.transport}, ${era}`);
    endings.push(() => peer.close());
    watch(peer.transcript);
    return peer;
  };

  const table: CheckContext = {
    target,
    era,
    revision: facts.revision,
    facts,
    factsOf: (other) => house.facts.get(other),
    verdicts: house.verdicts,
    clock,
    patience,
    seed: house.seed,
    fuzzRuns: house.fuzzRuns,
    async talk() {
      needServer();
      const talk = await house.sharedTalk(era);
      watch(talk.transcript);
      return talk;
    },
    async roughTalk() {
      needServer();
      const talk = await house.roughTalk(era);
      watch(talk.transcript);
      return talk;
    },
    async openTalk(options = {}) {
      needServer();
      const asked = options.era ?? era;
      const talk = await openConversation(target, {
        era: asked,
        revision:
          options.revision ??
          house.facts.get(asked)?.revision ??
          (asked === 'modern' ? LATEST_MODERN : LATEST_LEGACY),
        clock,
        helloMs: patience.helloMs,
        answerMs: patience.answerMs,
        manners: house.manners,
        ...(options.capabilities && { capabilities: options.capabilities }),
        ...(target.transport !== 'http' && { openStream }),
      });
      if (target.transport === 'http') watch(talk.transcript);
      endings.push(() => talk.close());
      return talk;
    },
    openStream,
    openHttp({ sse = false } = {}) {
      needServer();
      if (facts.isSse && !sse)
        return skip('the target speaks HTTP with SSE (2024-11-05), not Streamable HTTP');
      if (target.transport !== 'http') return skip('the target is not at a URL');
      const peer = createHttpPeer(target, clock, `http, ${era}`);
      watch(peer.transcript);
      endings.push(() => peer.close());
      return peer;
    },
    get transcripts() {
      return house.transcripts(era);
    },
    get roughTranscripts() {
      return house.roughTranscripts(era);
    },
    needCapability(path) {
      if (!hasCapability(facts.capabilities, path)) skip(`the server does not announce ${path}`);
    },
    needTool(fits = () => true, what = 'that can be called') {
      return facts.callable.find(fits) ?? skip(noTool(facts, what));
    },
    skip,
    undecided: (why) => skip(`undecided: ${why}`),
    fail,
    needResult(reply, what) {
      if (reply.kind === 'result') return reply.result;
      const seen = reply.kind === 'silence' ? reply.why : `error ${reply.error.code}: ${reply.error.message}`;
      return fail(`${what} had no result: ${seen}`, 'a result');
    },
    // When this process was kept busy, timers are late, and come before what has arrived meanwhile.
    pause: (ms) =>
      new Promise((resolve) => void clock.after(ms, () => setImmediate(() => setImmediate(resolve)))),
    atEnd: (action) => void endings.push(action),
  };

  return {
    table,
    excerpt: () => linesOf(opened),
    async clear() {
      for (const ending of endings.reverse()) {
        try {
          await ending();
        } catch {
          // What is being put away cannot change the verdict.
        }
      }
    },
  };
}

function linesOf(
  opened: readonly { readonly transcript: WireTranscript; readonly from: number }[],
): WireLine[] {
  return excerptOf(
    opened.flatMap(({ transcript, from }) => transcript.lines.slice(from)),
    KEPT,
  );
}

function noTool({ tools, objections }: Facts, what: string): string {
  if (tools.length === 0) return 'the server has no tools';
  const why = objections[0] === undefined ? '' : `: ${objections[0]}`;
  return `there is no tool ${what}${objections.length > 0 ? ` (${objections.length} of ${tools.length} are not called${why})` : ''}`;
}
