import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AnswerContext, Answers } from '@isthmus/sdk/internal/era/answers.js';
import type { ElicitParams, ElicitResult, Root } from '@isthmus/sdk/internal/wire/model.js';
import { toAssignment } from '../arguments/read-arguments.js';
import { usageError } from '../cli-error.js';
import { askForm, askUrl, fillForm, type Prompter } from '../terminal/ask-form.js';
import type { Style } from '../terminal/terminal.js';
import { oneLine } from '../terminal/text.js';

export interface QuestionOptions {
  readonly asker: string;
  /** `undefined` without a terminal. */
  readonly prompter: Prompter | undefined;
  readonly style: Style;
  /** From `--answer key=value`. */
  readonly given: ReadonlyMap<string, string>;
  readonly roots: readonly Root[] | undefined;
  /** Stops time limits and progress while the user is asked. */
  readonly whileAsking: <T>(work: () => Promise<T>) => Promise<T>;
  readonly note: (text: string) => void;
}

/** Answers the questions of a server. Sampling is not offered, since the command line has no model. */
export function answerQuestions(options: QuestionOptions): Answers {
  // A server may ask several questions at once. The user answers one after the other.
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

export function toGiven(assignments: readonly string[]): Map<string, string> {
  return new Map(
    assignments.map((assignment) => {
      const { key, text, isJson } = toAssignment(assignment);
      if (isJson) throw usageError(`--answer ${assignment} is not key=value`);
      return [key, text];
    }),
  );
}

/** The folders of `--root`, or the current folder. */
export function toRoots(paths: readonly string[]): Root[] {
  return (paths.length > 0 ? paths : ['.']).map((path) => {
    const folder = resolve(path);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
      throw usageError(`--root ${path}: no such folder`);
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
  if (!prompter) return answerWithoutTerminal(question, options);
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

/** Answers with the values of `--answer`, or cancels. */
function answerWithoutTerminal(
  question: ElicitParams,
  { given, note, asker }: QuestionOptions,
): ElicitResult {
  const asked = `${oneLine(asker)} asked: ${oneLine(String(question.message))}`;
  if (question.mode === 'url') {
    note(`${asked} ${oneLine(question.url)}\n  answered cancel: no terminal to confirm it`);
    return { action: 'cancel' };
  }
  if (given.size === 0) {
    note(`${asked}\n  answered cancel: no terminal to ask, and no --answer key=value`);
    return { action: 'cancel' };
  }
  const { content, problems } = fillForm(question, given);
  if (problems.length === 0) return { action: 'accept', content };
  note(`${asked}\n  answered cancel: ${problems.join('; ')}; give --answer key=value`);
  return { action: 'cancel' };
}
