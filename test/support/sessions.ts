import { createServer, type Served, type ServeOptions, type Server, serve } from '@isthmus/sdk';
import { afterEach } from 'vitest';
import { type StreamLink, streamLink } from './raw-client.js';

/** Serves over byte streams in this process and closes everything after each test. */
export function createStarter(): (
  server: Server,
  options?: ServeOptions,
) => Promise<StreamLink & { readonly served: Served }> {
  const started: Served[] = [];
  afterEach(async () => {
    for (const served of started.splice(0)) await served.close({ graceMs: 0 });
  });
  return async (server, options = {}) => {
    const link = streamLink();
    const served = await serve(server, link, options);
    started.push(served);
    return { ...link, served };
  };
}

export function bare(): Server {
  return createServer({ name: 's', version: '1' });
}

/** A promise and the hand that settles it. */
export function gate<T = void>(): { readonly passed: Promise<T>; open(value: T): void } {
  let open!: (value: T) => void;
  const passed = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}
