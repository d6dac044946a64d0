import { bridgeOptionsOf } from '@isthmus/sdk/internal/bridge/bridge-options.js';
import { type Bridge, createBridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import type { ServerSpec, ToolLists } from '@isthmus/sdk/internal/config/server-spec.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { createHost, type Host } from '@isthmus/sdk/internal/host/create-host.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { upstreamOfSpec } from '@isthmus/sdk/internal/host/host-upstream.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { EXIT } from '../exit-codes.js';
import { listenAt } from './addresses.js';
import {
  describeEvent,
  describeStartFailure,
  describeUpstream,
  isHopeless,
  oneLabel,
} from './describe-serving.js';
import type { Operator } from './operator.js';

/**
 * Serves a command or an address to the one client that has launched us. The server is opened when that client is
 * there, with what the client can do.
 */
export async function serveOnStdio(
  spec: ServerSpec,
  { quiet }: { readonly quiet: boolean },
  operator: Operator,
): Promise<void> {
  const { name, mode = 'auto' } = spec;
  const describe = (error: unknown) => describeStartFailure(error, { target: spec, name, mode });
  const upstream = openUpstream(spec, {
    onEvent(event, { far, seats }) {
      if (event.kind === 'stderr') operator.passOn(event.text);
      const line = describeEvent(event, { isKnown: far !== undefined, isNeeded: seats > 0 });
      if (line !== undefined) operator.say(`isthmus: ${line}`);
    },
    onStartFailed(error) {
      // The host gets this error if stdin ends before the server works.
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
  const service = spec.tools ? await selected(bridge, spec.tools) : bridge;
  await serve(service, listenAt('stdio'), { ownsProcess: true, onClose: () => upstream.close() });
  const label = spec.kind === 'command' ? oneLabel([spec.command, ...spec.args]) : name;
  if (!quiet) void bridge.known.then((far) => operator.say(describeUpstream(label, far, true)));
}

/** Loaded only when it is needed: a host waits for us. */
async function selected(bridge: Bridge, tools: ToolLists): Promise<Service> {
  const { selectTools } = await import('@isthmus/gateway/internal/pipeline/select-tools.js');
  return selectTools(bridge, { tools });
}

interface UpstreamEvents {
  /** Something happened to the process of the server. */
  readonly onEvent: (event: HostEvent, bridge: Bridge) => void;
  /** Why the first connection to the server failed. */
  readonly onStartFailed: (error: unknown) => void;
}

/** A server behind a bridge, with everything that must be closed when it ends. */
interface OpenedUpstream {
  readonly bridge: Bridge;
  close(): Promise<void>;
}

/** A command gets a host that keeps its process. An address is connected to for each client. */
function openUpstream(spec: ServerSpec, { onEvent, onStartFailed }: UpstreamEvents): OpenedUpstream {
  const options = { ...bridgeOptionsOf(spec), onStartFailed };
  if (spec.kind !== 'command') {
    const bridge = createBridge(upstreamOfSpec(spec), options);
    return { bridge, close: () => bridge.close() };
  }
  const host: Host = createHost({ servers: { [spec.name]: spec } });
  const bridge = createBridge(host.upstream(spec.name), options);
  host.watch((event) => onEvent(event, bridge));
  return {
    bridge,
    async close() {
      await bridge.close();
      await host.close();
    },
  };
}
