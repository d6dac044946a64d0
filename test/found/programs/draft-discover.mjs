// A server that answers server/discover in the shape of a draft of 2026-07-28, and results without resultType.
import { createInterface } from 'node:readline';

const TOOL = { name: 'add', description: 'Adds', inputSchema: { type: 'object' } };
const RESULTS = {
  'server/discover': {
    protocolVersion: '2026-07-28',
    serverInfo: { name: 'demo-mcp', version: '1.2.3' },
    capabilities: { tools: { listChanged: true } },
  },
  'tools/list': { tools: [TOOL] },
  'tools/call': { content: [{ type: 'text', text: '5' }] },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const result = RESULTS[method];
  const answer = result ? { result } : { error: { code: -32601, message: `Method not found: ${method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
});
