import { type Bridge, createBridge } from '../../bridge/create-bridge.js';
import type { Mode } from '../../client/options.js';
import { createHost, type Host } from '../../host/create-host.js';
import type { HostEvent } from '../../host/host-event.js';
import { connectorOf, type Target, type TargetSettings } from '../target.js';
import { nameOfServer } from './name-of-server.js';

export interface UpstreamSettings extends TargetSettings {
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
export interface OpenedUpstream {
  readonly bridge: Bridge;
  /** What it is called in lines about it. */
  readonly name: string;
  close(): Promise<void>;
}

/** A command gets a host that keeps its process; an address is connected to for each who needs it. */
export function openUpstream(target: Target, settings: UpstreamSettings): OpenedUpstream {
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
