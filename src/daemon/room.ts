import { createDeferred } from '../async/deferred.js';
import type { Service } from '../exchange/call.js';
import type { Connection, Listener } from '../exchange/connection.js';
import { serve } from '../server/serve.js';

/** A service for connections that somebody else has accepted; each finds its era by itself. */
export interface Room {
  /** Settles when the connection is listened to. */
  enter(connection: Connection): Promise<void>;
  /** Finishes what runs within the grace, and closes all connections. */
  close(graceMs: number): Promise<void>;
}

export function openRoom(service: Service): Room {
  const ended = createDeferred<void>();
  const accepting = createDeferred<(connection: Connection) => void>();
  const listener: Listener = {
    ownsProcess: false,
    async listen(accept) {
      accepting.resolve(accept);
      return {
        address: 'attached',
        ended: ended.promise,
        async stop() {
          ended.resolve();
        },
      };
    },
  };
  const serving = serve(service, listener);
  return {
    async enter(connection) {
      (await accepting.promise)(connection);
    },
    async close(graceMs) {
      await (await serving).close({ graceMs });
    },
  };
}
