import type { ServerSpec } from '@isthmus/sdk/internal/config/server-spec.js';
import { stdio } from '@isthmus/sdk/stdio';
import { serveOne } from '../serve-one.js';
import { type AttachParams, withAmbient } from './definition.js';
import { withTransport } from './sse-first.js';

export interface AloneOptions {
  /** Output of the process on stderr. */
  readonly onStderr: (text: string) => void;
  /** The server does not answer. */
  readonly onStartFailed: (error: unknown) => void;
  /** The server has answered. */
  readonly onKnown: () => void;
}

/** Serves the host on stdin and stdout of this process, without a daemon. Nothing is shared. */
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

/** There is one client. Its own process learns exactly the capabilities of that client. */
function alone(spec: ServerSpec): ServerSpec {
  if (spec.kind !== 'command' || typeof spec.processes === 'object') return spec;
  return { ...spec, processes: 'per-conversation' };
}
