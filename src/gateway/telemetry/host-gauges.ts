import { Gauge, type Registry } from 'prom-client';
import type { HostStatus } from '../../host/status.js';

/** What is so at the moment: never counted along, always asked for. */
export interface HostGauges {
  set(status: HostStatus): void;
  /** Nobody knows at the moment; then nothing is said. */
  clear(): void;
}

export function createHostGauges(registry: Registry): HostGauges {
  const gauge = (name: string, help: string) =>
    new Gauge({ name, help, labelNames: ['server'], registers: [registry] });
  const ready = gauge('isthmus_server_ready', 'Whether a process of the current generation has answered.');
  const processes = gauge('isthmus_server_processes', 'Processes of the server that live.');
  const crashLoops = gauge(
    'isthmus_server_crash_loops',
    'Processes that ended too often and are not started again.',
  );
  const queue = gauge('isthmus_server_queue_depth', 'Calls that wait for a process.');
  const parked = gauge('isthmus_server_calls_parked', 'Calls that wait for an answer to a question.');
  const maxParked = gauge(
    'isthmus_server_calls_parked_max',
    'How many calls may wait for an answer to a question, in one process.',
  );
  const rss = gauge(
    'isthmus_server_rss_bytes',
    'Memory of the processes of the server, with their children.',
  );
  const all = [ready, processes, crashLoops, queue, parked, maxParked, rss];
  const clear = () => {
    for (const each of all) each.reset();
  };
  return {
    clear,
    set({ servers }) {
      clear();
      for (const [server, status] of Object.entries(servers)) {
        const known = status.processes;
        ready.set({ server }, status.ready ? 1 : 0);
        processes.set({ server }, known.filter(({ pid }) => pid !== undefined).length);
        crashLoops.set({ server }, known.filter(({ state }) => state === 'crash-loop').length);
        queue.set({ server }, status.queued);
        parked.set({ server }, status.parked);
        maxParked.set({ server }, status.maxParked);
        const sizes = known.flatMap(({ facts }) => facts?.rssBytes ?? []);
        // Not every system tells.
        if (sizes.length > 0)
          rss.set(
            { server },
            sizes.reduce((total, each) => total + each, 0),
          );
      }
    },
  };
}
