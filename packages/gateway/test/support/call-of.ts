import type { Call } from '@isthmus/sdk';
import { LazyAbort } from '@isthmus/sdk/internal/async/abort.js';

/** A modern call made by hand. `params.pending` are the questions that wait for an answer. */
export function callOf(principal: string | undefined): { readonly call: Call; cancel(): void } {
  const abort = new LazyAbort();
  const pending: (() => void)[] = [];
  const call: Call = {
    method: 'tools/call',
    params: { pending },
    peer: { era: 'modern', revision: '2026-07-28', info: undefined, capabilities: {}, principal },
    get signal() {
      return abort.signal;
    },
    cancellation: abort,
    answers: undefined,
    state: undefined,
    logLevel: undefined,
    wantsProgress: false,
    progress() {},
    log() {},
    notify() {},
    ask: () => new Promise((resolve) => pending.push(() => resolve({ roots: [] }))),
  };
  return { call, cancel: () => abort.abort(new Error('called off')) };
}
