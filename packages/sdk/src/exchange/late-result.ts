import type { JsonObject } from '../wire/json-rpc.js';

/** Is told once how a call has ended. */
export interface ResultListener {
  complete(result: JsonObject): void;
  fail(error: unknown): void;
}

/**
 * A result that comes later, for one listener. The listener is told in the turn in which the result comes: the promises of
 * a call through a bridge, and the microtasks between them, took a tenth of its time. It can be awaited like a promise.
 */
export class LateResult implements PromiseLike<JsonObject>, ResultListener {
  #listener: ResultListener | undefined;
  /** Told before the listener, in this order. */
  #observers: ResultListener | ResultListener[] | undefined;
  #result: JsonObject | undefined;
  #failure: { readonly error: unknown } | undefined;
  #promise: Promise<JsonObject> | undefined;
  #changeError: ((error: unknown) => unknown) | undefined;

  complete(result: JsonObject): void {
    if (this.#isSettled) return;
    this.#result = result;
    this.#tellObservers();
    if (this.#listener) tellResult(this.#listener, result);
  }

  fail(error: unknown): void {
    if (this.#isSettled) return;
    const own = this.#changeError ? this.#changeError(error) : error;
    this.#failure = { error: own };
    this.#tellObservers();
    this.#listener?.fail(own);
  }

  /** Sets the listener. If the result is there, it is told at once. */
  deliverTo(listener: ResultListener): void {
    this.#listener = listener;
    if (this.#result) tellResult(listener, this.#result);
    else if (this.#failure) listener.fail(this.#failure.error);
  }

  /** If the call fails, the observers and the listener are told what `change` returns. It must not throw; it can be set once. */
  changeError(change: (error: unknown) => unknown): void {
    if (this.#failure) this.#failure = { error: change(this.#failure.error) };
    else this.#changeError = change;
  }

  /** Adds an observer that is told before the listener, and before later observers. An observer must not throw. */
  observe(observer: ResultListener): void {
    if (this.#result) return observer.complete(this.#result);
    if (this.#failure) return observer.fail(this.#failure.error);
    const known = this.#observers;
    if (known === undefined) this.#observers = observer;
    else if (Array.isArray(known)) known.push(observer);
    else this.#observers = [known, observer];
  }

  then<A = JsonObject, B = never>(
    onResult?: ((result: JsonObject) => A | PromiseLike<A>) | null,
    onError?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.#promise ??= new Promise((complete, fail) => this.deliverTo({ complete, fail }));
    return this.#promise.then(onResult, onError);
  }

  get #isSettled(): boolean {
    return this.#result !== undefined || this.#failure !== undefined;
  }

  #tellObservers(): void {
    const observers = this.#observers;
    if (observers === undefined) return;
    this.#observers = undefined;
    if (!Array.isArray(observers)) this.#tell(observers);
    else for (const observer of observers) this.#tell(observer);
  }

  #tell(observer: ResultListener): void {
    if (this.#failure) observer.fail(this.#failure.error);
    else observer.complete(this.#result!);
  }
}

/** An error while the result is taken over is the outcome instead, so that no call is left without one. */
function tellResult(listener: ResultListener, result: JsonObject): void {
  try {
    listener.complete(result);
  } catch (error) {
    listener.fail(error);
  }
}
