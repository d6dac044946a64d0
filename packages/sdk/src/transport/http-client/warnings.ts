import { events } from '../../events.js';

/** Tells the caller, and whoever watches, of what nothing else reports. */
export function createWarner(
  label: string,
  onWarning: ((warning: string) => void) | undefined,
): (warning: string) => void {
  return (warning) => {
    if (events.dropped.hasSubscribers) {
      events.dropped.publish({ connection: label, why: warning, message: undefined });
    }
    try {
      onWarning?.(`${label}: ${warning}`);
    } catch (error) {
      // The caller's failure is its own.
      if (events.handlerFailed.hasSubscribers) events.handlerFailed.publish({ method: 'onWarning', error });
    }
  };
}
