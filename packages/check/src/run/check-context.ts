import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CheckConversation, Reply } from '../conversation/conversation.js';
import type { WireLine } from '../model.js';
import type { CallableTool, Facts } from '../survey/facts.js';
import type { SurveyedEra } from '../survey/find-eras.js';
import type { TokenSet } from '../tokens/token-set.js';
import type { HttpPeer } from '../wire/http-peer.js';
import type { StreamPeer } from '../wire/stream-peer.js';
import type { CheckTarget } from '../wire/targets.js';
import type { WireTranscript } from '../wire/transcript.js';
import type { FailureCause } from './failure-cause.js';

/** What a check works with: the target, the facts about it, and the means to talk to it. */
export interface CheckContext {
  readonly target: CheckTarget;
  /** The era that this run of the check is about. For checks of `era: 'none'`, one that the target speaks. */
  readonly era: Era;
  readonly revision: string;
  readonly facts: Facts;
  /** The facts of another era; undefined if the target does not speak it. */
  factsOf(era: Era): Facts | undefined;
  /** How the target answered the first request of each era that was tried. */
  readonly verdicts: readonly SurveyedEra[];
  readonly clock: Clock;
  readonly patience: CheckPatience;
  readonly seed: number;
  /** How many generated inputs a fuzzing check tries. */
  readonly fuzzRuns: number;
  /** For checks of resource servers. */
  readonly tokens: TokenSet;

  /** The conversation that all checks of lane `shared` use in this era. Valid messages only. */
  conversation(): Promise<CheckConversation>;
  /** The conversation that all checks of lane `abuse` use. A new one when the last no longer answers. */
  abuseConversation(): Promise<CheckConversation>;
  /** A new conversation. Closed at the end of the check. */
  openConversation(options?: OpenOptions): Promise<CheckConversation>;
  /** A stream without a handshake (commands and sockets only). Closed at the end of the check. */
  openStream(): Promise<StreamPeer>;
  /** Bare requests (HTTP only; `sse` for checks of HTTP with SSE). Closed at the end of the check. */
  openHttp(options?: { readonly sse?: boolean }): HttpPeer;
  /** The transcripts of the shared conversations of this era. For checks of lane `after`. */
  readonly transcripts: readonly WireTranscript[];
  /** The transcripts of the conversations of lane `abuse`, in which the server got bad input. */
  readonly abuseTranscripts: readonly WireTranscript[];

  /** Skips unless the server declared the capability: `tools`, `resources.subscribe`. */
  needCapability(path: string): void;
  /** The first tool that fits and may be called. Skips, with the reason, if there is none. */
  needTool(fits?: (tool: CallableTool) => boolean, what?: string): CallableTool;
  /** Skips: the check does not apply. */
  skip(why: string): never;
  /** Skips: what was seen may have another cause, such as a busy machine. */
  undecided(why: string): never;
  /** Fails: what was seen and what was expected, a sentence each. */
  fail(seen: string, expected: string, more?: FailureDetails): never;
  /** Returns the result; fails if the reply is not a result. */
  needResult(reply: Reply, what: string): JsonObject;
  /** Waits. Use it only to check that nothing happens in that time. */
  pause(ms: number): Promise<void>;
  /** Runs `action` at the end of the check, whatever its outcome. */
  atEnd(action: () => unknown): void;
}

export interface OpenOptions {
  readonly era?: Era;
  readonly revision?: string;
  readonly capabilities?: JsonObject;
}

/** How long to wait for what. */
export interface CheckPatience {
  /** The first answer: the server may have to start first. */
  readonly helloMs: number;
  /** An answer. */
  readonly answerMs: number;
  /** How long silence must last to count as no answer. */
  readonly quietMs: number;
  /** A whole check. */
  readonly checkMs: number;
}

/** Thrown by a check that fails. */
export class Failed extends Error {
  override readonly name = 'Failed';
  readonly seen: string;
  readonly expected: string;
  readonly wire: readonly WireLine[] | undefined;
  readonly input: string | undefined;
  readonly failureCause: FailureCause | undefined;

  constructor(seen: string, expected: string, more: FailureDetails = {}) {
    super(`${seen}; expected: ${expected}`);
    this.seen = seen;
    this.expected = expected;
    this.wire = more.wire;
    this.input = more.input;
    this.failureCause = more.cause;
  }
}

interface FailureDetails {
  /** Lines to show instead of the last lines of the connections of the check. */
  readonly wire?: readonly WireLine[];
  /** The smallest input that fails. */
  readonly input?: string;
  /** Findings are grouped by it, since one fault of a server may fail many checks. */
  readonly cause?: FailureCause;
}

/** Thrown by a check that does not apply. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}
