import { Duplex } from 'node:stream';
import { serveConnection } from '@isthmus/sdk/internal/era/connection-driver.js';
import {
  createModernServerState,
  type ModernServerState,
} from '@isthmus/sdk/internal/era/modern/server-state.js';
import { resolveServing, type ServingSettings } from '@isthmus/sdk/internal/era/serving-settings.js';
import type { Service } from '@isthmus/sdk/internal/exchange/call.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
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
  let runtime: ModernServerState | undefined;
  let connections = 0;
  return streamTarget(label, () => {
    const [near, far] = duplexPair();
    const connection = createStreamConnection({
      label: 'memory',
      input: far,
      output: far,
      release: () => void far.destroy(),
    });
    runtime ??= createModernServerState(settings);
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

/** Two ends of one connection: what is written to one is read from the other. Either may end alone. */
export function duplexPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const end = (index: 0 | 1): Duplex => {
    let wanted: (() => void) | undefined;
    const duplex = new Duplex({
      allowHalfOpen: true,
      read() {
        const action = wanted;
        // Forgotten before it is called: what it writes may have to wait again.
        wanted = undefined;
        action?.();
      },
      write(chunk: Buffer, _encoding, done) {
        const other = ends[1 - index]!;
        if (other.destroyed || other.push(chunk)) done();
        else (other as Waiting).whenWanted(() => done());
      },
      final(done) {
        const other = ends[1 - index]!;
        if (!other.destroyed) other.push(null);
        done();
      },
      destroy(error, done) {
        const other = ends[1 - index];
        if (other && !other.destroyed && !other.readableEnded)
          setImmediate(() => other.destroyed || other.push(null));
        wanted?.();
        done(error);
      },
    });
    return Object.assign(duplex, {
      whenWanted(action: () => void) {
        wanted = action;
      },
    });
  };
  ends.push(end(0), end(1));
  return [ends[0]!, ends[1]!];
}

type Waiting = Duplex & { whenWanted(action: () => void): void };
