import { serveOne } from '@isthmus/gateway/internal/serve-one.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { EXIT } from '../cli-error.js';
import { listenAt } from './addresses.js';
import {
  describeEvent,
  describeStartFailure,
  describeUpstream,
  isHopeless,
  oneLabel,
} from './describe-serving.js';
import type { Operator } from './operator.js';

/** Serves a command or an address on stdio to the client that has started this process. */
export async function serveOnStdio(
  spec: ServerSpec,
  { quiet }: { readonly quiet: boolean },
  operator: Operator,
): Promise<void> {
  const { name, mode = 'auto' } = spec;
  const label = spec.kind === 'command' ? oneLabel([spec.command, ...spec.args]) : name;
  await serveOne(spec, {
    listener: listenAt('stdio'),
    tellsStderr: false,
    watchesServers: false,
    onHostEvent(event, { far, seats }) {
      if (event.kind === 'stderr') operator.passOn(event.text);
      const line = describeEvent(event, { isKnown: far !== undefined, isNeeded: seats > 0 });
      if (line !== undefined) operator.say(`isthmus: ${line}`);
    },
    onStartFailed(error) {
      // The exit code of this process if stdin ends before the server has answered.
      process.exitCode = EXIT.cannotConnect;
      const failure = describeStartFailure(error, { target: spec, name, mode });
      operator.warn(failure, isHopeless(error) ? undefined : 'it is tried again with the next request');
    },
    onKnown(facts) {
      process.exitCode = EXIT.ok;
      if (!quiet) operator.say(describeUpstream(label, facts, true));
    },
  });
}
