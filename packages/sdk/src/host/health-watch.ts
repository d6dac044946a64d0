import type { Clock } from '../async/clock.js';
import { treeFacts } from '../process/process-facts.js';
import { classifyHealth, type HealthCheck } from './health.js';
import type { HostOccurrence } from './host-event.js';
import type { ProcessInstance } from './process-instance.js';

/**
 * Looks after one life of a process until it ends. A request is its question (a list, or the discovery: never a
 * ping, which sound servers leave unanswered), and what the system says about the process decides.
 */
export function watchHealth(
  generation: ProcessInstance,
  { everyMs, timeoutMs, maxSilentMs }: HealthCheck,
  clock: Clock,
  emit: (occurrence: HostOccurrence) => void,
): void {
  let callOff = () => {};
  let over = false;
  let silentSince: number | undefined;
  void generation.ended.then(() => {
    over = true;
    callOff();
  });

  const later = () => {
    if (!over) callOff = clock.after(everyMs, () => void look(), { background: true });
  };

  const look = async () => {
    const { pid } = generation;
    // With a call in flight silence means nothing: many servers do one thing at a time.
    if (pid === undefined || generation.working > 0) return later();
    const began = clock.now();
    const heardBefore = generation.heard;
    const before = await treeFacts(pid);
    if (!(await generation.knock(timeoutMs))) return later();
    const after = await treeFacts(pid);
    if (over) return;
    const heard = generation.heard > heardBefore || generation.working > 0;
    silentSince = heard ? undefined : (silentSince ?? began);
    const now = clock.now();
    const health = classifyHealth({
      heard,
      before,
      after,
      silentMs: now - (silentSince ?? now),
      watchedMs: now - began,
      maxSilentMs,
    });
    if (health.kind !== 'hung') return later();
    emit({ kind: 'kill', generation: generation.number, pid, why: health.why });
    await generation.kill();
  };

  later();
}
