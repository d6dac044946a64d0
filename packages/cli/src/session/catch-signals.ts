import { EXIT } from '../cli-error.js';
import type { ProgressLine } from '../terminal/progress-line.js';

export interface Interruption {
  readonly signal: AbortSignal;
  /** Does the same as Ctrl-C. */
  interrupt(): void;
  exitCode(): number;
  release(): void;
}

/** The first Ctrl-C cancels the running work. The second one exits at once. */
export function catchSignals(line: ProgressLine): Interruption {
  const controller = new AbortController();
  let exitCode: number = EXIT.interrupted;
  const stop = (code: number) => {
    line.hide();
    if (controller.signal.aborted) process.exit(code);
    exitCode = code;
    controller.abort(new Error('the user interrupted it'));
  };
  const interrupt = () => stop(EXIT.interrupted);
  const terminate = () => stop(EXIT.terminated);
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', terminate);
  return {
    signal: controller.signal,
    interrupt,
    exitCode: () => exitCode,
    release() {
      process.off('SIGINT', interrupt);
      process.off('SIGTERM', terminate);
    },
  };
}
