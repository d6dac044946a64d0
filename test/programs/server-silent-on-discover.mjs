// Its vice: before `initialize` it does not answer what it does not know, not even with an error. Legacy.
// node server-silent-on-discover.mjs
import { serveLines } from './support/line-server.mjs';

serveLines({
  name: 'silent-on-discover',
  eras: 'legacy',
  intercept: ({ method }, server) =>
    method !== undefined && !['initialize', 'ping'].includes(method) && !server.isInitialized(),
});
