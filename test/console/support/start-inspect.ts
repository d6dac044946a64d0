import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { ISTHMUS } from '../../support/child.js';

/** Runs `isthmus inspect` on a command, until the test ends. Settles with the link to its page. */
export async function startInspect(
  command: readonly string[],
  options: readonly string[] = [],
): Promise<string> {
  const args = [ISTHMUS, 'inspect', '--no-open', '--json', ...options, '--', ...command];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  for await (const line of createInterface(child.stdout)) return (JSON.parse(line) as { url: string }).url;
  throw new Error('isthmus inspect has ended before it printed its link');
}
