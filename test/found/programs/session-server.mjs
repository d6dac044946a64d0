// A session server that answers initialize with the revision it is given, whatever was asked for.
import { createInterface } from 'node:readline';

const [protocolVersion, ...speaks] = process.argv.slice(2);

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answerTo(method, params) })}\n`);
});

function answerTo(method, params) {
  switch (method) {
    case 'initialize': {
      // With further arguments it refuses what is not among them, and names them.
      const requested = params.protocolVersion;
      if (speaks.length > 0 && !speaks.includes(requested)) {
        return { error: { code: -32602, message: 'Unsupported', data: { supported: speaks, requested } } };
      }
      const serverInfo = { name: 'interim', version: '1' };
      return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
    }
    case 'tools/list':
      return { result: { tools: [{ name: 'add', inputSchema: { type: 'object' }, icons: [] }] } };
    case 'tools/call':
      return { result: { content: [{ type: 'text', text: '5' }] } };
    case 'ping':
      return { result: {} };
    default:
      return { error: { code: -32601, message: `Method not found: ${method}` } };
  }
}
