import { serve } from '../../server/serve.js';
import { EXIT } from '../exit-codes.js';
import type { Target } from '../target.js';
import { describeEvent, describeFar, oneLabel } from './describe-serving.js';
import { describeStartFailure, isHopeless } from './describe-start-failure.js';
import { listenAt } from './listen-at.js';
import { openUpstream, type UpstreamSettings } from './open-upstream.js';
import type { Operator } from './operator.js';
import { startFarSide } from './start-far-side.js';

export interface UpstreamServing extends Omit<UpstreamSettings, 'processes' | 'onEvent' | 'onStartFailed'> {
  readonly addresses: readonly string[];
  readonly processes: 'shared' | 'per-client' | undefined;
  readonly quiet: boolean;
  /** It can be used there. */
  readonly announce: (addresses: readonly string[], what: string) => void;
}

/**
 * Serves a command or an address. A command is started before it is announced; an address may be away, and is
 * tried again with the next request. Rejects when the server will never be there, and then nothing is left open.
 */
export async function serveUpstream(
  target: Target,
  { addresses, processes, quiet, announce, ...settings }: UpstreamServing,
  operator: Operator,
): Promise<void> {
  const listeners = addresses.map(listenAt);
  // Then there is one client, and the server is opened for it, when it is there, with what it can do.
  const forOne = addresses.every((address) => address === 'stdio');
  const describe = (error: unknown) =>
    describeStartFailure(error, { target, name: upstream.name, mode: settings.mode });
  const warn = (error: unknown) =>
    operator.warn(describe(error), isHopeless(error) ? undefined : 'it is tried again with the next request');
  let isOurStart = !forOne;
  const upstream = openUpstream(target, {
    ...settings,
    processes: processes ?? (forOne ? 'per-client' : 'shared'),
    onEvent(event, { far, seats }) {
      if (event.kind === 'stderr') operator.passOn(event.text);
      const line = describeEvent(event, { isKnown: far !== undefined, isNeeded: seats > 0 });
      if (line !== undefined) operator.say(`isthmus: ${line}`);
    },
    onStartFailed(error) {
      // For whoever launched us, should it come to nothing better before stdin ends.
      if (addresses.includes('stdio')) process.exitCode = EXIT.cannotConnect;
      if (!isOurStart) warn(error);
    },
  });
  const { bridge } = upstream;
  const label = target.kind === 'command' ? oneLabel([target.command, ...target.args]) : upstream.name;
  void bridge.known.then(() => {
    process.exitCode = EXIT.ok;
  });
  const over = new AbortController();
  const close = () => {
    over.abort();
    return upstream.close();
  };
  const served = await serve(bridge, listeners, { ownsProcess: true, onClose: close }).catch(
    async (error: unknown) => {
      await close();
      throw error;
    },
  );
  const tell = () => {
    if (over.signal.aborted) return;
    announce(served.addresses, label);
    if (!quiet) void bridge.known.then((far) => operator.say(describeFar(label, far, forOne)));
  };
  if (target.kind !== 'command' || forOne) tell();
  if (forOne) return;
  const stopWaiting = target.kind === 'command' && !quiet ? operator.waitFor(label) : () => {};
  try {
    const failure = await startFarSide({
      start: () => bridge.start(),
      onRestart:
        target.kind === 'command' ? (error, then) => operator.warn(describe(error), then) : undefined,
      over: over.signal,
    });
    stopWaiting();
    isOurStart = false;
    if (target.kind === 'command') tell();
    if (failure !== undefined) warn(failure);
  } catch (error) {
    stopWaiting();
    await served.close({ graceMs: 0 });
    throw describe(error);
  }
}
