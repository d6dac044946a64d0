// A gateway that is closed while a client waits for servers that never come, in a process of its own: should it hang, it
// hangs alone. Tells how long it took. node closes-while-clients-wait.mjs <unix|http> <path of a socket>
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGateway } from '@isthmus/gateway/internal/create-gateway.js';

const [way, path] = process.argv.slice(2);

const never = (name) => ({
  name,
  source: {
    kind: 'command',
    definition: {
      command: process.execPath,
      args: ['-e', 'setTimeout(() => {}, 60_000)'],
      env: {},
      cwd: process.cwd(),
      processes: 'shared',
      start: 'eager',
      shutdown: { closeMs: 100, termMs: 100, killMs: 500 },
    },
  },
  bridge: { stateless: false },
  unit: { disabled: false, needed: true, tools: {}, limits: {} },
});

const gateway = await createGateway({
  units: [never('a'), never('b')],
  addresses: [`unix:${path}`, 'http://127.0.0.1:0/mcp'],
  host: { ledger: false, cache: false },
});
const clientInfo = { name: 'early', version: '1' };
const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
const body = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`;
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
if (way === 'unix') {
  connect(path)
    .on('error', () => {})
    .write(body);
} else {
  for (const place of ['', '/a', '/b']) {
    fetch(`${gateway.addresses[1]}${place}`, { method: 'POST', headers, body }).catch(() => {});
  }
}
await sleep(300);
const began = Date.now();
await gateway.close({ graceMs: 500 });
process.stdout.write(`${JSON.stringify({ ms: Date.now() - began })}\n`);
process.exit(0);
