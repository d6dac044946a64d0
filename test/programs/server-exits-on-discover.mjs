// Its vice: the first word it does not know kills it. Legacy; exits with code 1 on `server/discover`.
// node server-exits-on-discover.mjs
import { serveLines } from './support/line-server.mjs';

serveLines({
  name: 'exits-on-discover',
  eras: 'legacy',
  intercept({ method }) {
    if (method !== 'server/discover') return false;
    process.stderr.write('fatal: unknown method server/discover\n', () => process.exit(1));
    return true;
  },
});
