import { messageOf } from '@isthmus/sdk/internal/errors.js';
import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import { isJsonObject, type JsonObject, type RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { PeerHttpAnswer } from '../wire/http-peer.js';
import type { StreamPeer } from '../wire/stream-peer.js';
import { type Frame, membersOf, type WireTranscript } from '../wire/transcript.js';

/** A well-behaved conversation with a server, in one era, over any transport. */
export interface CheckConversation {
  readonly era: Era;
  readonly revision: string;
  readonly transcript: WireTranscript;
  /** The result of `server/discover`, or of `initialize`. */
  readonly hello: JsonObject;
  readonly capabilities: JsonObject;
  request(method: string, params?: JsonObject, options?: CheckRequestOptions): Promise<Reply>;
  /** Like `request`, but does not wait for the reply. */
  start(method: string, params?: JsonObject, options?: CheckRequestOptions): Pending;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Sets the function that answers requests of a legacy server. If it throws, the answer is an error. */
  answerWith(answer: (request: Frame) => ServerAnswer | Promise<ServerAnswer>): void;
  /** Whether unsolicited notifications can arrive. Legacy HTTP needs a GET stream for them. */
  readonly hearsNews: Promise<boolean>;
  /** The underlying connection, on streams only. */
  readonly peer: StreamPeer | undefined;
  /** True over HTTP with SSE (2024-11-05). */
  readonly isSse?: boolean;
  /** Legacy HTTP only, if the server sent one. */
  readonly sessionId: string | undefined;
  readonly isOpen: boolean;
  close(): Promise<void>;
}

export type ServerAnswer =
  | { readonly result: JsonObject }
  | { readonly error: { code: number; message: string } };

export interface CheckRequestOptions {
  /** Default: the next integer. */
  readonly id?: RequestId;
  /** Added to the required `_meta`. The value `undefined` removes a member. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Client capabilities of a modern request. Default: all. */
  readonly capabilities?: JsonObject;
  readonly progressToken?: RequestId;
  /** Modern only: the minimum log level. */
  readonly logLevel?: string;
  /** How long the answer may take. */
  readonly ms?: number;
  /** HTTP only: added to the usual headers. The value `undefined` removes a header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

export type Reply = (
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: { code: number; message: string; data?: unknown } }
  /** No answer in time, or the connection, the stream or the process has ended. */
  | {
      readonly kind: 'silence';
      readonly why: string;
      /** The process of the server has exited. */
      readonly exited?: boolean;
    }
) & {
  readonly id: RequestId;
  /** The method of the request. */
  readonly method: string;
  /** The answer on the wire. */
  readonly frame?: Frame;
  /** Notifications of this request. If they carry no id, all that came while it ran. */
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
  /** Waits for a notification of this request. */
  waitFor(match: (frame: Frame) => boolean, ms?: number): Promise<Frame | undefined>;
  /** Cancels by a notification, or over modern HTTP by closing the stream. */
  cancel(reason?: string): Promise<void>;
}

/** The reply in a frame, even if the frame has other faults. */
export function replyOf(frame: Frame, about: Pick<Reply, 'id' | 'method' | 'notifications' | 'ms'>): Reply {
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
  return {
    kind: 'silence',
    why: `the answer has neither a result nor an error: ${frame.text.slice(0, 200)}`,
    frame,
    ...about,
  };
}

/** The reply for a request that failed before any answer. */
export function silenceOf(error: unknown, about: Pick<Reply, 'id' | 'method' | 'ms'>): Reply {
  return { kind: 'silence', why: messageOf(error), notifications: [], ...about };
}

/** The request that every server of the era must answer, without side effects. */
export function aliveMethod({ era }: Pick<CheckConversation, 'era'>): 'ping' | 'server/discover' {
  return era === 'modern' ? 'server/discover' : 'ping';
}

export function askAlive(conversation: CheckConversation, ms?: number): Promise<Reply> {
  return conversation.request(aliveMethod(conversation), {}, ms === undefined ? {} : { ms });
}

/** Whether the server still answers. An error counts as an answer. */
export async function isAlive(conversation: CheckConversation): Promise<boolean> {
  return conversation.isOpen && (await askAlive(conversation)).kind !== 'silence';
}

export type AnswerServer = (request: Frame) => ServerAnswer | Promise<ServerAnswer>;

/** Answers every request of the server with an error, except `ping`. */
export const refuseAll: AnswerServer = () => ({
  error: { code: -1, message: 'isthmus-check does not answer this request' },
});

interface AnsweringSide {
  isOver(): boolean;
  /** The current answer function. */
  answer: AnswerServer;
  send(message: JsonObject): unknown;
}

/** Answers the requests of a legacy server until the conversation is over. */
export async function answerRequests(transcript: WireTranscript, side: AnsweringSide): Promise<void> {
  const seen = new Set<Frame>();
  while (!side.isOver()) {
    const frame = await transcript.waitFor((each) => each.kind === 'request' && !seen.has(each), HOUR_MS);
    if (!frame) return;
    seen.add(frame);
    void answerServer(side.answer, frame)
      .then((message) => (side.isOver() ? undefined : side.send(message)))
      // The connection has closed, so the answer is not needed any more.
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
 * Known faults of a server that would affect every conversation. The survey finds them, one check reports each of them,
 * and all other checks work around them.
 */
export interface KnownFaults {
  /** Eras in which errors lack the id of their request. Such an error then belongs to the only running request. */
  readonly looseErrors: Set<Era>;
  /** Methods that the server did not answer, as `era method`. Later requests for them have a short timeout. */
  readonly silent: Set<string>;
}

export function createKnownFaults(): KnownFaults {
  return { looseErrors: new Set(), silent: new Set() };
}

/** How long to wait for an answer. */
export function patienceFor({ silent }: KnownFaults, era: Era, method: string, ms: number): number {
  return silent.has(`${era} ${method}`) ? Math.min(ms, SHORT_MS) : ms;
}

const SHORT_MS = 700;
