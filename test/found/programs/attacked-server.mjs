// A legacy server on stdio: `echo` answers at once, `hold` never, `big` says progress and then much.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const TOOLS = ['echo', 'hold', 'big'].map((name) => ({ name, inputSchema: { type: 'object' } }));

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    const { protocolVersion } = params;
    const serverInfo = { name: 'attacked', version: '1' };
    send({ id, result: { protocolVersion, capabilities: { tools: {} }, serverInfo } });
  } else if (method === 'tools/list') send({ id, result: { tools: TOOLS } });
  else if (method === 'tools/call') call(id, params);
  else if (id !== undefined) send({ id, error: { code: -32601, message: 'no such method' } });
});

function call(id, { name, arguments: args, _meta }) {
  if (name === 'echo') return send({ id, result: text(args.text) });
  if (name !== 'big') return;
  const progressToken = _meta?.progressToken;
  if (progressToken !== undefined) {
    send({ method: 'notifications/progress', params: { progressToken, progress: 1 } });
  }
  send({ id, result: text('x'.repeat(args.bytes)) });
}
