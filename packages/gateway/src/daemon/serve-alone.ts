import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import { createHost } from '@isthmus/sdk/internal/host/create-host.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { stdio } from '@isthmus/sdk/stdio';
import { GatewayServer } from '../gateway-server.js';
import type { AttachParams } from './definition.js';
import { withTransport } from './sse-first.js';
import { toOurs } from './to-ours.js';

export interface AloneOptions {
  /** What the process writes to stderr, as it comes. */
  readonly onStderr: (text: string) => void;
  /** The server could not be spoken to. */
  readonly onStartFailed: (error: unknown) => void;
  /** It has answered. */
  readonly onKnown: () => void;
}

/** Serves the host on our own stdin and stdout, without a daemon: nothing is shared, and all ends with us. */
export async function serveAlone(params: AttachParams, options: AloneOptions): Promise<void> {
  const definition = alone(toOurs(params.unit.name, await withTransport(params)));
  const { name, source } = definition;
  const host = createHost({
    servers: source.kind === 'command' ? { [name]: source.definition } : {},
  });
  host.watch((event) => {
    if (event.kind === 'stderr') options.onStderr(event.text);
  });
  const unit = new GatewayServer(definition, {
    host,
    clock: systemClock,
    tellsStderr: true,
    onChange() {},
    onStartFailed: (_, error) => options.onStartFailed(error),
  });
  void unit.bridge.known.then(options.onKnown);
  await serve(unit.service, stdio(), {
    async onClose() {
      await unit.close();
      await host.close();
    },
  });
}

/** There is one client, so the process is started for it, and told exactly what it can do. */
function alone(definition: ReturnType<typeof toOurs>): ReturnType<typeof toOurs> {
  const { source } = definition;
  if (source.kind !== 'command' || typeof source.definition.processes === 'object') return definition;
  return {
    ...definition,
    source: { kind: 'command', definition: { ...source.definition, processes: 'per-conversation' } },
  };
}
