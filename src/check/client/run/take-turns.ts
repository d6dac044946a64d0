import type { Clock } from '../../../async/clock.js';
import { within } from '../../../async/within.js';

/**
 * Does `work` for every plan, `jobs` at a time. What takes longer than `patienceMs` only waits (a client for its own
 * limit, mostly) and needs no processor: another begins beside it, until `MOST_WAITING` wait.
 */
export async function takeTurns<Plan>(
  plans: readonly Plan[],
  jobs: number,
  work: (plan: Plan) => Promise<void>,
  { clock, patienceMs = PATIENCE_MS }: { readonly clock: Clock; readonly patienceMs?: number },
): Promise<void> {
  const queue = [...plans];
  const jobsBegun: Promise<void>[] = [];
  let waiting = 0;
  const turn = async () => {
    for (let plan = queue.shift(); plan !== undefined; plan = queue.shift()) {
      const job = work(plan);
      jobsBegun.push(job);
      if (await within(clock, patienceMs, job)) continue;
      if (waiting >= MOST_WAITING) {
        await job.catch(() => {});
        continue;
      }
      waiting += 1;
      job.finally(() => (waiting -= 1)).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, jobs) }, turn));
  await Promise.all(jobsBegun);
}

const PATIENCE_MS = 8000;
const MOST_WAITING = 16;
