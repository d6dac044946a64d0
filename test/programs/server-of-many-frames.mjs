// Its tool `flood` sends 10,000 messages a second for six seconds: in turn a log message and progress of the call.
import { createInterface } from 'node:readline';

const TOTAL = 60_000;
const PER_MS = 10;
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const ANSWERS = {
  initialize: {
    protocolVersion: '2025-11-25',
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: 'flood', version: '1.0.0' },
  },
  'tools/list': { tools: [{ name: 'flood', inputSchema: { type: 'object' } }] },
};

createInterface(process.stdin).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'tools/call') return flood(id, params._meta?.progressToken);
  const result = ANSWERS[method];
  send(result ? { id, result } : { id, error: { code: -32601, message: 'Method not found' } });
});

function flood(id, progressToken) {
  const began = performance.now();
  let sent = 0;
  const timer = setInterval(() => {
    const due = Math.min(TOTAL, Math.floor((performance.now() - began) * PER_MS));
    let text = '';
    for (; sent < due; sent += 1) text += `${JSON.stringify(messageOf(sent, progressToken))}\n`;
    process.stdout.write(text);
    if (sent < TOTAL) return;
    clearInterval(timer);
    const seconds = (performance.now() - began) / 1000;
    send({ id, result: { content: [{ type: 'text', text: `${Math.round(sent / seconds)} a second` }] } });
  }, 5);
}

function messageOf(sent, progressToken) {
  const message = `message ${sent} of the flood`;
  return sent % 2 === 0 || progressToken === undefined
    ? { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: message } }
    : {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken, progress: sent, total: TOTAL, message },
      };
}
