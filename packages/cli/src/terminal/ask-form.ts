import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import type { ElicitFormParams, ElicitResult, ElicitUrlParams } from '@isthmus/sdk/internal/wire/model.js';
import { type FieldValue, type FormField, formFields, type ParsedField } from './form-field.js';
import type { Style } from './terminal.js';
import { oneLine, printable } from './text.js';

export interface AskOptions {
  readonly prompter: Prompter;
  readonly style: Style;
  /** The name of the server, as the user knows it. */
  readonly asker: string;
  /** Answers of `--answer`. Their fields are not asked. */
  readonly given: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

/** Asks for the fields of a form one by one, and then for consent. Without consent the server gets no values. */
export async function askForm(question: ElicitFormParams, options: AskOptions): Promise<ElicitResult> {
  const { prompter, style, signal } = options;
  const fields = formFields(question.requestedSchema);
  introduce(question.message, options, fields.length > 0 ? 'Ctrl-D cancels' : undefined);
  const content: Record<string, FieldValue> = {};
  for (const field of fields) {
    const answer = await askField(field, options);
    if (answer.kind === 'ended') return { action: 'cancel' };
    if (answer.kind === 'value') content[field.name] = answer.value;
  }
  const agreed = await askYesNo(
    prompter,
    style.bold(fields.length > 0 ? 'Send? [Y/n] ' : 'Accept? [Y/n] '),
    signal,
    true,
  );
  if (agreed === undefined) return { action: 'cancel' };
  return agreed ? { action: 'accept', content } : { action: 'decline' };
}

/** Shows the URL that the server wants the user to open. It is not opened here, and Enter alone is not consent. */
export async function askUrl(question: ElicitUrlParams, options: AskOptions): Promise<ElicitResult> {
  const { prompter, style, signal } = options;
  introduce(question.message, options, undefined);
  prompter.say(`  ${style.cyan(oneLine(question.url))}\n`);
  const host = URL.canParse(question.url) ? new URL(question.url).host : '';
  if (host !== '')
    prompter.say(style.dim(`  It leads to ${host}. Open it in a browser if you trust this host.\n`));
  const agreed = await askYesNo(prompter, style.bold('Accept? [y/n] '), signal, undefined);
  if (agreed === undefined) return { action: 'cancel' };
  return { action: agreed ? 'accept' : 'decline' };
}

/** Fills in a form from `--answer` and from defaults. `problems` has missing and invalid fields. */
export function fillForm(
  question: ElicitFormParams,
  given: ReadonlyMap<string, string>,
): { readonly content: Record<string, FieldValue>; readonly problems: readonly string[] } {
  const content: Record<string, FieldValue> = {};
  const problems: string[] = [];
  for (const field of formFields(question.requestedSchema)) {
    const text = given.get(field.name);
    if (text === undefined) {
      if (field.preset !== undefined) content[field.name] = field.preset;
      else if (field.required) problems.push(`${oneLine(field.name)} is missing (${field.kind})`);
      continue;
    }
    const parsed = field.parse(text);
    if (parsed.ok) content[field.name] = parsed.value;
    else problems.push(`${oneLine(field.name)}: ${parsed.problem}`);
  }
  return { content, problems };
}

type FieldAnswer =
  | { readonly kind: 'value'; readonly value: FieldValue }
  | { readonly kind: 'skipped' }
  | { readonly kind: 'ended' };

async function askField(field: FormField, options: AskOptions): Promise<FieldAnswer> {
  const { prompter, style, signal, given } = options;
  const known = given.get(field.name);
  if (known !== undefined) {
    const parsed = field.parse(known);
    prompter.say(`${style.bold(field.title)}: ${known}\n`);
    if (parsed.ok) return { kind: 'value', value: parsed.value };
    prompter.say(`${style.yellow(`  ${parsed.problem}`)}\n`);
  }
  describeField(field, options);
  for (;;) {
    const line = await prompter.ask(`${style.bold(field.title)}${presetText(field)}: `, signal);
    if (line === undefined) return { kind: 'ended' };
    if (line.trim() === '') {
      if (field.preset !== undefined) return { kind: 'value', value: field.preset };
      if (!field.required) return { kind: 'skipped' };
    }
    const parsed: ParsedField =
      line.trim() === '' ? { ok: false, problem: 'An answer is required' } : field.parse(line);
    if (parsed.ok) return { kind: 'value', value: parsed.value };
    prompter.say(`${style.yellow(`  ${parsed.problem}`)}\n`);
  }
}

function describeField(field: FormField, { prompter, style }: AskOptions): void {
  const notes = [field.kind, field.required ? 'required' : 'optional'].join('; ');
  prompter.say(
    `\n${field.description === undefined ? '' : `${field.description} `}${style.dim(`(${notes})`)}\n`,
  );
  field.choices.forEach(({ value, title }, at) => {
    const name = oneLine(value);
    prompter.say(`  ${at + 1}  ${title}${title === name ? '' : style.dim(`  ${name}`)}\n`);
  });
}

function presetText({ preset }: FormField): string {
  if (preset === undefined) return '';
  const text = typeof preset === 'boolean' ? (preset ? 'yes' : 'no') : String(preset);
  return ` [${oneLine(text)}]`;
}

export async function askYesNo(
  prompter: Prompter,
  prompt: string,
  signal: AbortSignal,
  preset: boolean | undefined,
): Promise<boolean | undefined> {
  for (;;) {
    const line = await prompter.ask(prompt, signal);
    if (line === undefined) return undefined;
    const answer = line.trim().toLowerCase();
    if (answer === '' && preset !== undefined) return preset;
    if (['y', 'yes'].includes(answer)) return true;
    if (['n', 'no'].includes(answer)) return false;
  }
}

function introduce(message: string, { prompter, style, asker }: AskOptions, note: string | undefined): void {
  const tail = note === undefined ? '' : style.dim(` (${note})`);
  prompter.say(`\n${style.cyan(`${oneLine(asker)} asks:`)} ${printable(String(message)).trim()}${tail}\n`);
}

/** Asks a person, one line at a time. */
export interface Prompter {
  say(text: string): void;
  /** The typed line, or `undefined` at the end of the input (Ctrl-D, or `signal`). `hidden` does not echo it. */
  ask(
    prompt: string,
    signal: AbortSignal,
    options?: { readonly hidden?: boolean },
  ): Promise<string | undefined>;
}

/** Ctrl-C at a prompt does not reach the process as a signal. It calls `onInterrupt` instead. */
export function createPrompter(
  input: Readable,
  output: Writable,
  options: { readonly terminal: boolean; readonly onInterrupt: () => void },
): Prompter {
  return {
    say: (text) => void output.write(text),
    ask: (prompt, signal, { hidden = false } = {}) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        // Each question has its own interface: an open one would keep the process alive.
        const shown = hidden ? discard() : output;
        const lines = createInterface({ input, output: shown, terminal: options.terminal, historySize: 0 });
        if (hidden) output.write(prompt);
        let line: string | undefined;
        const stop = () => lines.close();
        signal.addEventListener('abort', stop, { once: true });
        lines.once('SIGINT', () => {
          output.write('\n');
          lines.close();
          options.onInterrupt();
        });
        lines.once('close', () => {
          signal.removeEventListener('abort', stop);
          if (hidden || (line === undefined && !signal.aborted)) output.write('\n');
          input.pause();
          resolve(line);
        });
        lines.question(prompt, (text) => {
          line = text;
          lines.close();
        });
      }),
  };
}

/** The interface echoes what is typed. This stream swallows the echo. */
function discard(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
