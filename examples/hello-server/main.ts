// The smallest server, called by an old client and by a new one. Nothing in server.ts knows which is which.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('./server.js', import.meta.url));

/** Sends some lines to a fresh server and reads its answers; the end of input ends the server. */
function talk(...messages: object[]): { id: number; result: Record<string, unknown> }[] {
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const { stdout, stderr, status } = spawnSync(process.execPath, [server], { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

const greeting = { name: 'hello', arguments: { name: 'Panama' } };

// Legacy: a handshake opens a session, then come calls.
const legacy = talk(
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'old-client', version: '1.0.0' },
    },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: greeting },
);

// Modern: no handshake; every request says what it needs to say about itself.
const modern = talk({
  id: 1,
  method: 'tools/call',
  params: {
    ...greeting,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
});

const expected = [{ type: 'text', text: 'Hello, Panama!' }];
assert.equal(legacy[0]?.result['protocolVersion'], '2025-11-25');
assert.deepEqual(legacy[1]?.result['content'], expected);
assert.deepEqual(modern[0]?.result['content'], expected);
assert.equal(modern[0]?.result['resultType'], 'complete');

console.log('legacy client (2025-11-25)  →  Hello, Panama!');
console.log('modern client (2026-07-28)  →  Hello, Panama!');
