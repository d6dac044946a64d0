import { type ChildProcess, fork } from 'node:child_process';

/** Another process of this program, with a channel that carries values and sockets. */
export type ForkedProcess = ChildProcess;

/** Starts this program once more with the same arguments. `variable` is set to 1 for it, so that it knows what it is. */
export function forkSelf(variable: string): ForkedProcess {
  return fork(process.argv[1]!, process.argv.slice(2), {
    serialization: 'advanced',
    env: { ...process.env, [variable]: '1' },
  });
}
