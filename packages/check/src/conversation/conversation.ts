import type { Era } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { PeerHttpAnswer } from '../wire/http-peer.js';
import type { StreamPeer } from '../wire/stream-peer.js';
import type { Frame, WireTranscript } from '../wire/transcript.js';

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
