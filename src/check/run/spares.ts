import type { Pipe, Target } from '../wire/target.js';

/** Connections that are opened before they are needed: programs take their time to start. */
export interface Spares {
  take(): Promise<Pipe>;
  /** Starts no more of them. */
  close(): Promise<void>;
}

export function createSpares(target: Target, count: number): Spares {
  const ready: Promise<Pipe>[] = [];
  let isClosed = false;
  const open = (): Promise<Pipe> => {
    if (target.transport === 'http') return Promise.reject(new Error('a URL has no stream'));
    return target.open();
  };
  const refill = () => {
    while (!isClosed && target.transport === 'command' && ready.length < count) {
      const pipe = open();
      // Whoever takes it is told; nobody may.
      pipe.catch(() => {});
      ready.push(pipe);
    }
  };
  return {
    async take() {
      for (let next = ready.shift(); next; next = ready.shift()) {
        const pipe = await next;
        if (pipe.process?.isGone !== true) {
          refill();
          return pipe;
        }
        await pipe.close();
      }
      refill();
      return open();
    },
    async close() {
      isClosed = true;
      await Promise.all(ready.splice(0).map((next) => next.then((pipe) => pipe.close()).catch(() => {})));
    },
  };
}
