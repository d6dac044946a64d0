import { decidesEra, describe, type ProbeOutcome } from '../../era/classify/classify-probe.js';
import type { NegotiatedConnection } from '../../era/client/negotiated-connection.js';
import { envelope } from '../../era/modern/client-envelopes.js';
import { isModernRevision, type ModernRevision } from '../../era/revisions.js';
import { IsthmusError, messageOf, ProtocolError } from '../../errors.js';
import { isJsonObject, type JsonObject, requestMessage } from '../../wire/json-rpc.js';
import type { ConnectSettings } from '../options.js';

/** The outcome of `server/discover`. After silence, the answer may still come. */
export interface Discovery {
  readonly outcome: ProbeOutcome;
  readonly late: Promise<ProbeOutcome | undefined>;
}

/** Sends `server/discover` on a connection whose era is not known. */
export async function discover(
  connection: NegotiatedConnection,
  settings: ConnectSettings,
  revision: ModernRevision,
): Promise<Discovery> {
  const { clock, connectTimeoutMs } = settings;
  const began = clock.now();
  const answer = connection.requests
    .request({
      what: 'server/discover',
      timeoutMs: connectTimeoutMs,
      send: (id) =>
        connection.connection.send(
          requestMessage(id, 'server/discover', { _meta: envelope(settings, revision) }),
        ),
      giveUp: () => {},
    })
    .then(
      (result): ProbeOutcome => ({ kind: 'result', result }),
      (error) => (connection.connection.answersAll ? failedOverHttp(error) : failedProbe(error)),
    );
  const idless = new Promise<ProbeOutcome>((resolve) => {
    connection.onIdlessError = (error) => resolve({ kind: 'idless', error });
  });
  // Where every request is answered or fails, silence is not evidence.
  const waiting = connection.connection.answersAll ? noSilence() : waitForSilence(connection, settings);
  const silence = waiting.passed.then(
    (): ProbeOutcome => ({ kind: 'silence', afterMs: clock.now() - began }),
  );
  try {
    const outcome = await Promise.race([answer, idless, silence]);
    return { outcome, late: answer.catch(() => undefined) };
  } finally {
    connection.onIdlessError = undefined;
    waiting.cancelTimer();
  }
}

/** A new promise each time: a shared one would keep everything that waited for it in memory. */
function noSilence(): { readonly passed: Promise<never>; cancelTimer(): void } {
  return { passed: new Promise<never>(() => {}), cancelTimer() {} };
}

/** Measures from the first sign of life, so that a slow start is not taken for the legacy era. */
function waitForSilence(
  connection: NegotiatedConnection,
  { clock, bootMs, silenceMs }: ConnectSettings,
): { readonly passed: Promise<void>; cancelTimer(): void } {
  let cancelTimer = () => {};
  let over = false;
  const passed = new Promise<void>((resolve) => {
    // An answer that has come counts, also if this process was too busy to read it.
    const decide = () => void setImmediate(resolve);
    cancelTimer = clock.after(bootMs, decide, { background: true });
    void connection.connection.life.then(() => {
      if (over) return;
      cancelTimer();
      cancelTimer = clock.after(silenceMs, decide, { background: true });
    });
  });
  return {
    passed,
    cancelTimer() {
      over = true;
      cancelTimer();
    },
  };
}

/** Over HTTP a lost connection does not mean that the server exited. */
function failedOverHttp(error: unknown): ProbeOutcome {
  const { status, message } = error as { status?: number; message: string };
  if (status !== undefined && status > 299 && !decidesEra(status)) throw error;
  if (!(error instanceof IsthmusError)) return failedProbe(error);
  if (error.code === 'HTTP_STATUS') return { kind: 'status', status: status!, message };
  if (error.code === 'CONNECTION_CLOSED') throw error;
  return failedProbe(error);
}

/** Only an exited server counts as gone, since a gone server is started again. */
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

/** One sentence of evidence. */
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
      return `the answer to server/discover is not readable: ${outcome.message}`;
    case 'silence':
      return `server/discover was not answered within ${outcome.afterMs} ms`;
    case 'gone':
      return `the server ended on server/discover: ${outcome.message}`;
  }
}

/** The revisions that the server named in its answer to `server/discover`. */
export function supportedIn(outcome: ProbeOutcome): readonly string[] | undefined {
  const { supportedVersions, supported, protocolVersion } = {
    ...(outcome.kind === 'result' && outcome.result),
    ...(outcome.kind === 'error' && isJsonObject(outcome.error.data) && outcome.error.data),
  } as JsonObject;
  const list =
    supportedVersions ?? supported ?? (isModernRevision(protocolVersion) ? [protocolVersion] : undefined);
  return Array.isArray(list) ? list.filter((version) => typeof version === 'string') : undefined;
}

/** The failure would occur in any era. */
export function isNoEvidence(error: unknown): boolean {
  const { status } = error as { status?: number };
  if (status !== undefined) return !decidesEra(status);
  return error instanceof IsthmusError && error.code === 'ADDRESS_UNAVAILABLE';
}

export function neverStarted(error: unknown): boolean {
  return error instanceof IsthmusError && error.code === 'CANNOT_START';
}
