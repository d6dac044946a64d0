import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnswerContext, Answers } from '@isthmus/sdk/internal/era/answers.js';
import type { ElicitParams, ElicitResult, Root } from '@isthmus/sdk/internal/wire/model.js';
import { toAssignment } from './arguments/read-arguments.js';
import { usageError } from './cli-error.js';
import { askForm, askUrl, fillForm } from './terminal/ask-form.js';
import type { Prompter } from './terminal/prompter.js';
import type { Style } from './terminal/style.js';
import { oneLine } from './terminal/text.js';

export interface QuestionOptions {
  readonly asker: string;
  /** `undefined`: nobody is there to be asked. */
  readonly prompter: Prompter | undefined;
  readonly style: Style;
  /** From `--answer key=value`. */
  readonly given: ReadonlyMap<string, string>;
  readonly roots: readonly Root[] | undefined;
  /** Told before and after the user is asked: the clock stops, and nothing else may be drawn. */
  readonly whileAsking: <T>(work: () => Promise<T>) => Promise<T>;
  readonly note: (text: string) => void;
}

/** What the command line does when a server asks. Sampling is not offered: there is no model here. */
export function answerQuestions(options: QuestionOptions): Answers {
  // Servers may ask several things at once; a person answers one after the other.
  let last: Promise<unknown> = Promise.resolve();
  return {
    urls: true,
    ...(options.roots && { roots: options.roots }),
    elicit(question, context) {
      const turn = last.then(() => elicit(question, context, options));
      last = turn.catch(() => {});
      return turn;
    },
  };
}

export function toGiven(words: readonly string[]): Map<string, string> {
  return new Map(
    words.map((word) => {
      const { key, text, isJson } = toAssignment(word);
      if (isJson) throw usageError(`--answer ${word}: write key=value`);
      return [key, text];
    }),
  );
}

/** The current folder, or those named with `--root`. */
export function toRoots(paths: readonly string[]): Root[] {
  return (paths.length > 0 ? paths : ['.']).map((path) => {
    const folder = resolve(path);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      throw usageError(`--root ${path}: there is no such folder`);
    }
    return { uri: pathToFileURL(folder).href, name: basename(folder) || folder };
  });
}

async function elicit(
  question: ElicitParams,
  { signal }: AnswerContext,
  options: QuestionOptions,
): Promise<ElicitResult> {
  if (signal.aborted) return { action: 'cancel' };
  const { prompter, given } = options;
  if (!prompter) return answerAlone(question, options);
  if (question.mode !== 'url' && given.size > 0) {
    const { content, problems } = fillForm(question, given);
    const all = Object.keys(Object(question.requestedSchema?.properties)).every((name) => given.has(name));
    if (all && problems.length === 0) return { action: 'accept', content };
  }
  return options.whileAsking(() => {
    const ask = { ...options, prompter, signal };
    return question.mode === 'url' ? askUrl(question, ask) : askForm(question, ask);
  });
}

/** Nobody is there: `--answer` is what counts, and without it the answer is that there is none. */
function answerAlone(question: ElicitParams, { given, note, asker }: QuestionOptions): ElicitResult {
  const asked = `${oneLine(asker)} asked: ${oneLine(String(question.message))}`;
  if (question.mode === 'url') {
    note(`${asked} ${oneLine(question.url)}\n  answered cancel: there is no terminal to confirm it on`);
    return { action: 'cancel' };
  }
  if (given.size === 0) {
    note(`${asked}\n  answered cancel: there is no terminal to ask on, and no --answer key=value`);
    return { action: 'cancel' };
  }
  const { content, problems } = fillForm(question, given);
  if (problems.length === 0) return { action: 'accept', content };
  note(`${asked}\n  answered cancel: ${problems.join('; ')}; give --answer key=value`);
  return { action: 'cancel' };
}
