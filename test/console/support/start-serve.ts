import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { ISTHMUS } from '../../support/child.js';

export interface ServedConsole {
  /** The link to the console. */
  readonly link: string;
  /** The address of the gateway. */
  readonly url: string;
  /** Kills it at once, without a word to anybody. */
  kill(): Promise<void>;
}

/** Runs `isthmus serve --console` with these arguments until the test ends. */
export async function startServe(
  args: readonly string[],
  { console = '127.0.0.1:0' }: { readonly console?: string } = {},
): Promise<ServedConsole> {
  const all = [ISTHMUS, 'serve', '--listen', 'http://127.0.0.1:0/mcp', '--console', console, ...args];
  const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const said: string[] = [];
  for await (const line of createInterface(child.stderr)) {
    said.push(line);
    const [link] = /http:\S+#enter=[\w-]+/.exec(line) ?? [];
    if (link === undefined) continue;
    child.stderr.resume();
    const [url] = /http:\S+\/mcp/.exec(said.join('\n')) ?? [];
    return {
      ...{ link, url: url ?? '' },
      async kill() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
  throw new Error(`isthmus serve has ended before it printed a link:\n${said.join('\n')}`);
}
