import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { LATEST_LEGACY, LATEST_MODERN } from '@isthmus/sdk/internal/era/revisions.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { CheckConversation, KnownFaults } from '../conversation/conversation.js';
import { openConversation } from '../conversation/open-conversation.js';
import type { WireLine } from '../model.js';
import { type Facts, hasCapability } from '../survey/facts.js';
import type { SurveyedEra } from '../survey/find-eras.js';
import type { TokenSet } from '../tokens/token-set.js';
import { excerptOf, KEPT } from '../wire/excerpt.js';
import { createHttpPeer } from '../wire/http-peer.js';
import { type StreamPeer, streamPeerOn } from '../wire/stream-peer.js';
import type { CheckTarget, Pipe } from '../wire/targets.js';
import type { WireTranscript } from '../wire/transcript.js';
import { type CheckContext, type CheckPatience, Failed, Skipped } from './check-context.js';
import { causeIn } from './failure-cause.js';
import type { ServerWatch } from './server-watch.js';

/** What all checks of a run share. */
export interface RunContext {
  readonly target: CheckTarget;
  readonly clock: Clock;
  readonly patience: CheckPatience;
  readonly seed: number;
  readonly fuzzRuns: number;
  readonly tokens: TokenSet;
  readonly verdicts: readonly SurveyedEra[];
  readonly facts: ReadonlyMap<Era, Facts>;
  /** The shared conversation of an era; a new one when the last has ended. */
  sharedConversation(era: Era): Promise<CheckConversation>;
  /** The conversation of an era for bad input; a new one when the last no longer answers. */
  abuseConversation(era: Era): Promise<CheckConversation>;
  /** Closes that conversation if more than one check has used it. Returns whether it did. */
  renewAbuseConnection(era: Era): Promise<boolean>;
  abuseTranscripts(era: Era): readonly WireTranscript[];
  /** Notices when the server is gone. */
  readonly watch: ServerWatch;
  /** What conversations work around. */
  readonly knownFaults: KnownFaults;
  /** A connection; perhaps one that was opened in advance. */
  openPipe(): Promise<Pipe>;
  transcripts(era: Era): readonly WireTranscript[];
}

interface PreparedContext {
  readonly context: CheckContext;
  /** The last lines of the connections of this check, within limits. */
  excerpt(): WireLine[];
  clear(): Promise<void>;
}

export function prepareContext(run: RunContext, era: Era): PreparedContext {
  const { target, clock, patience } = run;
  const facts = run.facts.get(era)!;
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
    const { goneAfter } = run.watch;
    if (goneAfter !== undefined) skip(`the server was gone after ${goneAfter}`);
  };
  const openStream = async (): Promise<StreamPeer> => {
    needServer();
    const peer = streamPeerOn(await run.openPipe(), clock, `${target.transport}, ${era}`);
    endings.push(() => peer.close());
    watch(peer.transcript);
    return peer;
  };

  const context: CheckContext = {
    target,
    era,
    revision: facts.revision,
    facts,
    factsOf: (other) => run.facts.get(other),
    verdicts: run.verdicts,
    clock,
    patience,
    seed: run.seed,
    fuzzRuns: run.fuzzRuns,
    tokens: run.tokens,
    async conversation() {
      needServer();
      const conversation = await run.sharedConversation(era);
      watch(conversation.transcript);
      return conversation;
    },
    async abuseConversation() {
      needServer();
      const conversation = await run.abuseConversation(era);
      watch(conversation.transcript);
      return conversation;
    },
    async openConversation(options = {}) {
      needServer();
      const asked = options.era ?? era;
      const conversation = await openConversation(target, {
        era: asked,
        revision:
          options.revision ??
          run.facts.get(asked)?.revision ??
          (asked === 'modern' ? LATEST_MODERN : LATEST_LEGACY),
        clock,
        helloMs: patience.helloMs,
        answerMs: patience.answerMs,
        knownFaults: run.knownFaults,
        ...(options.capabilities && { capabilities: options.capabilities }),
        ...(target.transport !== 'http' && { openStream }),
      });
      if (target.transport === 'http') watch(conversation.transcript);
      endings.push(() => conversation.close());
      return conversation;
    },
    openStream,
    openHttp({ sse = false } = {}) {
      needServer();
      if (facts.isSse && !sse)
        return skip('the target speaks HTTP with SSE (2024-11-05), not Streamable HTTP');
      if (target.transport !== 'http') return skip('the target is not a URL');
      const peer = createHttpPeer(target, clock, `http, ${era}`);
      watch(peer.transcript);
      endings.push(() => peer.close());
      return peer;
    },
    get transcripts() {
      return run.transcripts(era);
    },
    get abuseTranscripts() {
      return run.abuseTranscripts(era);
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
      return fail(`${what} had no result: ${seen}`, 'a result', causeIn(reply));
    },
    // When this process was busy, timers fire late, and before the input that has arrived in the meantime.
    pause: (ms) =>
      new Promise((resolve) => void clock.after(ms, () => setImmediate(() => setImmediate(resolve)))),
    atEnd: (action) => void endings.push(action),
  };

  return {
    context,
    excerpt: () => linesOf(opened),
    async clear() {
      for (const ending of endings.reverse()) {
        try {
          await ending();
        } catch {
          // A failure to close does not change the outcome.
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
