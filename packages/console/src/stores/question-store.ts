import { IsthmusError, ProtocolError } from '@isthmus/sdk/internal/errors.js';
import { isJsonObject, type JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { AnsweredQuestion, QuestionAnswer, QuestionView } from '../contract.js';
import { ConsoleError, invalid, notFound } from '../http/console-error.js';
import { Announcer } from './announcer.js';

type OverWhy = NonNullable<AnsweredQuestion['over']>['why'];
export interface QuestionOver {
  readonly id: number;
  readonly why: OverWhy;
}

/** The questions that wait for a person. */
export class QuestionStore {
  readonly asked = new Announcer<QuestionView>();
  readonly over = new Announcer<AnsweredQuestion>();
  readonly #open = new Map<number, OpenQuestion>();
  #count = 0;

  /** Waits for the answer of a person, until the signal aborts. */
  ask(question: Omit<QuestionView, 'id' | 'since'>, signal: AbortSignal): Promise<JsonObject> {
    if (this.#open.size >= MAX_OPEN)
      return Promise.reject(new IsthmusError('BUSY', `${MAX_OPEN} questions wait for an answer already`));
    this.#count += 1;
    const view: QuestionView = { ...question, id: this.#count, since: Date.now() };
    return new Promise((resolve, reject) => {
      const withdraw = () => {
        this.#end(view, 'withdrawn', undefined);
        reject(signal.reason as Error);
      };
      const off = () => signal.removeEventListener('abort', withdraw);
      this.#open.set(view.id, { view, resolve, reject, off });
      if (signal.aborted) return withdraw();
      signal.addEventListener('abort', withdraw, { once: true });
      this.asked.tell(view);
    });
  }

  all(): readonly QuestionView[] {
    return [...this.#open.values()].map(({ view }) => view);
  }

  /** Gives the answer of a person. Throws when it does not fit the question, which then stays open. */
  answer(id: number, answer: QuestionAnswer): void {
    const open = this.#open.get(id);
    if (!open && id > this.#count) throw notFound(`There is no question ${id}`);
    if (!open) throw new ConsoleError(409, 'GONE', 'This question was answered, or the server took it back');
    if ('error' in answer) {
      const { code, message } = answer.error;
      this.#end(open.view, 'answered', JSON.stringify({ error: answer.error }));
      return open.reject(new ProtocolError(code, message));
    }
    const result = resultOf(open.view, answer);
    this.#end(open.view, 'answered', result.text);
    open.resolve(result.value);
  }

  /** It cannot be answered any more. */
  close(): void {
    for (const { view, reject } of [...this.#open.values()]) {
      this.#end(view, 'ended', undefined);
      reject(new IsthmusError('CANCELLED', 'The console was closed'));
    }
  }

  #end(view: QuestionView, why: OverWhy, answer: string | undefined): void {
    this.#open.get(view.id)?.off();
    if (!this.#open.delete(view.id)) return;
    this.over.tell({ ...view, over: { at: Date.now(), why }, ...(answer !== undefined && { answer }) });
  }
}

interface OpenQuestion {
  readonly view: QuestionView;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
  off(): void;
}

function resultOf(
  { kind }: QuestionView,
  answer: Exclude<QuestionAnswer, { readonly error: unknown }>,
): { readonly value: JsonObject; readonly text: string } {
  if (kind === 'sampling') {
    if (!('result' in answer)) throw invalid('A sampling question is answered with "result" or "error"');
    return { value: readObject(answer.result, 'result'), text: answer.result };
  }
  if (!('action' in answer))
    throw invalid('A question with a form or a page is answered with "action" or "error"');
  const { action, content } = answer;
  if (content === undefined) {
    if (kind === 'form' && action === 'accept') throw invalid('An accepted form needs "content"');
    return { value: { action }, text: JSON.stringify({ action }) };
  }
  if (kind === 'url' || action !== 'accept') throw invalid('Only an accepted form has "content"');
  const value = { action, content: readObject(content, 'content') };
  return { value, text: JSON.stringify(value) };
}

function readObject(text: string, name: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(`"${name}" is not valid JSON`);
  }
  if (!isJsonObject(value)) throw invalid(`"${name}" must be a JSON object`);
  return value;
}

const MAX_OPEN = 1000;
