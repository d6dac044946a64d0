import type { Clock } from '../../../async/clock.js';
import type { IsthmusError } from '../../../errors.js';
import type { OutgoingCall } from '../../../exchange/call.js';
import type { RequestId } from '../../../wire/json-rpc.js';
import type { InputRequest, InputResponse } from '../../../wire/model.js';
import type { QuestionPolicy } from '../../client-dialect-context.js';
import type { AttributableCall, Attributed, Attribution, Unclear } from './attributable-call.js';
import { RunningCalls } from './running-calls.js';

/** A question of the server. */
export interface PosedQuestion<T> {
  readonly request: InputRequest;
  /** Aborted when the server has cancelled it, or when the client that is asked has left. */
  readonly signal: AbortSignal;
  /** Whom it goes to, if that does not depend on the calls in flight. */
  readonly known: T | undefined;
  /** Whether it is held for a while when it can belong to several calls. */
  readonly isHeld: boolean;
  /** Whom it goes to, as far as the calls in flight say. */
  find(found: Attribution): T;
  /** Begins to ask; undefined: it is not asked. */
  begin(target: T): Begun | undefined;
}

interface Begun {
  /** Who is asked; undefined if it is not one of those whose calls run here. */
  readonly owner: object | undefined;
  answer(request: InputRequest, signal: AbortSignal): Promise<InputResponse>;
  /** The server goes on. */
  goOn(): void;
}

/** What leaves. */
export type Leaving =
  /** The call was answered, or has failed. */
  | { readonly kind: 'call'; readonly call: AttributableCall }
  /** The call was given up; the server may still ask about it. */
  | { readonly kind: 'given-up'; readonly call: AttributableCall; readonly id: RequestId }
  /** A late answer arrived: the call that was given up asks no more. */
  | { readonly kind: 'answered'; readonly id: RequestId }
  /** The caller has left; undefined: all have. The calls that wait for their turn fail. */
  | { readonly kind: 'caller'; readonly caller: object | undefined; readonly error: IsthmusError };

/**
 * Finds the call that a question of a legacy server belongs to, and asks its owner. A session has three verbs: a call
 * enters, a question asks, something leaves.
 */
export class CallAttribution {
  readonly #calls: RunningCalls;

  constructor(policy: QuestionPolicy, clock: Clock) {
    this.#calls = new RunningCalls(policy, clock);
  }

  /** Begins a call: at once, or when it is its turn. The wait counts against the call's own timeout. */
  enter(caller: object, key: string, call: OutgoingCall): AttributableCall | Promise<AttributableCall> {
    return this.#calls.enter(caller, key, call.behalf) ?? this.#calls.wait(caller, key, call, call.behalf);
  }

  /** Finds whom a question goes to, and asks. Undefined: it was not asked. */
  async ask<T>(question: PosedQuestion<T>): Promise<InputResponse | undefined> {
    if (question.known) return this.#put(question, question.known, undefined);
    const first = this.#calls.attribute();
    const found = first.kind === 'several' && question.isHeld ? await this.#hold(first, question) : first;
    return this.#put(question, question.find(found), found.kind === 'one' ? found : undefined);
  }

  leave(leaving: Leaving): void {
    switch (leaving.kind) {
      case 'call':
        return this.#calls.leave(leaving.call);
      case 'given-up':
        return this.#calls.linger(leaving.id, leaving.call);
      case 'answered':
        return this.#calls.answered(leaving.id);
      case 'caller':
        return this.#calls.refuse(leaving.error, leaving.caller);
    }
  }

  /** Whether this owner is being asked: then a call of it must not wait for others. */
  isAnswering(owner: object): boolean {
    return this.#calls.isAnswering(owner);
  }

  /** Whether a given-up call of another caller may still be running. */
  lingersOfOthers(caller: object): boolean {
    return this.#calls.lingersOfOthers(caller);
  }

  async #hold(unclear: Unclear, { signal }: { readonly signal: AbortSignal }): Promise<Attribution> {
    const found = await this.#calls.clarify(unclear, signal);
    if (found.kind === 'several') this.#calls.suspect(found);
    return found;
  }

  async #put<T>(
    { request, signal, begin }: PosedQuestion<T>,
    target: T,
    attributed: Attributed | undefined,
  ): Promise<InputResponse | undefined> {
    const begun = begin(target);
    if (!begun) return undefined;
    const calls = this.#calls;
    const { owner } = begun;
    const asked = attributed && calls.asking(attributed);
    if (owner) calls.answering(owner, 1);
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      if (asked) calls.over(asked);
      begun.goOn();
      if (owner) calls.answering(owner, -1);
    };
    // A server that cancels its question goes on at once, whether or not the answering code observes the signal.
    signal.addEventListener('abort', end, { once: true });
    try {
      return await begun.answer(request, signal).finally(() => asked && calls.comeBack(asked, { signal }));
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }
}
