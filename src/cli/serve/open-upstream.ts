import { basename } from 'node:path';
import { type Bridge, createBridge } from '../../bridge/create-bridge.js';
import type { Mode } from '../../client/options.js';
import { createHost, type Host } from '../../host/create-host.js';
import type { HostEvent } from '../../host/host-event.js';
import { connectorOf, type Target, type TargetSettings } from '../target.js';

export interface UpstreamSettings extends TargetSettings {
  readonly mode: Mode;
  readonly processes: 'shared' | 'per-client';
  readonly stateless: boolean;
  readonly timeoutMs: number | undefined;
  /** What happens to the process of the server. */
  readonly onEvent: (event: HostEvent) => void;
}

/** A server behind a bridge, with whatever has to be closed when it ends. */
export interface OpenedUpstream {
  readonly bridge: Bridge;
  close(): Promise<void>;
}

/** A command gets a host that keeps its process; an address is connected to for each who needs it. */
export function openUpstream(target: Target, settings: UpstreamSettings): OpenedUpstream {
  const { mode, processes, stateless, timeoutMs, onEvent, ...rest } = settings;
  const options = { stateless, ...(timeoutMs !== undefined && { timeoutMs }) };
  if (target.kind !== 'command') {
    const bridge = createBridge(connectorOf(target, rest), { ...options, mode });
    return { bridge, close: () => bridge.close() };
  }
  // Refuses what makes no sense for a command.
  connectorOf(target, rest);
  const { command, args } = target;
  const name = nameOf(target);
  const host: Host = createHost({
    servers: {
      [name]: {
        command,
        args,
        mode,
        processes: processes === 'per-client' ? 'per-conversation' : 'shared',
        ...(rest.env && { env: rest.env }),
        ...(rest.cwd !== undefined && { cwd: rest.cwd }),
        ...(timeoutMs !== undefined && { timeoutMs }),
      },
    },
  });
  host.watch(onEvent);
  const bridge = createBridge(host.upstream(name), options);
  return {
    bridge,
    async close() {
      await bridge.close();
      await host.close();
    },
  };
}

/** `npx -y weather-server --verbose` is called weather-server. */
function nameOf({ command, args }: Target & { kind: 'command' }): string {
  const word = LAUNCHERS.test(basename(command)) ? args.find((each) => !each.startsWith('-')) : undefined;
  return basename(word ?? command);
}

const LAUNCHERS = /^(node|npx|bunx?|deno|uvx?|uv|python3?|pipx|docker|sh|bash)(\.exe|\.cmd)?$/;
