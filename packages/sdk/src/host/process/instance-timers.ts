import { watchHealth, watchReading } from './health.js';
import type { ProcessInstance } from './process-instance.js';
import type { SupervisorContext } from './supervisor-context.js';

/** Watches the current process of a supervisor: its age, its health, and for how long it is idle. */
export class InstanceTimers {
  readonly #context: Pick<SupervisorContext, 'settings' | 'clock' | 'emit'>;
  #cancelIdle = () => {};
  #cancelAge = () => {};

  constructor(context: Pick<SupervisorContext, 'settings' | 'clock' | 'emit'>) {
    this.#context = context;
  }

  /** From its first answer on. The health checks end with the process, the age timer with `cancel()`. */
  watch(instance: ProcessInstance, onMaxAge: () => void): void {
    const { settings, clock, emit } = this.#context;
    this.#cancelAge();
    if (settings.maxAgeMs !== undefined) {
      this.#cancelAge = clock.after(settings.maxAgeMs, onMaxAge, { background: true });
    }
    if (settings.health) watchHealth(instance, settings.health, clock, emit);
    if (settings.maxUnreadMs !== undefined) watchReading(instance, settings.maxUnreadMs, clock, emit);
  }

  /** Calls back when the process may have been idle for `idleMs`. */
  startIdle(onIdleFor: (idleMs: number) => void): void {
    const { idleMs } = this.#context.settings;
    if (idleMs === undefined) return;
    this.#cancelIdle = this.#context.clock.after(idleMs, () => onIdleFor(idleMs), { background: true });
  }

  cancelIdle(): void {
    this.#cancelIdle();
  }

  cancel(): void {
    this.#cancelIdle();
    this.#cancelAge();
  }
}
