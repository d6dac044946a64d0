import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import spawn from 'cross-spawn';
import { createDeferred } from '../async/deferred.js';
import type { ChildExit, ChildOptions } from './child.js';
import { childEnvironment } from './environment.js';

/** A process as the system gives it, with the three ways in which Node says that it could not start made one. */
export interface Started {
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when it has exited or could not be started. */
  readonly ended: Promise<LeaderEnd>;
  /** Settles when it has ended and its pipes are read to the end. */
  readonly closed: Promise<void>;
  /** Neither the process nor its pipes keep ours from exiting any longer. */
  unref(): void;
}

export type LeaderEnd = Omit<ChildExit, 'ranMs'>;

export function startProcess(options: ChildOptions): Started {
  const ended = createDeferred<LeaderEnd>();
  const closed = createDeferred<void>();
  const fail = (error: Error) => {
    ended.resolve({ code: null, signal: null, error: blameDirectory(error, options.cwd) });
  };
  let child: ChildProcess | undefined;
  try {
    child = spawn(options.command, [...(options.args ?? [])], {
      cwd: options.cwd,
      env: childEnvironment(options),
      stdio: 'pipe',
      // The leader of a process group of its own, so that all that it starts can be ended with it. On Windows
      // it would be a console of its own.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    child.on('error', fail);
    child.once('exit', (code, signal) => ended.resolve({ code, signal }));
    child.once('close', () => closed.resolve());
  } catch (error) {
    // Some failures are an 'error' event (ENOENT, EACCES), others are thrown (E2BIG, ENOTDIR, a NUL in a name).
    fail(error as Error);
  }
  // What could not be started may have pipes all the same, which Node closes a little later. Where it is thrown,
  // and when file descriptors ran out, there are none.
  if (!child?.stdout) closed.resolve();
  const stdin = child?.stdin ?? new Writable().destroy();
  const stdout = child?.stdout ?? Readable.from([]);
  const stderr = child?.stderr ?? Readable.from([]);
  return {
    pid: child?.pid,
    stdin,
    stdout,
    stderr,
    ended: ended.promise,
    closed: closed.promise,
    unref() {
      child?.unref();
      for (const pipe of [stdin, stdout, stderr]) (pipe as { unref?: () => void }).unref?.();
    },
  };
}

/** The system says ENOENT of the command when it is the working directory that does not exist. */
function blameDirectory(error: NodeJS.ErrnoException, cwd: string | undefined): Error {
  if (error.code !== 'ENOENT' || cwd === undefined || existsSync(cwd)) return error;
  const said = new Error(`the working directory ${cwd} does not exist`, { cause: error });
  return Object.assign(said, { code: 'ENOENT', syscall: 'chdir', path: cwd });
}
