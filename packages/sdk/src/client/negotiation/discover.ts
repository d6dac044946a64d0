import { decidesEra, describe, type ProbeOutcome } from '../../era/classify-probe.js';
import { envelope } from '../../era/modern/tenant-caller.js';
import type { ModernRevision } from '../../era/revisions.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import { requestMessage } from '../../wire/json-rpc.js';
import type { ConnectSettings } from '../options.js';
import type { NegotiatedConnection } from './negotiated-connection.js';

/** What came of asking `server/discover`; after silence the answer may still come. */
export interface Discovery {
  readonly outcome: ProbeOutcome;
  readonly late: Promise<ProbeOutcome | undefined>;
}

/** Asks `server/discover` on a line whose era is not known yet. */
export async function discover(
  line: NegotiatedConnection,
  settings: ConnectSettings,
  revision: ModernRevision,
): Promise<Discovery> {
  const { clock, connectTimeoutMs } = settings;
  const began = clock.now();
  const answer = line.requests
    .request({
      what: 'server/discover',
      timeoutMs: connectTimeoutMs,
      send: (id) =>
        line.connection.send(requestMessage(id, 'server/discover', { _meta: envelope(settings, revision) })),
      giveUp: () => {},
    })
    .then(
      (result): ProbeOutcome => ({ kind: 'result', result }),
      (error) => (line.connection.answersAll ? failedOverHttp(error) : failedProbe(error)),
    );
  const idless = new Promise<ProbeOutcome>((resolve) => {
    line.onIdlessError = (error) => resolve({ kind: 'idless', error });
  });
  // Where every request has its answer or its failure, the time that it takes says nothing.
  const waiting = line.connection.answersAll ? noSilence() : waitForSilence(line, settings);
  const silence = waiting.passed.then(
    (): ProbeOutcome => ({ kind: 'silence', afterMs: clock.now() - began }),
  );
  try {
    const outcome = await Promise.race([answer, idless, silence]);
    return { outcome, late: answer.catch(() => undefined) };
  } finally {
    line.onIdlessError = undefined;
    waiting.callOff();
  }
}

/** A promise of its own each time: one for all would keep what ever waited for it. */
function noSilence(): { readonly passed: Promise<never>; callOff(): void } {
  return { passed: new Promise<never>(() => {}), callOff() {} };
}

/** Starts to count when the server shows life, so that a slow start is not taken for an old era. */
function waitForSilence(
  line: NegotiatedConnection,
  { clock, bootMs, silenceMs }: ConnectSettings,
): { readonly passed: Promise<void>; callOff(): void } {
  let callOff = () => {};
  let over = false;
  const passed = new Promise<void>((resolve) => {
    callOff = clock.after(bootMs, resolve, { background: true });
    void line.connection.life.then(() => {
      if (over) return;
      callOff();
      callOff = clock.after(silenceMs, resolve, { background: true });
    });
  });
  return {
    passed,
    callOff() {
      over = true;
      callOff();
    },
  };
}

/** A lost connection is the network's doing there, and no server was stopped by it. */
function failedOverHttp(error: unknown): ProbeOutcome {
  const { status, message } = error as { status?: number; message: string };
  if (status !== undefined && status > 299 && !decidesEra(status)) throw error;
  if (!(error instanceof IsthmusError)) return failedProbe(error);
  if (error.code === 'HTTP_STATUS') return { kind: 'status', status: status!, message };
  if (error.code === 'CONNECTION_CLOSED') throw error;
  return failedProbe(error);
}

/** Only an end is an end: a server that lives is not started again. */
function failedProbe(error: unknown): ProbeOutcome {
  if (error instanceof ProtocolError) {
    const { code, message, data, status } = error;
    return { kind: 'error', error: { code, message, data }, status };
  }
  const code = error instanceof IsthmusError ? error.code : undefined;
  const message = messageOf(error);
  if (code === 'CHILD_EXITED' || code === 'CANNOT_START' || code === 'CONNECTION_CLOSED')
    return { kind: 'gone', message, error };
  if (code === 'INVALID_RESULT' || code === 'RESULT_TOO_LARGE') return { kind: 'unreadable', message };
  throw error;
}

/** One line of evidence. */
export function describeOutcome(outcome: ProbeOutcome): string {
  switch (outcome.kind) {
    case 'result':
      return 'server/discover was answered with a result';
    case 'error':
      return `server/discover was answered with ${describe(outcome.error)}`;
    case 'status':
      return `server/discover was refused: ${outcome.message}`;
    case 'idless':
      return `server/discover was answered with an error without id: ${describe(outcome.error)}`;
    case 'unreadable':
      return `the answer to server/discover cannot be read: ${outcome.message}`;
    case 'silence':
      return `server/discover was not answered within ${outcome.afterMs} ms`;
    case 'gone':
      return `the server ended on server/discover: ${outcome.message}`;
  }
}
