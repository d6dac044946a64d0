import type { ProgressLine } from '../terminal/progress-line.js';

/** A time limit that restarts when there is news from the server. */
export interface AnswerDeadline {
  restart(): void;
  stop(): void;
}

/** The time limits of all requests of a command. They stop while the user answers a question. */
export class AnswerDeadlines {
  asking = false;
  readonly #line: ProgressLine;
  readonly #running = new Set<HeldDeadline>();

  constructor(line: ProgressLine) {
    this.#line = line;
  }

  start(ms: number, onLate: () => void): AnswerDeadline {
    const deadline = createHeldDeadline(ms, onLate);
    this.#running.add(deadline);
    return {
      restart: deadline.restart,
      stop: () => {
        this.#running.delete(deadline);
        deadline.stop();
      },
    };
  }

  async whileAsking<T>(ask: () => Promise<T>): Promise<T> {
    this.#line.hide();
    this.asking = true;
    const held = [...this.#running];
    for (const deadline of held) deadline.hold();
    try {
      return await ask();
    } finally {
      this.asking = false;
      for (const deadline of held) deadline.release();
    }
  }
}

interface HeldDeadline extends AnswerDeadline {
  /** Stops the timer. It starts again, with the full time, after as many calls of `release`. */
  hold(): void;
  release(): void;
}

function createHeldDeadline(ms: number, onLate: () => void): HeldDeadline {
  let timer: NodeJS.Timeout | undefined;
  let holds = 0;
  let over = false;
  const restart = () => {
    clearTimeout(timer);
    if (holds === 0 && !over) timer = setTimeout(onLate, ms);
  };
  restart();
  return {
    restart,
    hold() {
      holds += 1;
      clearTimeout(timer);
    },
    release() {
      holds -= 1;
      restart();
    },
    stop() {
      over = true;
      clearTimeout(timer);
    },
  };
}
