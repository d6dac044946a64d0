import { runGateway } from '@isthmus/gateway/internal/run-gateway.js';
import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import { planDeparture } from '@isthmus/sdk/internal/async/departure.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { DEFAULT_RESTART, decideRestart } from '@isthmus/sdk/internal/host/process/process-state.js';
import { ownProcess } from '@isthmus/sdk/internal/server/own-process.js';
import { cannotListen } from './addresses.js';
import {
  describeEvent,
  describeStartFailure,
  describeUpstream,
  hasEnded,
  inSeconds,
  isHopeless,
  oneLabel,
} from './describe-serving.js';
import type { HttpAccess } from './http-access.js';
import { type Operator, tellDescriptors } from './operator.js';
import type { TelemetryOptions } from './telemetry-options.js';

export interface SingleServing {
  readonly addresses: readonly string[];
  readonly doors: HttpAccess;
  readonly house: TelemetryOptions;
  readonly graceMs: number | undefined;
  readonly quiet: boolean;
  /** It can be used there. */
  readonly announce: (addresses: readonly string[], what: string) => void;
}

/**
 * Serves a command or an address for everybody. A command is started before it is announced; an address may be away,
 * and is tried again with the next request. Rejects when the server will never be there, and then nothing is left open.
 */
export async function serveSingle(
  spec: ServerSpec,
  serving: SingleServing,
  operator: Operator,
): Promise<void> {
  const { addresses, doors, house, graceMs, quiet, announce } = serving;
  const { name, mode = 'auto' } = spec;
  const describe = (error: unknown) => describeStartFailure(error, { target: spec, name, mode });
  const warn = (error: unknown) =>
    operator.warn(describe(error), isHopeless(error) ? undefined : 'it is tried again with the next request');
  let isOurStart = true;
  const operation = await runGateway({
    ...house,
    units: [spec],
    addresses,
    single: true,
    endpoint: doors.endpoint,
    ...doors.places,
    tellsStderr: doors.isPrivate,
    graceMs,
    onHostEvent(event) {
      if (event.kind === 'stderr') operator.passOn(event.text);
      const isKnown = operation?.gateway.unit(name).bridge.far !== undefined;
      const line = describeEvent(event, { isKnown, isNeeded: true });
      if (line !== undefined) operator.say(`isthmus: ${line}`);
    },
    onStartFailed(_name, error) {
      if (!isOurStart) warn(error);
    },
  }).catch((error: unknown) => {
    throw cannotListen(addresses, error);
  });
  const { gateway } = operation;
  const { bridge } = gateway.unit(name);
  const { closing: over } = gateway;
  tellDescriptors((line) => operator.say(`isthmus: warning: ${line}`));
  ownProcess(operation, planDeparture({ isStdio: addresses.includes('stdio'), graceMs }));
  const label = spec.kind === 'command' ? oneLabel([spec.command, ...spec.args]) : name;
  const tell = () => {
    if (over.aborted) return;
    announce(gateway.addresses, label);
    if (!quiet) void bridge.known.then((far) => operator.say(describeUpstream(label, far, false)));
  };
  if (spec.kind !== 'command') tell();
  const stopWaiting = spec.kind === 'command' && !quiet ? operator.waitFor(label) : () => {};
  try {
    const failure = await startUpstream({
      start: () => bridge.start(),
      onRestart: spec.kind === 'command' ? (error, then) => operator.warn(describe(error), then) : undefined,
      over,
    });
    stopWaiting();
    isOurStart = false;
    if (!over.aborted) gateway.unit(name).keep();
    if (spec.kind === 'command') tell();
    if (failure !== undefined) warn(failure);
  } catch (error) {
    stopWaiting();
    await operation.close({ graceMs: 0 });
    throw describe(error);
  }
}

interface FirstStart {
  /** Settles when the server behind has answered; rejects with why it could not be spoken to. */
  start(): Promise<void>;
  /** A command that ended at once is started again: `then` says when. Not set: with the next request. */
  readonly onRestart: ((error: unknown, then: string) => void) | undefined;
  /** The result is not needed any more. */
  readonly over: AbortSignal;
}

/**
 * Speaks to the server behind for the first time. Settles when it has answered or the result is not needed any more; with the
 * failure when it may answer later. Rejects when it never will.
 */
export async function startUpstream({ start, onRestart, over }: FirstStart): Promise<unknown> {
  const stopped = new Promise<void>((resolve) => over.addEventListener('abort', () => resolve()));
  for (let failures = 1; ; failures += 1) {
    try {
      return await start();
    } catch (error) {
      if (over.aborted) return undefined;
      if (isHopeless(error)) throw error;
      if (!onRestart || !hasEnded(error)) return error;
      const next = decideRestart(DEFAULT_RESTART, failures, Math.random());
      if (next.kind === 'give-up') throw error;
      const count = `${next.attempt} of ${DEFAULT_RESTART.attempts}`;
      onRestart(error, `it is started again in ${inSeconds(next.delayMs)} (${count})`);
      await within(systemClock, next.delayMs, stopped);
      if (over.aborted) return undefined;
    }
  }
}
