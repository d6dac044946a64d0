import { type Cancellation, LazyAbort } from '@isthmus/sdk/internal/async/abort.js';
import type { Call } from '@isthmus/sdk/internal/exchange/call.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { CallAround } from '../call-around.js';

/** A call to one of several servers: the same call, with the params as that server knows them. */
export class MemberCall extends CallAround {}

/** A list that is asked for in the course of another call, and is no part of its answer. */
export class ListCall extends MemberCall {
  readonly #method: string;

  constructor(whole: Call, method: string, params: JsonObject) {
    super(whole, params);
    this.#method = method;
  }

  override get method(): string {
    return this.#method;
  }

  override get answers(): undefined {
    return undefined;
  }

  override get state(): undefined {
    return undefined;
  }

  override get wantsProgress(): boolean {
    return false;
  }

  override progress(): void {}
}

/** One of several calls that make up a whole: it can be given up by itself. */
export class PassingCall extends MemberCall {
  readonly #abort = new LazyAbort();
  readonly #follow = () => this.#abort.abort(this.whole.cancellation.reason);

  constructor(whole: Call, params: JsonObject) {
    super(whole, params);
    if (whole.cancellation.aborted) this.#follow();
    else whole.cancellation.addEventListener('abort', this.#follow);
  }

  override get signal(): AbortSignal {
    return this.#abort.signal;
  }

  override get cancellation(): Cancellation {
    return this.#abort;
  }

  override get wantsProgress(): boolean {
    return false;
  }

  /** Its progress is not that of the whole. */
  override progress(): void {}

  giveUp(reason: unknown): void {
    this.#abort.abort(reason);
  }

  end(): void {
    this.whole.cancellation.removeEventListener('abort', this.#follow);
  }
}
