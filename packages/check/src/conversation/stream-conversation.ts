import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { META } from '@isthmus/sdk/internal/era/meta-keys.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { StreamPeer } from '../wire/stream-peer.js';
import { type Frame, isAnswer, membersOf, paramsOf } from '../wire/transcript.js';
import {
  type AnswerServer,
  aliveMethod,
  answerRequests,
  type CheckConversation,
  type CheckRequestOptions,
  createKnownFaults,
  type KnownFaults,
  type Pending,
  patienceFor,
  type Reply,
  refuseAll,
  replyOf,
} from './conversation.js';
import { legacyParams, modernParams } from './envelope.js';

interface StreamConversationOptions {
  readonly peer: StreamPeer;
  readonly era: Era;
  readonly revision: string;
  readonly hello: JsonObject;
  /** How long an answer may take. */
  readonly answerMs: number;
  readonly clock: Clock;
  /** The first unused request id. */
  readonly nextId: number;
  readonly knownFaults?: KnownFaults;
}

/** A conversation on a stream of a known era. */
export function createStreamConversation(options: StreamConversationOptions): CheckConversation {
  const { peer, era, revision, hello, answerMs, clock, knownFaults = createKnownFaults() } = options;
  const underWay = new Set<RequestId>();
  const { transcript } = peer;
  let nextId = options.nextId;
  let isOpen = true;
  let answer: AnswerServer = refuseAll;
  void answerRequests(transcript, {
    isOver: () => !isOpen,
    answer: (request) => answer(request),
    send: (message) => peer.send(message),
  });

  function start(method: string, params: JsonObject = {}, given: CheckRequestOptions = {}): Pending {
    const id = given.id ?? nextId++;
    const began = clock.now();
    const from = transcript.frames.length;
    const all =
      era === 'modern' ? modernParams(params, revision, given) : legacyParams(orNone(params), given);
    peer.send({ jsonrpc: '2.0', id, method, ...(all && { params: all }) });
    const isOwn = ownNotifications(id, given.progressToken);
    const notifications = () =>
      transcript.frames.slice(from).filter((frame) => frame.from === 'server' && isOwn(frame));
    const ms = patienceFor(knownFaults, era, method, given.ms ?? answerMs);
    underWay.add(id);
    const answered = transcript.waitFor(
      (frame) => isAnswerTo(frame, id) || (isLoose(method, frame) && underWay.size === 1),
      ms,
      from,
    );
    void answered.then(() => underWay.delete(id));
    return {
      id,
      get notifications() {
        return notifications();
      },
      reply: answered.then((frame): Reply => {
        const about = { id, method, notifications: notifications(), ms: clock.now() - began };
        if (frame) return replyOf(frame, about);
        const why = transcript.hasEnded ? 'the connection ended' : `no answer within ${ms} ms`;
        return { kind: 'silence', why, ...about };
      }),
      waitFor: (match, ms = answerMs) =>
        transcript.waitFor((frame) => isOwn(frame) && match(frame), ms, from),
      async cancel(reason) {
        peer.send({
          jsonrpc: '2.0',
          method: 'notifications/cancelled',
          params: { requestId: id, ...(reason !== undefined && { reason }) },
        });
      },
    };
  }

  /**
   * An error without an id, from a server that is known to send such errors. It does not count as the answer to the
   * aliveness request: that one follows bad input, whose error comes first.
   */
  function isLoose(method: string, frame: Frame): boolean {
    if (!knownFaults.looseErrors.has(era) || method === aliveMethod({ era })) return false;
    return frame.kind === 'error' && frame.id === undefined;
  }

  return {
    era,
    revision,
    transcript,
    hello,
    capabilities: isJsonObject(hello['capabilities']) ? hello['capabilities'] : {},
    start,
    request: (method, params, given) => start(method, params, given).reply,
    async notify(method, params) {
      peer.send({ jsonrpc: '2.0', method, ...(params && { params }) });
    },
    answerWith(next) {
      answer = next;
    },
    hearsNews: Promise.resolve(true),
    peer,
    sessionId: undefined,
    get isOpen() {
      return isOpen && !peer.hasEnded;
    },
    async close() {
      isOpen = false;
      await peer.close();
    },
  };
}

function orNone(params: JsonObject): JsonObject | undefined {
  return Object.keys(params).length === 0 ? undefined : params;
}

/** An error without an id may belong to any request, so it is not an answer. */
function isAnswerTo(frame: Frame, id: RequestId): boolean {
  return isAnswer(frame) && membersOf(frame)['id'] === id;
}

/** Matches by progress token or subscription id. A notification without both may belong to any request. */
function ownNotifications(id: RequestId, token: RequestId | undefined): (frame: Frame) => boolean {
  return (frame) => {
    if (frame.kind !== 'notification') return false;
    const params = paramsOf(frame);
    if (frame.method === 'notifications/progress') return params['progressToken'] === token;
    const meta = params['_meta'];
    const subscription = isJsonObject(meta) ? meta[META.subscriptionId] : undefined;
    return subscription === undefined || subscription === id;
  };
}
