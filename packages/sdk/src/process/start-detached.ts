import { spawn } from 'node:child_process';
import { Readable } from 'node:stream';

export interface DetachedOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** An open file for its stderr. */
  readonly stderr: number;
}

/**
 * Starts a program that is to outlive us. It has a session of its own, so what a terminal or a host sends to our
 * group does not concern it; and on POSIX a shell stands in between and is gone at once, so that whoever ends us
 * with all our children does not find it. Its descriptor 3 is the other end of the returned stream, which ends when
 * the program closes it or dies. Never throws: what could not be started is a stream that ends, or fails.
 */
export function startDetached({ command, args, cwd, env, stderr }: DetachedOptions): Readable {
  const [program, words] =
    process.platform === 'win32'
      ? [command, [...args]]
      : ['/bin/sh', ['-c', '"$@" &', 'sh', command, ...args]];
  const child = spawn(program, words, {
    cwd,
    env,
    detached: true,
    windowsHide: true,
    stdio: ['ignore', 'ignore', stderr, 'pipe'],
  });
  const pipe = (child.stdio[3] as Readable | undefined) ?? Readable.from([]);
  child.on('error', (error) => pipe.destroy(error));
  child.unref();
  return pipe;
}
