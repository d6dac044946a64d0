import type { Redactor } from '@isthmus/gateway/internal/telemetry/redactor.js';
import { type Clock, systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { CliError } from '../cli-error.js';
import type { Operator } from './operator.js';

/**
 * The same, and no secret is seen. What a command writes is passed on line by line, since a secret that is cut in two
 * would be recognised in neither part; a line that does not end is passed on after a moment.
 */
export function discreetOperator(
  inner: Operator,
  { text: clean }: Pick<Redactor, 'text'>,
  clock: Clock = systemClock,
): Operator {
  let open = '';
  let callOff = () => {};
  const flush = () => {
    callOff();
    const rest = open;
    open = '';
    inner.passOn(clean(rest));
  };
  return {
    say(line) {
      flush();
      inner.say(clean(line));
    },
    passOn(text) {
      callOff();
      open += text;
      const end = open.lastIndexOf('\n') + 1;
      const lines = open.slice(0, end);
      open = open.slice(end);
      inner.passOn(clean(lines));
      if (open.length > LONGEST) flush();
      else if (open !== '') callOff = clock.after(PAUSE_MS, flush, { background: true });
    },
    warn(failure, then) {
      flush();
      inner.warn(discreetFailure(failure, clean), then === undefined ? undefined : clean(then));
    },
    waitFor: (what) => inner.waitFor(clean(what)),
  };
}

export function discreetFailure(failure: CliError, clean: (text: string) => string): CliError {
  const { exitCode, message, evidence, hint } = failure;
  const more = { evidence: evidence.map(clean), ...(hint !== undefined && { hint }) };
  return new CliError(exitCode, clean(message), more);
}

const PAUSE_MS = 200;
const LONGEST = 64 * 1024;
