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
 * Starts a program that outlives our process. It has its own session, so that signals to our group do not reach it. On
 * POSIX a shell starts it and exits at once, so that it is not among our children when they are ended. Its descriptor 3
 * is the other end of the returned stream, which ends when the program closes it or dies. Never throws: after a failed
 * start the stream ends or fails.
 */
export function startDetached({ command, args, cwd, env, stderr }: DetachedOptions): Readable {
  const [program, programArgs] =
    process.platform === 'win32'
      ? [command, [...args]]
      : ['/bin/sh', ['-c', '"$@" &', 'sh', command, ...args]];
  const child = spawn(program, programArgs, {
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
