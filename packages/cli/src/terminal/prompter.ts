import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';

/** Somebody who can be asked, one line at a time. */
export interface Prompter {
  say(text: string): void;
  /** The line that was typed, or `undefined` when nothing more will be (Ctrl-D, or `signal`). `hidden`: it is not shown. */
  ask(
    prompt: string,
    signal: AbortSignal,
    options?: { readonly hidden?: boolean },
  ): Promise<string | undefined>;
}

/** Ctrl-C at a prompt does not reach the process as a signal: `onInterrupt` is told instead. */
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
        // One for each question: between questions nobody reads, so that the process can end.
        const shown = hidden ? nowhere() : output;
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

/** A terminal echoes what is typed by way of the interface, so that is given nothing to write to. */
function nowhere(): Writable {
  return new Writable({ write: (_chunk, _encoding, done) => done() });
}
