import type { Clock } from '../../../async/clock.js';
import { LiveSet } from '../../../async/live-set.js';
import type { QuestionPolicy } from '../../client-dialect-context.js';
import type { AttributableCall } from './attributable-call.js';
import { CallTurns } from './call-turns.js';
import type { GivenUpCalls } from './given-up-calls.js';
import { QuestionHistory } from './question-history.js';

/** Owners that are being asked right now, with a count: calls that they make meanwhile must not wait for others. */
export class AskedOwners {
  readonly #questions = new Map<object, number>();

  has(owner: object): boolean {
    return this.#questions.has(owner);
  }

  /** The owner is asked one more question. */
  add(owner: object): void {
    this.#questions.set(owner, (this.#questions.get(owner) ?? 0) + 1);
  }

  /** One question of the owner is over. */
  remove(owner: object): void {
    const left = (this.#questions.get(owner) ?? 0) - 1;
    if (left > 0) this.#questions.set(owner, left);
    else this.#questions.delete(owner);
  }
}

/** The calls of one session that may lead to a question, and what is known of calls like them. */
export class SessionCalls {
  readonly policy: QuestionPolicy;
  readonly clock: Clock;
  readonly running = new LiveSet<AttributableCall>();
  /** The number of calls that have begun. */
  begun = 0;
  /** Their questions must not reach another owner. */
  readonly givenUp: GivenUpCalls<AttributableCall>;
  readonly asked: AskedOwners;
  readonly history = new QuestionHistory();
  readonly turns: CallTurns;
  /** One function for each question that is not attributed yet; it checks whether that has become possible. */
  readonly unclear = new Set<() => void>();
  #willLook = false;

  constructor(
    policy: QuestionPolicy,
    clock: Clock,
    givenUp: GivenUpCalls<AttributableCall>,
    asked: AskedOwners,
  ) {
    this.policy = policy;
    this.clock = clock;
    this.givenUp = givenUp;
    this.asked = asked;
    this.turns = new CallTurns(this);
  }

  /** A call asks no more, or waits for an answer: a question may have become clear, and others may begin. */
  changed(): void {
    // A given-up call ends first and is recorded as given up after that: the check must see both.
    if (this.unclear.size > 0 && !this.#willLook) {
      this.#willLook = true;
      queueMicrotask(() => this.#look());
    }
    this.turns.admit();
  }

  /** Once for all changes of a turn. */
  #look(): void {
    this.#willLook = false;
    for (const look of [...this.unclear]) look();
  }
}
