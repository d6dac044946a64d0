import { signal } from '@preact/signals';
import { clockAhead } from './session.js';

/** The time of the process. It moves once a second, while the tab is seen. */
export const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now() + clockAhead.value;
  }, 1000);
  document.addEventListener('visibilitychange', () => {
    now.value = Date.now() + clockAhead.value;
  });
}
