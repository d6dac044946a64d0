import type { Connection } from '@isthmus/sdk/internal/exchange/connection.js';
import type { Decoded, DecodedRequest, JsonObject, RequestId } from '@isthmus/sdk/internal/wire/json-rpc.js';
import { oneLine } from '../terminal/text.js';

/** What came for a request: the answer without its id, or why there is none. */
export type ReplayAnswer = { readonly message: JsonObject } | { readonly failure: string };

/** The server of a replay, as one conversation sees it: answers by the id of the request, and questions in order. */
export class ReplayPeer {
  readonly #connection: Connection;
  readonly #answers = new Map<RequestId, ReplayAnswer>();
  readonly #questions: DecodedRequest[] = [];
  readonly #waiting = new Set<() => void>();
  #end: string | undefined;
  /** The answers so far. 0 after the end: it never spoke. */
  heard = 0;

  constructor(connection: Connection) {
    this.#connection = connection;
    connection.open({
      receive: (message) => this.#receive(message),
      inputEnded: () => this.#ended('it ended its output'),
      drained: () => {},
      failed: (id, error) => this.#answer(id, { failure: oneLine(error.message) }),
    });
    void connection.closed.then(({ error }) =>
      this.#ended(oneLine(error?.message ?? 'the connection ended')),
    );
  }

  get connection(): Connection {
    return this.#connection;
  }

  hasAnswered(id: RequestId): boolean {
    return this.#answers.has(id) || this.#end !== undefined;
  }

  answerTo(id: RequestId): ReplayAnswer | undefined {
    const answer = this.#answers.get(id);
    return answer ?? (this.#end === undefined ? undefined : { failure: this.#end });
  }

  /** Forgets an answer, so that a request with the same id can follow. */
  forget(id: RequestId): void {
    this.#answers.delete(id);
  }

  /** Questions that were not taken yet. */
  takeQuestion(fits: (question: DecodedRequest) => boolean): DecodedRequest | undefined {
    const at = this.#questions.findIndex(fits);
    return at < 0 ? undefined : this.#questions.splice(at, 1)[0];
  }

  /** Settles with true when the condition holds, with false after the time or when it is stopped. */
  async until(holds: () => boolean, timeoutMs: number, signal: AbortSignal): Promise<boolean> {
    if (holds()) return true;
    return new Promise((resolve) => {
      const settle = (value: boolean) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        signal.removeEventListener('abort', stop);
        resolve(value);
      };
      const look = () => holds() && settle(true);
      const stop = () => settle(false);
      const timer = setTimeout(stop, timeoutMs);
      this.#waiting.add(look);
      signal.addEventListener('abort', stop);
      if (signal.aborted) stop();
    });
  }

  #receive(message: Decoded): void {
    if (message.kind === 'batch') for (const item of message.items) this.#receive(item);
    else if (message.kind === 'request') this.#questions.push(message);
    else if (message.kind === 'result') this.#answer(message.id, { message: { result: message.result } });
    else if (message.kind === 'error' && message.id !== undefined)
      this.#answer(message.id, { message: { error: { ...message.error } } });
    else if (message.kind === 'invalid' && message.answers !== undefined)
      this.#answer(message.answers, {
        failure: `its answer is not valid: ${oneLine(message.error.message)}`,
      });
    this.#look();
  }

  #answer(id: RequestId, answer: ReplayAnswer): void {
    this.heard += 1;
    this.#answers.set(id, answer);
    this.#look();
  }

  #ended(why: string): void {
    this.#end ??= why;
    this.#look();
  }

  #look(): void {
    for (const look of [...this.#waiting]) look();
  }
}
