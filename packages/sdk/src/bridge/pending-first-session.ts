import { type Clock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import type { UpstreamTenant } from '../client/connect.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { type Answers, answerQuestion } from '../era/answers.js';
import { readInitialize, usableCapabilities } from '../era/legacy/handshake.js';
import { readEnvelope } from '../era/modern/envelope.js';
import type { EarlyMessage, Peer } from '../exchange/call.js';
import type { ClientCapabilities, LogEntry } from '../wire/model.js';
import { answersBy } from './keep-session.js';

/** Who sends a request, before it has been looked at; undefined when it does not say so properly. */
export function peerOf({ method, params }: EarlyMessage, principal: string | undefined): Peer | undefined {
  if (method !== 'initialize') {
    const envelope = readEnvelope(params, principal);
    return envelope.kind === 'valid' ? envelope.peer : undefined;
  }
  const handshake = readInitialize(params);
  if ('code' in handshake) return undefined;
  const { revision, info } = handshake;
  const capabilities = usableCapabilities(handshake.capabilities, revision);
  return { era: 'legacy', revision, info, capabilities, principal };
}

/**
 * The session in which it is found out what the server is. Where each client has a process or a session of its
 * own, it is that of the first client: nothing is started only to be looked at. What the server asks or says before
 * that client has taken its seat waits for it.
 */
export class PendingFirstSession {
  readonly answers: Answers;
  readonly onLog: (entry: LogEntry) => void;
  readonly onElicited: (elicitationId: string) => void;
  readonly #taken = createDeferred<UpstreamTenant>();

  constructor(clock: Clock, capabilities: ClientCapabilities) {
    this.answers = answersBy(capabilities, async (request, signal) => {
      await within(clock, PATIENCE_MS, this.#taken.promise);
      const { answers } = await Promise.race([this.#taken.promise, NOBODY]);
      return answerQuestion(answers, request, signal);
    });
    this.onElicited = (id) => void this.#taken.promise.then(({ onElicited }) => onElicited?.(id));
    this.onLog = (entry) => void this.#taken.promise.then(({ onLog }) => onLog?.(entry));
  }

  take(given: UpstreamTenant): void {
    this.#taken.resolve(given);
  }
}

/** A session that waits for its client. */
export interface OfferedSession {
  readonly session: ReconnectingCaller;
  readonly seat: PendingFirstSession;
  /** What it was opened with. */
  readonly told: string;
}

/** No client has come. */
const NOBODY: Promise<UpstreamTenant> = Promise.resolve({
  answers: {},
  onLog: undefined,
  onElicited: undefined,
});
/** How long a question waits for the client. */
const PATIENCE_MS = 2000;
