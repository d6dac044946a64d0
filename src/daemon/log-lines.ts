import type { LogLine, LogsOptions } from '../gateway/control/index.js';
import { createInflow, type Inflow } from '../gateway/control/inflow.js';
import type { HostEvent } from '../host/host-event.js';

/** The last lines that the servers of the daemon had to say, in memory only: they may hold secrets. */
export class LogLines {
  readonly #lines: LogLine[] = [];
  readonly #followers = new Set<Inflow<LogLine>>();

  hear(event: HostEvent): void {
    const { server, at } = event;
    if (event.kind === 'stderr') {
      const { pid, generation } = event;
      for (const text of event.text.split('\n').filter((line) => line.trim() !== ''))
        this.#add({ server, at, source: 'stderr', text, pid, generation });
    } else if (event.kind === 'exit' && !event.expected) {
      const { pid, generation, reason } = event;
      this.#add({ server, at, source: 'gateway', text: reason, pid, generation });
    }
  }

  async *read(
    server: string | undefined,
    { lines, follow }: LogsOptions,
    signal: AbortSignal,
  ): AsyncGenerator<LogLine> {
    const isWanted = (line: LogLine) => server === undefined || line.server === server;
    const known = this.#lines.filter(isWanted);
    const inflow = createInflow<LogLine>({ onFull: () => inflow.end(), onRoom() {} });
    if (follow) this.#followers.add(inflow);
    const stop = () => inflow.end();
    signal.addEventListener('abort', stop, { once: true });
    try {
      yield* known.slice(Math.max(0, known.length - lines));
      if (!follow || signal.aborted) return;
      for await (const line of inflow) if (isWanted(line)) yield line;
    } finally {
      signal.removeEventListener('abort', stop);
      this.#followers.delete(inflow);
    }
  }

  #add(line: LogLine): void {
    this.#lines.push(line);
    if (this.#lines.length > 2 * KEPT) this.#lines.splice(0, KEPT);
    for (const follower of this.#followers) follower.add(line);
  }
}

const KEPT = 1000;
