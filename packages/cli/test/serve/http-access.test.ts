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

it.each([
  ['a key', { apiKey: ['a'.repeat(32)] }, { hasPrincipals: true, needsKey: true }],
  [
    'an authorization server, which gives clients their tokens',
    { authServer: ['https://login.example'], resource: 'https://tools.example/mcp' },
    { hasPrincipals: true, needsKey: false },
  ],
  ['nothing', {}, { hasPrincipals: false, needsKey: false }],
])('with %s, knows whether the lines for hosts need a key', (_, options, expected) => {
  const access = openHttpAccess({ sse: true, ...options } as never, ['http://127.0.0.1:0/mcp'], () => {});
  expect(access).toMatchObject(expected);
});
