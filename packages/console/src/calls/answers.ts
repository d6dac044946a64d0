import type { AnswerContext, Answers } from '@isthmus/sdk/internal/era/answers.js';
import type { JsonObject } from '@isthmus/sdk/internal/wire/json-rpc.js';
import type { CreateMessageResult, ElicitResult } from '@isthmus/sdk/internal/wire/model.js';
import type { Asks, QuestionView, RootFolder } from '../contract.js';
import type { CallStore } from '../stores/call-store.js';
import type { QuestionStore } from '../stores/question-store.js';

export interface AnswersOptions {
  readonly questions: QuestionStore;
  readonly calls: CallStore;
  readonly asks: Asks;
  readonly roots: readonly RootFolder[];
  readonly server?: string | undefined;
  /** The name that the server gives itself, once it is known. */
  asker(): string;
}

/** Puts the questions of a server to a person. What it declares follows from what the person allows. */
export function personsAnswers(options: AnswersOptions): Answers {
  const { asks, roots } = options;
  const ask = async <T>(kind: QuestionView['kind'], params: object, context: AnswerContext): Promise<T> => {
    const { questions, server, asker } = options;
    const entry = context.call === undefined ? undefined : options.calls.get(context.call);
    const tool = entry?.row.tool;
    const question = {
      ...{ kind, call: context.call ?? 0, asker: asker(), params: params as Readonly<JsonObject> },
      ...(tool !== undefined && { tool }),
      ...(server !== undefined && { server }),
    };
    return (await questions.ask(question, context.signal)) as T;
  };
  return {
    ...((asks.forms || asks.urls) && {
      urls: asks.urls,
      elicit: (question, context) =>
        ask<ElicitResult>(question.mode === 'url' ? 'url' : 'form', question, context),
    }),
    ...(asks.sampling && {
      tools: true,
      sample: (question, context) => ask<CreateMessageResult>('sampling', question, context),
    }),
    ...(asks.roots && {
      roots: () => roots.map(({ uri, name }) => ({ uri, ...(name !== undefined && { name }) })),
    }),
  };
}
