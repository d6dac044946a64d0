import { retryAfterOf } from '../../../era/classify/classify-http.js';
import type { TakenSlot } from '../../../exchange/fair-slots.js';
import { IdMap } from '../../../exchange/id-map.js';
import { encodeInParts } from '../../../wire/codec.js';
import { ErrorCode } from '../../../wire/error-codes.js';
import type {
  Decoded,
  DecodedNotification,
  JsonRpcErrorBody,
  JsonRpcMessage,
  RequestId,
} from '../../../wire/json-rpc.js';
import type { BodyReservation, RequestLimiter } from '../admission/request-limits.js';
import type { AdmittedRequest } from '../exchange/admitted-request.js';
import type { HttpExchange, HttpHeaders } from '../exchange/exchange.js';
import type { SessionStream } from './session-streams.js';

/** The POSTs of a session that wait for answers, and the slots that their requests hold. */
export class PendingPosts {
  readonly #limiter: RequestLimiter;
  /** By the ids of the requests without an answer. */
  #byId = new IdMap<PendingPost>();
  /** POSTs that came while the receiver wanted nothing more. */
  #held: HeldPost[] = [];

  constructor(limiter: RequestLimiter) {
    this.#limiter = limiter;
  }

  /** How many requests have no answer. */
  get size(): number {
    return this.#byId.size;
  }

  get(id: RequestId): PendingPost | undefined {
    return this.#byId.get(id);
  }

  /** The requests of a POST that have no answer. */
  idsOf(post: PendingPost): readonly RequestId[] {
    return this.#byId.keys().filter((id) => this.#byId.get(id) === post);
  }

  all(): Iterable<PendingPost> {
    return new Set(this.#byId.values());
  }

  add(post: PendingPost, requests: readonly { readonly id: RequestId }[]): void {
    for (const { id } of requests) this.#byId.set(id, post);
  }

  /** The request has its answer, or was cancelled. True when it was the last one of its POST. */
  settle(id: RequestId, post: PendingPost): boolean {
    this.#byId.delete(id);
    this.#limiter.leave(post.slot);
    return post.settleOne();
  }

  hold(post: PendingPost, messages: readonly Decoded[]): void {
    this.#held.push({ post, messages });
  }

  /** The messages of the POST that was held first, without requests that were cancelled in the meantime. */
  takeHeld(): readonly Decoded[] | undefined {
    const next = this.#held.shift();
    return next?.messages.filter((each) => each.kind !== 'request' || this.#byId.get(each.id) === next.post);
  }

  /** Forgets the messages of a POST whose requests were all cancelled: the memory of its body is no longer reserved. */
  dropHeld(post: PendingPost): void {
    this.#held = this.#held.filter((held) => held.post !== post);
  }

  /** Ends all of them with 404: the session is over. */
  close(headers: HttpHeaders): void {
    for (const post of this.all()) {
      if (!post.stream) post.exchange.respond(404, headers);
      post.release();
    }
    for (const { slot } of this.#byId.values()) this.#limiter.leave(slot);
    this.#byId = new IdMap();
    this.#held = [];
  }
}

interface HeldPost {
  readonly post: PendingPost;
  readonly messages: readonly Decoded[];
}

export class PendingPost {
  readonly exchange: HttpExchange;
  /** Taken once for each of its requests. */
  readonly slot: TakenSlot;
  /** The answers so far, unless the answer has become a stream. */
  readonly answers: string[];
  readonly startedAt: number;
  /** Set when the answer has become a stream. */
  stream: SessionStream | undefined;
  readonly #isBatch: boolean;
  /** The memory of its body, kept until the last answer: a legacy call goes on when its client has gone. */
  readonly #reservation: BodyReservation | undefined;
  #unsettled: number;

  constructor(
    { exchange, reservation }: AdmittedRequest,
    slot: TakenSlot,
    requests: number,
    isBatch: boolean,
    answers: string[],
    startedAt: number,
  ) {
    this.answers = answers;
    this.startedAt = startedAt;
    this.exchange = exchange;
    this.#reservation = reservation;
    reservation?.keep();
    this.slot = slot;
    this.#unsettled = requests;
    this.#isBatch = isBatch;
  }

  /** True when no request is left. */
  settleOne(): boolean {
    this.#unsettled -= 1;
    if (this.#unsettled > 0) return false;
    this.#reservation?.release();
    return true;
  }

  release(): void {
    this.#reservation?.release();
  }

  /** Answers with plain JSON: the last answer, or all of a batch. `headers` say that it is JSON. */
  respond(headers: HttpHeaders, last: JsonRpcMessage, json: string): void {
    const later = 'error' in last ? retryAfterOf(last.error) : undefined;
    const own = later === undefined ? headers : { ...headers, 'retry-after': later };
    const body = this.#isBatch ? `[${this.answers.join(',')}]` : (encodeInParts(last) ?? json);
    this.exchange.respond(200, own, body);
  }
}

/** Cancellations that have overtaken their requests on the way through another process. */
export class EarlyCancellations {
  readonly #all = new Map<RequestId, EarlyCancellation>();

  remember(id: RequestId, cancellation: DecodedNotification, now: number): void {
    this.#all.set(id, { cancellation, at: now });
    const [oldest] = this.#all.keys();
    if (this.#all.size > MAX_CANCELLATIONS) this.#all.delete(oldest!);
  }

  /** The cancellation of a request that has come now. */
  take(id: RequestId, now: number): DecodedNotification | undefined {
    const early = this.#all.get(id);
    if (!early) return undefined;
    this.#all.delete(id);
    return now - early.at > KEPT_MS ? undefined : early.cancellation;
  }
}

interface EarlyCancellation {
  readonly cancellation: DecodedNotification;
  readonly at: number;
}

const MAX_CANCELLATIONS = 16;
/** Ids are used again rarely, but may be. */
const KEPT_MS = 2000;

/** For a client that lost its stream before it read an answer that is too large to be stored. */
export const NOT_KEPT: JsonRpcErrorBody = {
  code: ErrorCode.InternalError,
  message: 'The answer was sent and lost, and it is too large to be sent again. The request was executed.',
  data: { reason: 'RESULT_TOO_LARGE', sent: 'maybe' },
};
