import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { Bridge } from '@isthmus/sdk/internal/bridge/create-bridge.js';
import type { UpstreamFacts } from '@isthmus/sdk/internal/bridge/upstream-facts.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import type { Listener } from '@isthmus/sdk/internal/exchange/connection.js';
import { createHost } from '@isthmus/sdk/internal/host/create-host.js';
import type { HostEvent } from '@isthmus/sdk/internal/host/host-event.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { GatewayServer, type GatewayServerContext } from './gateway-server.js';

export interface ServeOneOptions extends Pick<GatewayServerContext, 'tellsStderr' | 'watchesServers'> {
  /** Where the client is: `stdio()`. */
  readonly listener: Listener;
  /** Something happened to the process of the server. */
  onHostEvent(event: HostEvent, bridge: Bridge): void;
  /** The server could not be reached or started. */
  onStartFailed(error: unknown): void;
  /** The server has answered for the first time. */
  onKnown(facts: UpstreamFacts): void;
}

/**
 * Serves one server to the one client that has started this process. There is no HTTP, no telemetry and no control
 * socket, so that they need not be loaded: the client waits for the first answer. All ends with the client.
 */
export async function serveOne(spec: ServerSpec, options: ServeOneOptions): Promise<void> {
  const { listener, onHostEvent, onStartFailed, onKnown, ...how } = options;
  const isCommand = spec.kind === 'command';
  // A remote server has no process that could be left over.
  const host = createHost(isCommand ? { servers: { [spec.name]: spec } } : { ledger: false });
  const server = new GatewayServer(spec, {
    ...how,
    host,
    clock: systemClock,
    onChange() {},
    onStartFailed: (_, error) => onStartFailed(error),
  });
  const { bridge } = server;
  host.watch((event) => onHostEvent(event, bridge));
  // The answer to the client comes first.
  void bridge.known.then((facts) => setImmediate(onKnown, facts));
  await serve(server.service, listener, {
    ownsProcess: true,
    async onClose() {
      await server.close();
      await host.close();
    },
  });
}
