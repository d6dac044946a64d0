import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { stdio } from '@isthmus/sdk/stdio';
import { serveOne } from '../serve-one.js';
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
  await serveOne(spec, {
    listener: stdio(),
    tellsStderr: true,
    onHostEvent(event) {
      if (event.kind === 'stderr') options.onStderr(event.text);
    },
    onStartFailed: options.onStartFailed,
    onKnown: options.onKnown,
  });
}

/** There is one client, so the process is started for it, and told exactly what it can do. */
function alone(spec: ServerSpec): ServerSpec {
  if (spec.kind !== 'command' || typeof spec.processes === 'object') return spec;
  return { ...spec, processes: 'per-conversation' };
}
