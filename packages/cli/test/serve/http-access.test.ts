import { expect, it } from 'vitest';
import { openHttpAccess } from '../../src/serve/access/http-access.js';

it('passes the limits of the command line to the HTTP endpoints', () => {
  const { endpoint } = openHttpAccess(
    { maxBody: 1, maxSessions: 2, maxStreams: 3, sessionTimeout: 4 } as never,
    ['http://127.0.0.1:0/mcp'],
    () => {},
  );
  expect(endpoint).toMatchObject({ maxBodyBytes: 1, maxSessions: 2, maxStreams: 3, sessionIdleMs: 4 });
});
