import { type Bridge, createBridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import type { Mode } from '@isthmus/sdk/internal/client/options.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { createHost, type Host } from '@isthmus/sdk/internal/host/create-host.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { EXIT } from '../exit-codes.js';
import { type CommandTarget, connectorOf, type TargetSettings } from '../target.js';
import { describeEvent, describeUpstream, oneLabel } from './describe-serving.js';
import { describeStartFailure, isHopeless } from './describe-start-failure.js';
import { listenAt } from './listen-at.js';
import { nameOfServer } from './name-of-server.js';
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
  target: CommandTarget,
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
  const service = ignoredTools ? await without(ignoredTools, bridge) : bridge;
  await serve(service, listenAt('stdio'), { ownsProcess: true, onClose: () => upstream.close() });
  const label = target.kind === 'command' ? oneLabel([target.command, ...target.args]) : upstream.name;
  if (!quiet) void bridge.known.then((far) => operator.say(describeUpstream(label, far, true)));
}

/** Loaded only where somebody wants it: a host waits for us. */
async function without(deny: readonly string[], bridge: Bridge): Promise<Service> {
  const { selectTools } = await import('@isthmus/gateway/internal/pipeline/select-tools.js');
  return selectTools(bridge, { tools: { deny } });
}

interface UpstreamSettings extends TargetSettings {
  readonly mode: Mode;
  readonly processes: 'shared' | 'per-client';
  readonly stateless: boolean;
  readonly timeoutMs: number | undefined;
  readonly connectTimeoutMs: number | undefined;
  readonly passEnvironment: boolean;
  /** What happens to the process of the server. */
  readonly onEvent: (event: HostEvent, bridge: Bridge) => void;
  /** Why the server could not be spoken to for the first time. */
  readonly onStartFailed: (error: unknown) => void;
}

/** A server behind a bridge, with whatever has to be closed when it ends. */
interface OpenedUpstream {
  readonly bridge: Bridge;
  /** What it is called in lines about it. */
  readonly name: string;
  close(): Promise<void>;
}

/** A command gets a host that keeps its process; an address is connected to for each who needs it. */
function openUpstream(target: CommandTarget, settings: UpstreamSettings): OpenedUpstream {
  const { mode, processes, stateless, timeoutMs, connectTimeoutMs, passEnvironment } = settings;
  const { onEvent, onStartFailed, ...rest } = settings;
  const connecting = connectTimeoutMs === undefined ? {} : { connectTimeoutMs };
  const options = { stateless, onStartFailed, ...(timeoutMs !== undefined && { timeoutMs }) };
  if (target.kind !== 'command') {
    const bridge = createBridge(connectorOf(target, rest), { ...options, mode, ...connecting });
    const name = target.kind === 'url' ? target.url : target.address;
    return { bridge, name, close: () => bridge.close() };
  }
  // Refuses what makes no sense for a command.
  connectorOf(target, rest);
  const { command, args } = target;
  const name = nameOfServer(command, args);
  const host: Host = createHost({
    servers: {
      [name]: {
        command,
        args,
        mode,
        processes: processes === 'per-client' ? 'per-conversation' : 'shared',
        ...(rest.env && { env: rest.env }),
        ...(rest.cwd !== undefined && { cwd: rest.cwd }),
        ...(passEnvironment && { inheritEnv: 'all' as const }),
        ...(timeoutMs !== undefined && { timeoutMs }),
        ...connecting,
      },
    },
  });
  const bridge = createBridge(host.upstream(name), options);
  host.watch((event) => onEvent(event, bridge));
  return {
    bridge,
    name,
    async close() {
      await bridge.close();
      await host.close();
    },
  };
}
