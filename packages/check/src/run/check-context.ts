import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Reply } from '../conversation/conversation.js';
import type { WireLine } from '../model.js';
import type { CallableTool, Facts } from '../survey/facts.js';
import type { SurveyedEra } from '../survey/find-eras.js';
import type { HttpPeer } from '../wire/http-peer.js';
import type { StreamPeer } from '../wire/stream-peer.js';
import type { CheckTarget } from '../wire/targets.js';
import type { WireTranscript } from '../wire/transcript.js';

/** What a check finds on the table: the target, what is known of it, and the means to talk to it. */
export interface CheckContext {
  readonly target: CheckTarget;
  /** The era that this run of the check is about. For checks of `era: 'none'`, one that the target speaks. */
  readonly era: Era;
  readonly revision: string;
  readonly facts: Facts;
  /** What is known in the other era; undefined where the target does not speak it. */
  factsOf(era: Era): Facts | undefined;
  /** How the target took the greeting of each era that was tried. */
  readonly verdicts: readonly SurveyedEra[];
  readonly clock: Clock;
  readonly patience: CheckPatience;
  readonly seed: number;
  /** How many inputs a check that makes them up may try. */
  readonly fuzzRuns: number;

  /** The polite conversation that all checks of lane `shared` have in common, in this era. */
  talk(): Promise<CheckConversation>;
  /** The conversation that all checks of lane `rough` have in common: a new one where the last is not well. */
  roughTalk(): Promise<CheckConversation>;
  /** One of its own. Closed at the end of the check. */
  openTalk(options?: OpenOptions): Promise<CheckConversation>;
  /** A stream without any greeting (commands and sockets only). Closed at the end of the check. */
  openStream(): Promise<StreamPeer>;
  /** Bare requests (HTTP only; over HTTP with SSE only for whoever knows it). Closed at the end of the check. */
  openHttp(options?: { readonly sse?: boolean }): HttpPeer;
  /** Everything that was said in polite conversations of this era, so far. For checks of lane `after`. */
  readonly transcripts: readonly WireTranscript[];
  /** The same of the conversations of lane `rough`, where servers were told what they may not bear. */
  readonly roughTranscripts: readonly WireTranscript[];

  /** Skips unless the server announced it: `tools`, `resources.subscribe`. */
  needCapability(path: string): void;
  /** A tool that may be called, the first that fits; skips where there is none, and says why. */
  needTool(fits?: (tool: CallableTool) => boolean, what?: string): CallableTool;
  /** Skips: there is nothing to judge. */
  skip(why: string): never;
  /** Skips: what was seen may have more than one reason, such as a busy machine. */
  undecided(why: string): never;
  /** Does not hold: what was seen, what was expected; a sentence each. */
  fail(seen: string, expected: string, more?: FailureDetails): never;
  /** Fails unless it is a result, and gives it. */
  needResult(reply: Reply, what: string): JsonObject;
  /** Waits. Only where the point is that nothing happens meanwhile. */
  pause(ms: number): Promise<void>;
  /** Called at the end of the check, whatever came of it. */
  atEnd(action: () => unknown): void;
}

export interface OpenOptions {
  readonly era?: Era;
  readonly revision?: string;
  readonly capabilities?: JsonObject;
}

/** How long to wait for what. */
export interface CheckPatience {
  /** A greeting: the server may have to start first. */
  readonly helloMs: number;
  /** An answer. */
  readonly answerMs: number;
  /** Nothing at all: how long silence has to last to be believed. */
  readonly quietMs: number;
  /** A whole check. */
  readonly checkMs: number;
}

/** What leaves a check that did not hold. */
export class Failed extends Error {
  override readonly name = 'Failed';
  readonly seen: string;
  readonly expected: string;
  readonly wire: readonly WireLine[] | undefined;
  readonly input: string | undefined;

  constructor(seen: string, expected: string, more: FailureDetails = {}) {
    super(`${seen}; expected: ${expected}`);
    this.seen = seen;
    this.expected = expected;
    this.wire = more.wire;
    this.input = more.input;
  }
}

interface FailureDetails {
  /** Where the last lines of the connections of the check do not show it. */
  readonly wire?: readonly WireLine[];
  /** The smallest input that fails. */
  readonly input?: string;
}

/** What leaves a check that has nothing to judge. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}
