/** A time limit that can be held while a person thinks, and starts anew when there is news. */
export interface CommandDeadline {
  restart(): void;
  /** Stops the time until as many `release` have followed; then it starts anew. */
  hold(): void;
  release(): void;
  stop(): void;
}

export function createDeadline(ms: number, onLate: () => void): CommandDeadline {
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
