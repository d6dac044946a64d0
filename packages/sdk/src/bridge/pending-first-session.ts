import { type Clock, within } from '../async/clock.js';
import { createDeferred } from '../async/deferred.js';
import type { UpstreamTenant } from '../client/connect.js';
import type { ReconnectingCaller } from '../client/reconnecting-caller.js';
import { type Answers, answerQuestion } from '../era/answers.js';
import { readInitialize, usableCapabilities } from '../era/legacy/handshake.js';
import { readEnvelope } from '../era/modern/envelope.js';
import type { EarlyMessage, ForeignNotification, Peer } from '../exchange/call.js';
import type { ClientCapabilities, LogEntry } from '../wire/model.js';
import { answersBy } from './keep-session.js';

/** The sender of a request that no dialect has read yet. Undefined: the request is not valid. */
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
 * The tenant of the session in which a bridge learns what its upstream is. Where each client has its own process or
 * session, the first client takes this session over, so that no process is started only for that. Until then, questions,
 * logs and notifications of the server wait for the client.
 */
export class PendingFirstSession {
  readonly answers: Answers;
  readonly onLog: (entry: LogEntry) => void;
  readonly onElicited: (elicitationId: string) => void;
  readonly onNotification: (notification: ForeignNotification) => void;
  readonly #taken = createDeferred<UpstreamTenant>();

  constructor(clock: Clock, capabilities: ClientCapabilities) {
    this.answers = answersBy(capabilities, async (request, signal) => {
      await within(clock, CLIENT_WAIT_MS, this.#taken.promise);
      const { answers } = await Promise.race([this.#taken.promise, NO_CLIENT]);
      return answerQuestion(answers, request, signal);
    });
    this.onElicited = (id) => void this.#taken.promise.then(({ onElicited }) => onElicited?.(id));
    this.onNotification = (notification) =>
      void this.#taken.promise.then(({ onNotification }) => onNotification?.(notification));
    this.onLog = (entry) => void this.#taken.promise.then(({ onLog }) => onLog?.(entry));
  }

  take(client: UpstreamTenant): void {
    this.#taken.resolve(client);
  }
}

/** An open session that waits for its client. */
export interface OfferedSession {
  readonly caller: ReconnectingCaller;
  readonly pending: PendingFirstSession;
  /** The `sessionKey` that it was opened with. */
  readonly key: string;
}

/** Used when no client has taken the session. */
const NO_CLIENT: Promise<UpstreamTenant> = Promise.resolve({
  answers: {},
  onLog: undefined,
  onElicited: undefined,
  onNotification: undefined,
});
/** How long a question waits for the client. */
const CLIENT_WAIT_MS = 2000;
