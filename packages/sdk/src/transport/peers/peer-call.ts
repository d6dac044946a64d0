import type { Dispatcher } from 'undici';
import type { ClusterKeys } from '../../cluster/cluster-keys.js';
import type { Member } from '../../cluster/member-list.js';
import { messageOf } from '../../errors.js';
import { isProofOf, NOT_HERE, PEER_HEADER, type PeerHeader, SEEN } from './envelope.js';

/** Receives the answer of another member, piece by piece. */
export interface PeerAnswerSink {
  begin(status: number, headers: Readonly<Record<string, string>>): void;
  /** False: no more, until `resume` is called. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** No (more) answer comes. Called at most once, and not after `end`. */
  failed(failure: PeerFailure): void;
}

export interface PeerFailure {
  /**
   * - `refused`: no process listens at the address of the member.
   * - `unreachable`: it could not be connected to.
   * - `not-here`: the member does not have what was asked for, and has done nothing.
   * - `lost`: the request was sent and may have been executed.
   */
  readonly kind: 'refused' | 'unreachable' | 'not-here' | 'lost';
  readonly why: string;
}

/** A request to another member that is under way. */
export interface PeerCall {
  resume(): void;
  /** The answer is not wanted any more. Nothing is reported after this. */
  abort(): void;
}

interface CallContext {
  /** Sends the request, as it was signed. */
  dispatch(): void;
  onOver(): void;
}

/**
 * Turns what undici reports into what the sink is told. A request whose connection breaks before its answer begins is sent
 * again as it was signed: the member serves it once, and says if it has come already.
 */
export class CallUnderWay implements PeerCall, Dispatcher.DispatchHandler {
  readonly to: Member;
  readonly #header: PeerHeader;
  readonly #keys: ClusterKeys;
  readonly #sink: PeerAnswerSink;
  readonly #onOver: () => void;
  #controller: Dispatcher.DispatchController | undefined;
  /** Until the answer begins. */
  #dispatch: (() => void) | undefined;
  #attempts = 0;
  #isOver = false;

  constructor(to: Member, header: PeerHeader, keys: ClusterKeys, sink: PeerAnswerSink, context: CallContext) {
    this.to = to;
    this.#header = header;
    this.#keys = keys;
    this.#sink = sink;
    this.#onOver = context.onOver;
    this.#dispatch = context.dispatch;
  }

  /** Nothing of its answer has come. */
  get isWaiting(): boolean {
    return this.#dispatch !== undefined;
  }

  begin(): void {
    this.#attempts += 1;
    try {
      this.#dispatch?.();
    } catch (error) {
      this.fail({ kind: this.#attempts > 1 ? 'lost' : 'unreachable', why: messageOf(error) });
    }
  }

  resume(): void {
    this.#controller?.resume();
  }

  abort(): void {
    if (!this.#finish()) return;
    this.#controller?.abort(ABORTED);
  }

  /** Ends the request from this side. */
  give(why: string): void {
    this.fail({ kind: this.#wasSent ? 'lost' : 'unreachable', why });
    this.#controller?.abort(ABORTED);
  }

  fail(failure: PeerFailure): void {
    if (this.#finish()) this.#sink.failed(failure);
  }

  /** Called when the request is written to a connection. Before that it was certainly not sent. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(ABORTED);
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (this.#isOver) return;
    // The request need not be kept any more.
    this.#dispatch = undefined;
    const { [PEER_HEADER]: proof, ...rest } = headers;
    const isRefused = status === 403 && proof === undefined && this.#attempts === 1;
    if (!isProofOf(this.#keys, String(proof ?? ''), this.#header, status)) {
      const kind = isRefused ? 'unreachable' : 'lost';
      this.fail({ kind, why: `the answer (${status}) is not one of the member` });
      controller.abort(ABORTED);
      return;
    }
    if (status === NOT_HERE) {
      // The rest of this answer is empty. The connection can be used again.
      this.fail({ kind: 'not-here', why: 'the member does not have it' });
      return;
    }
    if (status === SEEN) {
      this.fail({ kind: 'lost', why: 'the connection to the member was interrupted' });
      return;
    }
    const plain: Record<string, string> = {};
    for (const name in rest) {
      const value = rest[name];
      if (value !== undefined) plain[name] = Array.isArray(value) ? value.join(', ') : value;
    }
    this.#sink.begin(status, plain);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#isOver && !this.#sink.data(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#finish()) this.#sink.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isOver) return;
    if (this.#wasSent && this.#dispatch && this.#attempts < MAX_ATTEMPTS) return this.begin();
    const { code } = error as NodeJS.ErrnoException;
    const kind = this.#wasSent ? 'lost' : code === 'ECONNREFUSED' ? 'refused' : 'unreachable';
    this.fail({ kind, why: messageOf(error) });
  }

  /** A part of it may have left. */
  get #wasSent(): boolean {
    return this.#controller !== undefined;
  }

  #finish(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#onOver();
    this.#dispatch = undefined;
    return true;
  }
}

const ABORTED = new Error('the answer is not wanted any more');
/** The first one, and two on other connections. */
const MAX_ATTEMPTS = 3;
