import { type RunningGateway, runGateway } from '@isthmus/gateway/internal/run-gateway.js';
import { systemClock, within } from '@isthmus/sdk/internal/async/clock.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { DEFAULT_RESTART, decideRestart } from '@isthmus/sdk/internal/host/process/process-state.js';
import {
  describeEvent,
  describeStartFailure,
  describeUpstream,
  hasEnded,
  inSeconds,
  isHopeless,
  oneLabel,
} from './describe-serving.js';
import { openServed, type ServedInputs } from './open-served.js';
import type { Operator } from './operator.js';
import type { TelemetryOptions } from './telemetry-options.js';

export interface SingleInputs extends ServedInputs {
  readonly telemetry: Omit<TelemetryOptions, 'joined'>;
  readonly quiet: boolean;
  /** Called when clients can use the server. */
  readonly announce: (addresses: readonly string[], what: string, name: string) => void;
  /** Opens the console where the command line asks for it. */
  readonly tellConsole: (running: RunningGateway) => Promise<void>;
}

/**
 * Serves a command or an address to any number of clients. A command is started before it is announced. An address is
 * announced at once: when it does not answer, it is tried again with the next request. Rejects when no later attempt can
 * succeed, and then nothing is left open.
 */
export async function serveSingle(spec: ServerSpec, inputs: SingleInputs, operator: Operator): Promise<void> {
  const { telemetry, quiet, announce, tellConsole } = inputs;
  const { name, mode = 'auto' } = spec;
  const isCommand = spec.kind === 'command';
  const label = isCommand ? oneLabel([spec.command, ...spec.args]) : name;
  const describe = (error: unknown) => describeStartFailure(error, { target: spec, name, mode });
  const warn = (error: unknown) =>
    operator.warn(describe(error), isHopeless(error) ? undefined : 'it is tried again with the next request');
  let isFirstStart = true;
  let isKnown = () => false;
  const running = await openServed(inputs, (options) =>
    runGateway({
      ...telemetry,
      ...options,
      units: [spec],
      single: true,
      onHostEvent(event) {
        if (event.kind === 'stderr') operator.passOn(event.text);
        const line = describeEvent(event, { isKnown: isKnown(), isNeeded: true });
        if (line !== undefined) operator.say(`isthmus: ${line}`);
      },
      onStartFailed(_name, error) {
        if (!isFirstStart) warn(error);
      },
    }),
  );
  const { gateway } = running;
  const server = gateway.unit(name);
  const { bridge } = server;
  isKnown = () => bridge.upstream !== undefined;
  const { closing } = gateway;
  const tell = () => {
    if (closing.aborted) return;
    announce(gateway.addresses, label, name);
    void tellConsole(running);
    if (!quiet) void bridge.known.then((far) => operator.say(describeUpstream(label, far, false)));
  };
  if (!isCommand) tell();
  const stopWaiting = isCommand && !quiet ? operator.waitFor(label) : () => {};
  try {
    // Another process of the cluster has the command, and requests go there.
    if (isCommand && gateway.isElsewhere(name)) return tell();
    const failure = await startUpstream({
      start: () => bridge.start(),
      onRestart: isCommand ? (error, then) => operator.warn(describe(error), then) : undefined,
      over: closing,
    });
    stopWaiting();
    isFirstStart = false;
    if (!closing.aborted) server.keep();
    if (isCommand) tell();
    if (failure !== undefined) warn(failure);
  } catch (error) {
    await running.close({ graceMs: 0 });
    throw describe(error);
  } finally {
    stopWaiting();
  }
}

interface FirstStart {
  /** Settles when the server has answered. Rejects with the reason why it could not be started or reached. */
  start(): Promise<void>;
  /** A command that ended at once is started again; `then` says when. Not set: the next request starts it. */
  readonly onRestart: ((error: unknown, then: string) => void) | undefined;
  /** Aborted when the result is not needed any more. */
  readonly over: AbortSignal;
}

/**
 * Starts the server for the first time. Settles when it has answered or the result is not needed any more; with the
 * failure when a later attempt may succeed. Rejects when none can.
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
