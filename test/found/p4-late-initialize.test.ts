import { expect, it } from 'vitest';
import { startDemo } from '../support/child.js';

const DISCOVER = {
  jsonrpc: '2.0',
  id: 1,
  method: 'server/discover',
  params: {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'beta', version: '2.0.0-beta.4' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
};
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 2,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'beta', version: '2.0.0-beta.4' },
  },
};

it('P4: initialize after a successful server/discover is refused with what to do next (VER-009)', async () => {
  const demo = startDemo();
  demo.send(DISCOVER);
  demo.send(INITIALIZE);
  const [, refusal] = await demo.first(2);
  expect(refusal?.error).toEqual({
    code: -32022,
    message:
      'Unsupported protocol version: this connection is modern, because its first accepted request ' +
      '(server/discover, for example) was modern. Continue with 2026-07-28 requests here. For a session, open a ' +
      'new connection whose first request is initialize',
    data: { supported: ['2026-07-28'], requested: '2025-11-25' },
  });
});

it('P4: initialize works on a fresh connection, and where it is the first request', async () => {
  const demo = startDemo();
  demo.send(INITIALIZE);
  const [welcome] = await demo.first(1);
  expect(welcome?.result.protocolVersion).toBe('2025-11-25');
});

it('P4: a server of the modern era only does not speak of sessions', async () => {
  const demo = startDemo({ args: ['--era', 'modern'] });
  demo.send(DISCOVER);
  demo.send(INITIALIZE);
  const [, refusal] = await demo.first(2);
  expect(refusal?.error?.message).toBe('Unsupported protocol version; this server supports 2026-07-28');
});
