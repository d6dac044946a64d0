import { setMaxListeners } from 'node:events';

/** A controller whose signal many listen to at once: that is what it is for, and no leak to warn of. */
export function sharedAbort(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}
