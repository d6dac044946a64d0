import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { ISTHMUS } from '../../support/child.js';

export interface RunningInspect {
  /** The link to its page. */
  readonly url: string;
  /** Sends a signal, and settles when it has ended. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Runs `isthmus inspect` on a command, until the test ends. Settles with the link to its page. */
export async function startInspect(command: readonly string[], options?: readonly string[]): Promise<string> {
  return (await runInspect(command, options)).url;
}

export async function runInspect(
  command: readonly string[],
  options: readonly string[] = [],
): Promise<RunningInspect> {
  const args = [ISTHMUS, 'inspect', '--no-open', '--json', ...options, '--', ...command];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await ended;
  };
  onTestFinished(() => end('SIGTERM'));
  for await (const line of createInterface(child.stdout))
    return { url: (JSON.parse(line) as { url: string }).url, end };
  throw new Error('isthmus inspect has ended before it printed its link');
}
