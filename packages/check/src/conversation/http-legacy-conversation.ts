import type { Clock } from '@isthmus/sdk/internal/async/clock.js';
import { isJsonObject, type JsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { HttpPeer, PeerHttpAnswer } from '../wire/http-peer.js';
import { type Frame, isAnswer, membersOf, paramsOf } from '../wire/transcript.js';
import {
  type AnswerServer,
  answerRequests,
  type CheckConversation,
  type CheckRequestOptions,
  type Pending,
  patienceFor,
  type Reply,
  refuseAll,
  replyOf,
  silenceOf,
} from './conversation.js';
import { legacyParams } from './envelope.js';
import type { HttpConversationOptions } from './http-modern-conversation.js';

/** A legacy session over Streamable HTTP: its POSTs, and a GET stream if the server offers one. */
export function createHttpLegacyConversation(
  options: HttpConversationOptions & { readonly sessionId: string | undefined },
): CheckConversation {
  const { peer, revision, hello, answerMs, clock, sessionId, knownFaults } = options;
  const { transcript } = peer;
  const open = new Set<PeerHttpAnswer>();
  let nextId = 2;
  let isOpen = true;
  let answer: AnswerServer = refuseAll;
  const headers = legacyHeaders(revision, sessionId);
  const standing = openStanding();
  void answerRequests(transcript, {
    isOver: () => !isOpen,
    answer: (request) => answer(request),
    send: async (body) => {
      await (await peer.request({ body, headers, ms: answerMs })).whole(answerMs);
    },
  });

  function keep(http: PeerHttpAnswer): PeerHttpAnswer {
    open.add(http);
    void http.ended.then(() => open.delete(http));
    return http;
  }

  async function openStanding(): Promise<boolean> {
    try {
      const http = await peer.request({
        method: 'GET',
        headers: { ...headers, accept: 'text/event-stream', 'content-type': undefined },
        ms: answerMs,
      });
      const isStanding = http.status === 200 && http.isStream && isOpen;
      if (isStanding) keep(http);
      else http.close();
      return isStanding;
    } catch {
      // Some servers send no headers before the first event. They count as servers without a GET stream.
      return false;
    }
  }

  function start(method: string, params: JsonObject = {}, given: CheckRequestOptions = {}): Pending {
    const id = given.id ?? nextId++;
    const began = clock.now();
    const ms = patienceFor(knownFaults, 'legacy', method, given.ms ?? answerMs);
    const from = transcript.frames.length;
    const all = legacyParams(Object.keys(params).length === 0 ? undefined : params, given);
    const body = { jsonrpc: '2.0', id, method, ...(all && { params: all }) };
    const sent = peer.request({ body, headers: { ...headers, ...given.headers }, ms }).then(keep);
    const isOwn = ownNotifications(given.progressToken);
    const notifications = () =>
      transcript.frames.slice(from).filter((frame) => frame.from === 'server' && isOwn(frame));
    const reply = sent.then(
      async (http): Promise<Reply> => {
        const rest = Math.max(1, ms - (clock.now() - began));
        const isWanted = (each: Frame) => isAnswerTo(each, id) || isBodyError(http, each);
        const frame =
          // The response on the stream of a POST is its answer, whatever id it has.
          (await http.waitFor(isAnswer, rest)) ??
          (await fetchRest(http, isWanted, { peer, clock, headers, until: began + ms, onStream: keep }));
        const about = { id, method, notifications: notifications(), ms: clock.now() - began, http };
        if (frame) return { ...replyOf(frame, about), http };
        const why = http.isStream
          ? `HTTP ${http.status}, and the stream has no answer`
          : `HTTP ${http.status} without an answer`;
        return { kind: 'silence', why, ...about };
      },
      (error): Reply => silenceOf(error, { id, method, ms: clock.now() - began }),
    );
    return {
      id,
      reply,
      get notifications() {
        return notifications();
      },
      waitFor: (match, wait = answerMs) =>
        transcript.waitFor((frame) => isOwn(frame) && match(frame), wait, from),
      async cancel(reason) {
        await notify('notifications/cancelled', {
          requestId: id,
          ...(reason !== undefined && { reason }),
        });
      },
    };
  }

  async function notify(method: string, params?: JsonObject): Promise<void> {
    const body = { jsonrpc: '2.0', method, ...(params && { params }) };
    const http = await peer.request({ body, headers, ms: answerMs });
    await http.whole(answerMs);
  }

  return {
    era: 'legacy',
    revision,
    transcript,
    hello,
    capabilities: isJsonObject(hello['capabilities']) ? hello['capabilities'] : {},
    start,
    request: (method, params, given) => start(method, params, given).reply,
    notify,
    answerWith(next) {
      answer = next;
    },
    hearsNews: standing,
    peer: undefined,
    sessionId,
    get isOpen() {
      return isOpen;
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      if (sessionId !== undefined) {
        await peer
          .request({ method: 'DELETE', headers: { ...headers, 'content-type': undefined }, ms: 1000 })
          .then((http) => http.close())
          .catch(() => {});
      }
      for (const http of open) http.close();
      peer.close();
      await standing;
    },
  };
}

/** The headers of every request of a session. `initialize` has no revision and no session id yet. */
export function legacyHeaders(
  revision: string | undefined,
  sessionId: string | undefined,
): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(revision !== undefined && revision >= '2025-06-18' && { 'mcp-protocol-version': revision }),
    ...(sessionId !== undefined && { 'mcp-session-id': sessionId }),
  };
}

function isAnswerTo(frame: Frame, id: RequestId): boolean {
  return isAnswer(frame) && membersOf(frame)['id'] === id;
}

/** A refusal of the whole POST may have no id. */
function isBodyError(http: PeerHttpAnswer, frame: Frame): boolean {
  return !http.isStream && frame.kind === 'error';
}

function ownNotifications(token: RequestId | undefined): (frame: Frame) => boolean {
  return (frame) => {
    if (frame.kind !== 'notification') return false;
    return frame.method !== 'notifications/progress' || paramsOf(frame)['progressToken'] === token;
  };
}

interface RestOptions {
  readonly peer: HttpPeer;
  readonly clock: Clock;
  /** The headers of every request of the session. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time at which to give up, by `clock`. */
  readonly until: number;
  /** Called with every stream that is opened. */
  readonly onStream?: (http: PeerHttpAnswer) => void;
}

/**
 * Resumes a legacy stream that ended before its response: repeats GET with Last-Event-ID, after the `retry` time, until
 * the wanted frame comes (LHTTP-012, LHTTP-014).
 */
export async function fetchRest(
  first: PeerHttpAnswer,
  isWanted: (frame: Frame) => boolean,
  { peer, clock, headers, until, onStream }: RestOptions,
): Promise<Frame | undefined> {
  let lastEventId: string | undefined;
  for (let http = first; http.status === 200 && http.isStream; ) {
    lastEventId = http.events.findLast((event) => event.id !== undefined)?.id ?? lastEventId;
    const waitMs = http.retries.at(-1) ?? LEAST_RETRY_MS;
    if (lastEventId === undefined || clock.now() + waitMs >= until) return undefined;
    await new Promise<void>((resolve) => clock.after(waitMs, resolve));
    const asked = peer.request({
      method: 'GET',
      headers: {
        ...headers,
        accept: 'text/event-stream',
        'content-type': undefined,
        'last-event-id': lastEventId,
      },
      ms: Math.max(1, until - clock.now()),
    });
    // The server cannot be reached, so there is nothing to resume.
    const resumed = await asked.catch(() => undefined);
    if (!resumed) return undefined;
    http = resumed;
    onStream?.(http);
    const frame = await http.waitFor(isWanted, Math.max(1, until - clock.now()));
    if (frame) return frame;
  }
  return undefined;
}

const LEAST_RETRY_MS = 50;
