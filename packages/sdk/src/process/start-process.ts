import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { Readable, Writable } from 'node:stream';
import spawn from 'cross-spawn';
import { createDeferred } from '../async/deferred.js';
import type { ChildExit, ChildOptions } from './child.js';
import { childEnvironment } from './environment.js';
import { guardAgainstOrphaning } from './orphan-guard.js';

/** A process of Node, with its three ways to report a failed start made one. */
export interface StartedProcess {
  readonly pid: number | undefined;
  /** It was started by `startEarly`, so it may be ready to answer. */
  readonly isEarly: boolean;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when it has exited or could not be started. */
  readonly ended: Promise<LeaderEnd>;
  /** Settles when it has ended and its pipes are read to the end. */
  readonly closed: Promise<void>;
  /** Neither the process nor its pipes keep ours from exiting any longer. */
  unref(): void;
  /** They do again. */
  ref(): void;
}

export type LeaderEnd = Omit<ChildExit, 'ranMs'>;

/**
 * Starts a process for the first `startProcess` with the same options, so that it boots while our process loads the rest
 * of itself. A process that has ended before it is asked for is forgotten: `startProcess` starts the command again and
 * its caller sees how that fails. One that is never asked for ends with our process. A second call with the same options
 * does nothing.
 */
export function startEarly(options: ChildOptions): void {
  const identity = identityOf(options);
  if (identity === lastEarly) return;
  lastEarly = identity;
  const started = startNow(options);
  if (started.pid === undefined) return;
  started.unref();
  const mine = { identity, started };
  early = mine;
  const release = guardAgainstOrphaning(started.pid);
  void started.ended.then(() => {
    release();
    if (early === mine) early = undefined;
  });
}

/** Starts a process, or takes the one that was started early. */
export function startProcess(options: ChildOptions): StartedProcess {
  if (early === undefined || early.identity !== identityOf(options)) return startNow(options);
  const { started } = early;
  early = undefined;
  started.ref();
  return { ...started, isEarly: true };
}

let lastEarly: string | undefined;
let early: { readonly identity: string; readonly started: StartedProcess } | undefined;

function identityOf(options: ChildOptions): string {
  const { command, args = [], cwd = process.cwd() } = options;
  return JSON.stringify([command, args, cwd, childEnvironment(options)]);
}

function startNow(options: ChildOptions): StartedProcess {
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
      // Makes it the leader of a process group, so that all that it starts can be ended with it. On Windows this
      // would open a console instead.
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
  // After a failed start there may be pipes, which Node closes a little later. After a throw, and when file
  // descriptors ran out, there are none.
  if (!child?.stdout) closed.resolve();
  const stdin = child?.stdin ?? new Writable().destroy();
  const stdout = child?.stdout ?? Readable.from([]);
  const stderr = child?.stderr ?? Readable.from([]);
  // A pipe breaks when its child dies. `ended` reports that.
  for (const pipe of [stdin, stdout, stderr]) pipe.on('error', () => {});
  return {
    pid: child?.pid,
    isEarly: false,
    stdin,
    stdout,
    stderr,
    ended: ended.promise,
    closed: closed.promise,
    unref() {
      child?.unref();
      for (const pipe of [stdin, stdout, stderr]) (pipe as Partial<Socket>).unref?.();
    },
    ref() {
      child?.ref();
      for (const pipe of [stdin, stdout, stderr]) (pipe as Partial<Socket>).ref?.();
    },
  };
}

/** The system reports ENOENT for the command also when the working directory does not exist. */
function blameDirectory(error: NodeJS.ErrnoException, cwd: string | undefined): Error {
  if (error.code !== 'ENOENT' || cwd === undefined || existsSync(cwd)) return error;
  const blamed = new Error(`the working directory ${cwd} does not exist`, { cause: error });
  return Object.assign(blamed, { code: 'ENOENT', syscall: 'chdir', path: cwd });
}
