import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Workshop } from './workshop.js';

/** A line that serves over HTTP, as a shell runs it. */
export interface StartedLine extends AsyncDisposable {
  readonly url: string;
}

/** Settles when it has told its address; rejects with what it said when it ends before. */
export async function startLine(line: string, { folder, env }: Workshop): Promise<StartedLine> {
  const child = spawn('/bin/sh', ['-c', `exec ${line}`], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit');
  let said = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, found] = /^ {2}(http:\S+)/m.exec(said) ?? [];
      if (found !== undefined && said.includes('Ctrl-C stops it')) resolve(found);
    });
    void ended.then(([code]) => reject(new Error(`${line}\nended with ${String(code)}:\n${said}`)));
  });
  return {
    url,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
