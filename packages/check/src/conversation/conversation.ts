import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { PeerHttpAnswer } from '../wire/http-peer.js';
import type { StreamPeer } from '../wire/stream-peer.js';
import { type Frame, membersOf, type WireTranscript } from '../wire/transcript.js';

/** A polite conversation with a server, of one era, over any transport. */
export interface CheckConversation {
  readonly era: Era;
  readonly revision: string;
  readonly transcript: WireTranscript;
  /** The result of `server/discover`, or of `initialize`. */
  readonly hello: JsonObject;
  readonly capabilities: JsonObject;
  request(method: string, params?: JsonObject, options?: CheckRequestOptions): Promise<Reply>;
  /** The same, for those who want to do something meanwhile. */
  start(method: string, params?: JsonObject, options?: CheckRequestOptions): Pending;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** How requests of a legacy server are answered from now on: with what it returns, or an error it throws. */
  answerWith(answer: (request: Frame) => ServerAnswer | Promise<ServerAnswer>): void;
  /** Settles when it is clear whether news that nobody asked for would be heard: over legacy HTTP they need a stream. */
  readonly hearsNews: Promise<boolean>;
  /** Set on streams: the connection beneath. */
  readonly peer: StreamPeer | undefined;
  /** Over HTTP with SSE, as of 2024-11-05. */
  readonly isSse?: boolean;
  /** Set on legacy HTTP where the server gave one. */
  readonly sessionId: string | undefined;
  readonly isOpen: boolean;
  close(): Promise<void>;
}

export type ServerAnswer =
  | { readonly result: JsonObject }
  | { readonly error: { code: number; message: string } };

export interface CheckRequestOptions {
  /** Default: the next whole number. */
  readonly id?: RequestId;
  /** On top of what the era asks for; `undefined` takes a member away. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Client capabilities of a modern request. Default: all that there are. */
  readonly capabilities?: JsonObject;
  readonly progressToken?: RequestId;
  /** Modern only: the level from which on logs are wanted. */
  readonly logLevel?: string;
  /** How long the answer may take. */
  readonly ms?: number;
  /** HTTP only, on top of ours; `undefined` leaves one out. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export type Reply = (
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: { code: number; message: string; data?: unknown } }
  /** No answer: not in time, or the connection, the stream or the process has ended. */
  | { readonly kind: 'silence'; readonly why: string }
) & {
  readonly id: RequestId;
  /** What the answer looked like on the wire. */
  readonly frame?: Frame;
  /** Notifications that came for it, or, where that cannot be told, while it ran. */
  readonly notifications: readonly Frame[];
  readonly ms: number;
  /** HTTP only. */
  readonly http?: PeerHttpAnswer;
};

export interface Pending {
  readonly id: RequestId;
  readonly reply: Promise<Reply>;
  /** So far. */
  readonly notifications: readonly Frame[];
  /** Waits for a notification of its own. */
  waitFor(match: (frame: Frame) => boolean, ms?: number): Promise<Frame | undefined>;
  /** By a notification, or where that is how it is done, by closing the stream. */
  cancel(reason?: string): Promise<void>;
}

/** What an answer says, whatever else may be wrong with it. */
export function replyOf(
  frame: Frame,
  about: { readonly id: RequestId; readonly notifications: readonly Frame[]; readonly ms: number },
): Reply {
  const { result, error } = membersOf(frame);
  if (isJsonObject(result)) return { kind: 'result', result, frame, ...about };
  if (isJsonObject(error)) {
    const { code, message, data } = error;
    return {
      kind: 'error',
      error: {
        code: typeof code === 'number' ? code : Number.NaN,
        message: typeof message === 'string' ? message : '',
        ...(data !== undefined && { data }),
      },
      frame,
      ...about,
    };
  }
  return { kind: 'silence', why: `the answer is none: ${frame.text.slice(0, 200)}`, frame, ...about };
}

/** No answer at all: the request itself failed. */
export function silenceOf(error: unknown, id: RequestId, ms: number): Reply {
  return { kind: 'silence', why: messageOf(error), id, notifications: [], ms };
}

/** The request that every server of the era answers, and that changes nothing. */
export function aliveMethod({ era }: Pick<CheckConversation, 'era'>): 'ping' | 'server/discover' {
  return era === 'modern' ? 'server/discover' : 'ping';
}

export function askAlive(talk: CheckConversation, ms?: number): Promise<Reply> {
  return talk.request(aliveMethod(talk), {}, ms === undefined ? {} : { ms });
}

/** Whether it still answers, be it with an error. */
export async function isAlive(talk: CheckConversation): Promise<boolean> {
  return talk.isOpen && (await askAlive(talk)).kind !== 'silence';
}

export type AnswerServer = (request: Frame) => ServerAnswer | Promise<ServerAnswer>;

/** Nobody is there to be asked; a `ping` is answered by itself. */
export const refuseAll: AnswerServer = () => ({
  error: { code: -1, message: 'Nobody is there to be asked' },
});

export interface AnsweringSide {
  isOver(): boolean;
  /** Who answers at the moment. */
  answer: AnswerServer;
  send(message: JsonObject): unknown;
}

/** Answers the questions of a legacy server as they come, until the conversation is over. */
export async function answerRequests(transcript: WireTranscript, side: AnsweringSide): Promise<void> {
  const seen = new Set<Frame>();
  while (!side.isOver()) {
    const frame = await transcript.waitFor((each) => each.kind === 'request' && !seen.has(each), HOUR_MS);
    if (!frame) return;
    seen.add(frame);
    void answerServer(side.answer, frame)
      .then((message) => (side.isOver() ? undefined : side.send(message)))
      // Whoever asked has gone meanwhile, and does not want to know.
      .catch(() => {});
  }
}

const HOUR_MS = 3_600_000;

/** The message that answers a request of a legacy server. */
async function answerServer(answer: AnswerServer, request: Frame): Promise<JsonObject> {
  const id = membersOf(request)['id'];
  if (request.method === 'ping') return { jsonrpc: '2.0', id, result: {} };
  try {
    return { jsonrpc: '2.0', id, ...(await answer(request)) };
  } catch (error) {
    return { jsonrpc: '2.0', id, error: { code: -32603, message: messageOf(error) } };
  }
}

/**
 * Faults of a server that would spoil every conversation, found on the way in. What is known of them is judged once; the
 * other checks get round them, so that they can judge what they are about and do not wait in vain.
 */
export interface RequestDefaults {
  /** Eras in which errors come without the id of their request: the only request under way is the one they are for. */
  readonly looseErrors: Set<Era>;
  /** Methods that were not answered at all, as `era method`: nobody waits long for them again. */
  readonly silent: Set<string>;
}

export function createRequestDefaults(): RequestDefaults {
  return { looseErrors: new Set(), silent: new Set() };
}

/** How long to wait for an answer. */
export function patienceFor({ silent }: RequestDefaults, era: Era, method: string, ms: number): number {
  return silent.has(`${era} ${method}`) ? Math.min(ms, SHORT_MS) : ms;
}

const SHORT_MS = 700;
