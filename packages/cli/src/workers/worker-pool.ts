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

/** One of the workers. When its process ends, another process takes its slot. */
export interface Slot {
  readonly number: number;
  readonly process: ForkedProcess;
  state: 'starting' | 'ready' | 'ending';
  /** How long it may take to end. */
  exitMs: number;
}

export interface WorkerPoolOptions {
  readonly count: number;
  /** What a worker has to know. `isFirst`: no worker was started before it. */
  welcome(slot: number, isFirst: boolean): Extract<ToWorker, { kind: 'welcome' }>;
  /** Called for each process, before it runs. */
  onStart(slot: Slot): void;
  onReady(slot: Slot): void;
  /** `next`: how many milliseconds later another one is started. Undefined: none is. */
  onEnd(slot: Slot, end: WorkerEnd, nextMs: number | undefined): void;
}

/** Keeps a number of workers running. The first one has to be ready before the others are started. */
export class WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #slots = new Map<number, Slot>();
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

  get ready(): readonly Slot[] {
    const all = [...this.#slots.values()].filter(({ state }) => state === 'ready');
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
    for (const slot of this.#slots.values()) this.#tell(slot, signal);
    this.#review();
  }

  #start(number: number): void {
    if (this.#isClosing) return;
    const worker = forkSelf(WORKER_VARIABLE);
    const slot: Slot = { number, process: worker, state: 'starting', exitMs: UNTIL_KNOWN_MS };
    const isFirst = !this.#hasServed && this.#failures === 0;
    this.#slots.set(number, slot);
    this.#options.onStart(slot);
    worker.on('message', (message: unknown) => {
      if (isOfWorkers<ToParent>(message)) this.#hear(slot, message, isFirst);
    });
    // What cannot be sent to a process that ends is not needed.
    worker.on('error', () => {});
    // After its end and that of its channel, so that everything that it has said was heard.
    worker.on('close', (code, signal) => this.#ended(slot, { code, signal }));
  }

  #hear(slot: Slot, message: ToParent, isFirst: boolean): void {
    switch (message.kind) {
      case 'hello':
        return void send(slot, this.#options.welcome(slot.number, isFirst));
      case 'owned':
        slot.exitMs = message.exitMs;
        return;
      case 'ready':
        return this.#ready(slot);
      case 'signalled':
        // The signals of a terminal and of a service manager reach the parent, too.
        if (message.signal === 'SIGTERM' && !this.#isClosing) this.#tell(slot, 'SIGTERM');
        return;
      case 'listen':
        return this.#addresses.listen(slot.process, message);
      case 'unlisten':
        return this.#addresses.unlisten(slot.process, message.id);
      case 'taken':
        return this.#addresses.taken(message.number);
      case 'refused':
        return this.#addresses.refused(message.number);
    }
  }

  #ready(slot: Slot): void {
    if (slot.state !== 'starting') return;
    slot.state = 'ready';
    this.#failures = 0;
    this.#options.onReady(slot);
    if (this.#hasServed) return;
    this.#hasServed = true;
    for (let number = 1; number <= this.#options.count; number += 1) {
      if (!this.#slots.has(number)) this.#start(number);
    }
  }

  #tell(slot: Slot, signal: NodeJS.Signals): void {
    send(slot, { of: 'workers', kind: 'signal', signal });
    if (signal === 'SIGHUP' || slot.state === 'ending') return;
    slot.state = 'ending';
    // One that does not react any more is killed. Its child processes notice that.
    systemClock.after(slot.exitMs + MARGIN_MS, () => slot.process.kill('SIGKILL'), {
      background: true,
    });
  }

  #ended(slot: Slot, end: WorkerEnd): void {
    if (this.#slots.get(slot.number) === slot) this.#slots.delete(slot.number);
    this.#addresses.gone(slot.process);
    if (slot.state === 'starting') this.#failures += 1;
    this.#code ||= this.#isClosing ? (end.code ?? 0) : 0;
    const isHopeless = !this.#hasServed || (this.#failures >= MAX_FAILURES && this.ready.length === 0);
    if (!this.#isClosing && isHopeless) {
      this.#code = end.code || 1;
      this.signal('SIGTERM');
    }
    const nextMs = this.#isClosing ? undefined : pauseAfter(this.#failures);
    this.#options.onEnd(slot, end, nextMs);
    if (nextMs !== undefined) systemClock.after(nextMs, () => this.#start(slot.number));
    this.#review();
  }

  #review(): void {
    if (this.#isClosing && this.#slots.size === 0) this.#over.resolve(this.#code);
  }
}

function send({ process: worker }: Slot, message: ToWorker): void {
  if (worker.connected) worker.send(message, () => {});
}

/** The first one at once, later ones after more and more time. */
function pauseAfter(failures: number): number {
  return failures === 0 ? 0 : Math.min(250 * 2 ** (failures - 1), 10_000);
}

const UNTIL_KNOWN_MS = 5000;
const MARGIN_MS = 1000;
const MAX_FAILURES = 5;
