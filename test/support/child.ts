import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { Message } from './messages.js';

/** How a process ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ChildOptions {
  readonly args?: readonly string[];
  /** Instead of the environment of the tests. */
  readonly env?: Readonly<Record<string, string>>;
  /** False: nobody reads stdout until `readOutput` is called. Default true. */
  readonly read?: boolean;
  /** Called for every line instead of keeping it, for output too large to keep. */
  readonly onLine?: (line: string) => void;
  /** Another Node than the one that runs the test. */
  readonly node?: string;
}

/** The program that `npx isthmus` runs. */
export const ISTHMUS = fileURLToPath(new URL('../../bin/isthmus.js', import.meta.url));

/** A fixture program of `test/process/`. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../programs/${name}`, import.meta.url));
}

/** The demo server on its own stdin and stdout. */
export function startDemo(options: ChildOptions = {}): Child {
  return startChild(ISTHMUS, { ...options, args: ['demo', ...(options.args ?? [])] });
}

/** A real process that speaks lines of JSON. Killed when the test ends, passed or failed. */
export function startChild(program: string, options: ChildOptions = {}): Child {
  const child = new Child(program, options);
  onTestFinished(() => child.reap());
  return child;
}

export class Child {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderrStream: Readable;
  readonly ended: Promise<Ended>;
  /** What stdout held so far, in order; lines that are not JSON are in `impure`. */
  readonly messages: Message[] = [];
  readonly impure: string[] = [];
  stderr = '';
  hasEnded = false;
  readonly #process: ChildProcess;
  readonly #name: string;
  readonly #onLine: (line: string) => void;
  readonly #waiting = new Set<() => void>();

  constructor(
    program: string,
    { args = [], env, read = true, onLine, node = process.execPath }: ChildOptions,
  ) {
    const child = spawn(node, [program, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
    everyChild.add(child);
    this.#process = child;
    this.#name = [program, ...args].join(' ');
    this.#onLine = onLine ?? ((line) => this.#keep(line));
    this.stdin = child.stdin;
    this.stdout = child.stdout;
    this.stderrStream = child.stderr;
    // A server that is gone before it has read everything is no error of the test.
    child.stdin.on('error', () => {});
    child.stdout.on('error', () => {});
    child.stderr.on('error', () => {});
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
      this.#wake();
    });
    if (read) this.readOutput();
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        everyChild.delete(child);
        // Output that is still in a pipe belongs to the run, unless nobody reads it.
        void Promise.all([this.#reading && over(child.stdout), over(child.stderr)]).then(() => {
          this.hasEnded = true;
          resolve({ code, signal });
          this.#wake();
        });
      });
    });
  }

  #reading = false;

  get pid(): number {
    return this.#process.pid!;
  }

  /** Starts reading stdout; by default that happens at the start. */
  readOutput(): void {
    this.#reading = true;
    let parts: string[] = [];
    this.stdout.setEncoding('utf8');
    this.stdout.on('data', (text: string) => {
      const lines = text.split('\n');
      parts.push(lines.shift()!);
      if (lines.length > 0) {
        this.#onLine(parts.join(''));
        parts = [lines.pop()!];
        for (const line of lines) this.#onLine(line);
      }
      this.#wake();
    });
    this.stdout.on('end', () => {
      const rest = parts.join('');
      if (rest !== '') this.impure.push(rest);
      this.#wake();
    });
  }

  send(...messages: object[]): void {
    this.stdin.write(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  write(data: string | Uint8Array): void {
    this.stdin.write(data);
  }

  /** Writes a large text without holding more of it in the pipe than the child takes. */
  async pour(parts: Iterable<string>): Promise<void> {
    for (const part of parts) {
      if (this.hasEnded || this.stdin.destroyed) return;
      if (!this.stdin.write(part)) {
        await Promise.race([once(this.stdin, 'drain').catch(() => {}), this.ended]);
      }
    }
  }

  /** Closes stdin, after `data`. */
  end(data = ''): void {
    this.stdin.end(data);
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Waits until `ready`, woken by output and by the end; fails with the evidence when it never comes. */
  async until(what: string, ready: () => boolean, limitMs = 25_000): Promise<void> {
    if (ready()) return;
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const look = () => {
        if (ready()) {
          stop();
          resolve();
        } else if (this.hasEnded) {
          stop();
          reject(new Error(`${this.#name} ended before ${what}\n${this.#evidence()}`));
        }
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`${this.#name}: no ${what} within ${limitMs} ms\n${this.#evidence()}`));
      }, limitMs);
      this.#waiting.add(look);
      look();
    });
  }

  /** The answer to a request. */
  async answer(id: string | number): Promise<Message> {
    const find = () => this.messages.find((message) => message.id === id && message.method === undefined);
    await this.until(`answer to ${JSON.stringify(id)}`, () => find() !== undefined);
    return find()!;
  }

  /** The first `count` messages. */
  async first(count: number): Promise<Message[]> {
    await this.until(`${count} messages`, () => this.messages.length >= count);
    return this.messages.slice(0, count);
  }

  /** The end of the process, or a failure when it takes longer. */
  async exit(limitMs = 25_000): Promise<Ended> {
    await this.until('exit', () => this.hasEnded, limitMs);
    return this.ended;
  }

  /** The most memory it ever held, in MB. Linux only. */
  peakMemory(): number {
    return memoryOf(this.pid, 'VmHWM');
  }

  /** The time that it had on a processor. Linux only. */
  cpuMs(): number {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'latin1');
    // Behind the name; the manual counts utime and stime as 14 and 15, in hundredths of a second.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return 10 * (Number(fields[11]) + Number(fields[12]));
  }

  /** Kills it if it still lives and waits until it is gone. */
  async reap(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      const gone = once(this.#process, 'exit');
      this.#process.kill('SIGKILL');
      await gone;
    }
    this.stdin.destroy();
    this.stdout.destroy();
    this.stderrStream.destroy();
  }

  #keep(line: string): void {
    try {
      this.messages.push(JSON.parse(line) as Message);
    } catch {
      this.impure.push(line);
    }
  }

  #wake(): void {
    for (const look of [...this.#waiting]) look();
  }

  #evidence(): string {
    const last = this.messages.slice(-3).map((message) => JSON.stringify(message).slice(0, 300));
    return `${this.messages.length} messages, the last: ${last.join(' ')}\nstderr: ${this.stderr.slice(-2000)}`;
  }
}

/** Settles when a stream has ended or was destroyed. */
function over(stream: Readable): Promise<unknown> {
  return stream.destroyed || stream.readableEnded ? Promise.resolve() : once(stream, 'close');
}

function memoryOf(pid: number, field: 'VmHWM' | 'VmRSS'): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) / 1024;
}

/** The last resort: a test run that is itself ended must not leave servers behind. */
const everyChild = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of everyChild) child.kill('SIGKILL');
});
