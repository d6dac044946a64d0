import { createModernRuntime, type ModernRuntime } from '../../era/modern/runtime.js';
import { serveConnection } from '../../era/serve-connection.js';
import { resolveServing, type ServingSettings } from '../../era/serving.js';
import type { Service } from '../../exchange/call.js';
import { createStreamConnection } from '../../transport/stream-connection.js';
import { duplexPair } from './duplex-pair.js';
import type { StreamTarget } from './target.js';
import { streamTarget } from './targets.js';

export interface ServerTargetOptions extends Partial<ServingSettings> {
  /** What reports call it. Default: its name. */
  readonly label?: string;
}

/**
 * A server object of this process, served over streams in memory: no port, no child, and a breakpoint in a tool is hit.
 * Every byte goes the way that it goes over a socket. It lives from the first connection to the last.
 */
export function serverTarget(service: Service, options: ServerTargetOptions = {}): StreamTarget {
  const { label = `${service.info.name}, in this process`, ...serving } = options;
  const settings = resolveServing({ graceMs: 1000, ...serving });
  let runtime: ModernRuntime | undefined;
  let connections = 0;
  return streamTarget(label, () => {
    const [near, far] = duplexPair();
    const connection = createStreamConnection({
      label: 'memory',
      input: far,
      output: far,
      release: () => void far.destroy(),
    });
    runtime ??= createModernRuntime(settings);
    connections += 1;
    void serveConnection(connection, service, runtime).done.then(() => {
      connections -= 1;
      if (connections > 0) return;
      runtime?.close();
      runtime = undefined;
    });
    return near;
  });
}
