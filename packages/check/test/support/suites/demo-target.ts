import type { Duplex } from 'node:stream';
import type { Connection } from '@isthmus/sdk/internal/exchange/connection.js';
import { serve } from '@isthmus/sdk/internal/server/serve.js';
import { createStreamConnection } from '@isthmus/sdk/internal/transport/stream-connection.js';
import { createDemoServer } from 'isthmus/internal/demo/demo-server.js';
import { streamTarget } from '../../../src/index.js';
import { duplexPair, type StreamTarget } from '../../../src/wire/targets.js';

/** The demo behind streams of this process: the reference that mutants are made of. */
export async function demoTarget(): Promise<{ target: StreamTarget; close(): Promise<void> }> {
  const demo = await serveDemo();
  return { target: streamTarget('the demo, in memory', demo.connect), close: demo.close };
}

/** Serves the demo; each `connect` gives the client's end of a new connection. */
export async function serveDemo(): Promise<{ connect(): Duplex; close(): Promise<void> }> {
  let accept: (connection: Connection) => void = () => {};
  const served = await serve(
    createDemoServer(),
    {
      ownsProcess: false,
      async listen(onConnection) {
        accept = onConnection;
        let sayEnded = () => {};
        const ended = new Promise<void>((resolve) => {
          sayEnded = resolve;
        });
        return { address: 'memory', ended, stop: async () => sayEnded() };
      },
    },
    { graceMs: 1000 },
  );
  return {
    connect() {
      const [near, far] = duplexPair();
      accept(
        createStreamConnection({
          label: 'memory',
          input: far,
          output: far,
          release: () => {
            far.destroy();
          },
        }),
      );
      return near;
    },
    close: () => served.close({ graceMs: 0 }),
  };
}
