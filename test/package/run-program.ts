import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  /** Written to stdin, which is then closed. */
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** The program is killed after this time, and ends with code null. */
  readonly limitMs: number;
}

/** Runs a program to its end. A program that fails is an answer; one that cannot be started is an error. */
export function runProgram(command: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      timeout: options.limitMs,
      killSignal: 'SIGKILL',
      // npm and npx are scripts on Windows.
      shell: process.platform === 'win32' && command !== process.execPath,
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
    // A program that ends without reading its input is no error of ours.
    child.stdin.on('error', () => {});
    child.stdin.end(options.input ?? '');
  });
}
