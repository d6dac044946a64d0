import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

/** Somebody who can be asked, one line at a time. */
export interface Prompter {
  say(text: string): void;
  /** The line that was typed, or `undefined` when nothing more will be (Ctrl-D, or `signal`). */
  ask(prompt: string, signal: AbortSignal): Promise<string | undefined>;
}

/** Ctrl-C at a prompt does not reach the process as a signal: `onInterrupt` is told instead. */
export function createPrompter(
  input: Readable,
  output: Writable,
  options: { readonly terminal: boolean; readonly onInterrupt: () => void },
): Prompter {
  return {
    say: (text) => void output.write(text),
    ask: (prompt, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(undefined);
        // One for each question: between questions nobody reads, so that the process can end.
        const lines = createInterface({ input, output, terminal: options.terminal, historySize: 0 });
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
          if (line === undefined && !signal.aborted) output.write('\n');
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
