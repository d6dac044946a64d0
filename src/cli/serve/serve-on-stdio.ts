import type { Bridge } from '../../bridge/create-bridge.js';
import type { Service } from '../../exchange/call.js';
import { serve } from '../../server/serve.js';
import { EXIT } from '../exit-codes.js';
import type { Target } from '../target.js';
import { describeEvent, describeFar, oneLabel } from './describe-serving.js';
import { describeStartFailure, isHopeless } from './describe-start-failure.js';
import { listenAt } from './listen-at.js';
import { openUpstream, type UpstreamSettings } from './open-upstream.js';
import type { Operator } from './operator.js';

export interface StdioServing extends Omit<UpstreamSettings, 'onEvent' | 'onStartFailed'> {
  readonly quiet: boolean;
  readonly ignoredTools: readonly string[] | undefined;
}

/**
 * Serves a command or an address to the one client that has launched us. The server is opened for it, when it is
 * there, with what it can do.
 */
export async function serveOnStdio(
  target: Target,
  { quiet, ignoredTools, ...settings }: StdioServing,
  operator: Operator,
): Promise<void> {
  const describe = (error: unknown) =>
    describeStartFailure(error, { target, name: upstream.name, mode: settings.mode });
  const upstream = openUpstream(target, {
    ...settings,
    onEvent(event, { far, seats }) {
      if (event.kind === 'stderr') operator.passOn(event.text);
      const line = describeEvent(event, { isKnown: far !== undefined, isNeeded: seats > 0 });
      if (line !== undefined) operator.say(`isthmus: ${line}`);
    },
    onStartFailed(error) {
      // For whoever launched us, should it come to nothing better before stdin ends.
      process.exitCode = EXIT.cannotConnect;
      operator.warn(
        describe(error),
        isHopeless(error) ? undefined : 'it is tried again with the next request',
      );
    },
  });
  const { bridge } = upstream;
  void bridge.known.then(() => {
    process.exitCode = EXIT.ok;
  });
  const service = ignoredTools ? await without(ignoredTools, bridge) : bridge;
  await serve(service, listenAt('stdio'), { ownsProcess: true, onClose: () => upstream.close() });
  const label = target.kind === 'command' ? oneLabel([target.command, ...target.args]) : upstream.name;
  if (!quiet) void bridge.known.then((far) => operator.say(describeFar(label, far, true)));
}

/** Loaded only where somebody wants it: a host waits for us. */
async function without(deny: readonly string[], bridge: Bridge): Promise<Service> {
  const { withSelection } = await import('../../gateway/selection.js');
  return withSelection(bridge, { deny });
}
