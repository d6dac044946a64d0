import { systemClock } from '@isthmus/sdk/internal/async/clock.js';
import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { createHost } from '@isthmus/sdk/internal/host/create-host.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { stdio } from '@isthmus/sdk/stdio';
import { GatewayServer } from '../gateway-server.js';
import { type AttachParams, withAmbient } from './definition.js';
import { withTransport } from './sse-first.js';

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
  const spec = alone(withAmbient(await withTransport(params)));
  const host = createHost({ servers: spec.kind === 'command' ? { [spec.name]: spec } : {} });
  host.watch((event) => {
    if (event.kind === 'stderr') options.onStderr(event.text);
  });
  const unit = new GatewayServer(spec, {
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
function alone(spec: ServerSpec): ServerSpec {
  if (spec.kind !== 'command' || typeof spec.processes === 'object') return spec;
  return { ...spec, processes: 'per-conversation' };
}
