import type { HostEvent } from '../../host/host-event.js';

/** Why a process ended, in few enough words for a label. */
export type ExitReason = 'told' | 'cannot_start' | 'signal' | 'exit_zero' | 'exit_error' | 'other';

/** The sentences are those of `process/describe-exit.ts`; the last stderr behind them can say anything. */
export function classifyExit({ expected, reason }: HostEvent & { readonly kind: 'exit' }): ExitReason {
  if (expected) return 'told';
  const [sentence = ''] = reason.split('; last stderr:', 1);
  if (/ could not be started\b/.test(sentence)) return 'cannot_start';
  if (/ was ended by SIG[A-Z0-9]+ after /.test(sentence)) return 'signal';
  const code = / stopped with code (\d+) after /.exec(sentence)?.[1];
  if (code === undefined) return 'other';
  return code === '0' ? 'exit_zero' : 'exit_error';
}
