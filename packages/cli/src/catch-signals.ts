import { EXIT } from './exit-codes.js';
import type { ProgressLine } from './terminal/progress-line.js';

export interface Interruption {
  readonly signal: AbortSignal;
  /** As if Ctrl-C had been pressed. */
  interrupt(): void;
  /** What to exit with. */
  code(): number;
  release(): void;
}

/** The first Ctrl-C calls off what runs; the second does not wait for anybody. */
export function catchSignals(line: ProgressLine): Interruption {
  const controller = new AbortController();
  let code: number = EXIT.interrupted;
  const stop = (with_: number) => {
    line.hide();
    if (controller.signal.aborted) process.exit(with_);
    code = with_;
    controller.abort(new Error('the user interrupted it'));
  };
  const interrupt = () => stop(EXIT.interrupted);
  const terminate = () => stop(EXIT.terminated);
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  return {
    signal: controller.signal,
    interrupt,
    code: () => code,
    release() {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
    },
  };
}
