import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { createDeferred } from '@isthmus/sdk/internal/async/deferred.js';
import { type ForkedProcess, forkSelf } from '@isthmus/sdk/internal/process/fork-self.js';
import { SharedAddresses } from './shared-addresses.js';
import { WORKER_VARIABLE } from './worker-link.js';
import { isOfWorkers, type ToParent, type ToWorker } from './worker-messages.js';

/** How a worker has ended. */
export interface WorkerEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** One of the workers. When its process ends, another process gets its number. */
export interface Worker {
  readonly number: number;
  readonly process: ForkedProcess;
  state: 'starting' | 'ready' | 'ending';
  /** How long it may take to end. */
  exitMs: number;
}

export interface WorkerPoolOptions {
  readonly count: number;
  /** What a worker has to know. `isFirst`: no worker was started before it. */
  welcome(number: number, isFirst: boolean): Extract<ToWorker, { kind: 'welcome' }>;
  /** Called for each process, before it runs. */
  onStart(worker: Worker): void;
  onReady(worker: Worker): void;
  /** `next`: how many milliseconds later another one is started. Undefined: none is. */
  onEnd(worker: Worker, end: WorkerEnd, nextMs: number | undefined): void;
}

/** Keeps a number of workers running. The first one has to be ready before the others are started. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #workers = new Map<number, Worker>();
  readonly #addresses = new SharedAddresses();
  readonly #over = createDeferred<number>();
  /** Starts in a row that did not get ready. */
  #failures = 0;
  #hasServed = false;
  #isClosing = false;
  #code = 0;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** Settles with the exit code when all workers have ended. */
  get over(): Promise<number> {
    return this.#over.promise;
  }

  get ready(): readonly Worker[] {
    const all = [...this.#workers.values()].filter(({ state }) => state === 'ready');
    return all.sort((a, b) => a.number - b.number);
  }

  start(): void {
    this.#start(1);
  }

  /** Passes a signal on to all workers. After SIGTERM and SIGINT no other ones are started. */
  signal(signal: NodeJS.Signals): void {
    if (signal !== 'SIGHUP') {
      this.#isClosing = true;
      this.#addresses.close();
    }
    for (const worker of this.#workers.values()) this.#tell(worker, signal);
    this.#review();
  }

  #start(number: number): void {
    if (this.#isClosing) return;
    const child = forkSelf(WORKER_VARIABLE);
    const worker: Worker = { number, process: child, state: 'starting', exitMs: UNTIL_KNOWN_MS };
    const isFirst = !this.#hasServed && this.#failures === 0;
    this.#workers.set(number, worker);
    this.#options.onStart(worker);
    child.on('message', (message: unknown) => {
      if (isOfWorkers<ToParent>(message)) this.#hear(worker, message, isFirst);
    });
    // What cannot be sent to a process that ends is not needed.
    child.on('error', () => {});
    // After its end and that of its channel, so that everything that it has said was heard.
    child.on('close', (code, signal) => this.#ended(worker, { code, signal }));
  }

  #hear(worker: Worker, message: ToParent, isFirst: boolean): void {
    switch (message.kind) {
      case 'hello':
        return void send(worker, this.#options.welcome(worker.number, isFirst));
      case 'owned':
        worker.exitMs = message.exitMs;
        return;
      case 'ready':
        return this.#ready(worker);
      case 'signalled':
        // The signals of a terminal and of a service manager reach the parent, too.
        if (message.signal === 'SIGTERM' && !this.#isClosing) this.#tell(worker, 'SIGTERM');
        return;
      case 'listen':
        return this.#addresses.listen(worker.process, message);
      case 'unlisten':
        return this.#addresses.unlisten(worker.process, message.id);
      case 'taken':
        return this.#addresses.taken(message.number);
      case 'refused':
        return this.#addresses.refused(message.number);
    }
  }

  #ready(worker: Worker): void {
    if (worker.state !== 'starting') return;
    worker.state = 'ready';
    this.#failures = 0;
    this.#options.onReady(worker);
    if (this.#hasServed) return;
    this.#hasServed = true;
    for (let number = 1; number <= this.#options.count; number += 1) {
      if (!this.#workers.has(number)) this.#start(number);
    }
  }

  #tell(worker: Worker, signal: NodeJS.Signals): void {
    send(worker, { of: 'workers', kind: 'signal', signal });
    if (signal === 'SIGHUP' || worker.state === 'ending') return;
    worker.state = 'ending';
    // One that does not react any more is killed. Its child processes notice that.
    systemClock.after(worker.exitMs + MARGIN_MS, () => worker.process.kill('SIGKILL'), {
      background: true,
    });
  }

  #ended(worker: Worker, end: WorkerEnd): void {
    if (this.#workers.get(worker.number) === worker) this.#workers.delete(worker.number);
    this.#addresses.gone(worker.process);
    if (worker.state === 'starting') this.#failures += 1;
    this.#code ||= this.#isClosing ? (end.code ?? 0) : 0;
    const isHopeless = !this.#hasServed || (this.#failures >= MAX_FAILURES && this.ready.length === 0);
    if (!this.#isClosing && isHopeless) {
      this.#code = end.code || 1;
      this.signal('SIGTERM');
    }
    const nextMs = this.#isClosing ? undefined : pauseAfter(this.#failures);
    this.#options.onEnd(worker, end, nextMs);
    if (nextMs !== undefined) systemClock.after(nextMs, () => this.#start(worker.number));
    this.#review();
  }

  #review(): void {
    if (this.#isClosing && this.#workers.size === 0) this.#over.resolve(this.#code);
  }
}

function send({ process: child }: Worker, message: ToWorker): void {
  if (child.connected) child.send(message, () => {});
}

/** The first one at once, later ones after more and more time. */
function pauseAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(250 * 2 ** (failures - 1), 10_000);
}

const UNTIL_KNOWN_MS = 5000;
const MARGIN_MS = 1000;
const MAX_FAILURES = 5;
