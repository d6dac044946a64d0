// Answers requests, and writes notifications without end, as fast as the pipe takes them.
import { createInterface } from 'node:readline';

const noise = `${'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"flood"}}\n'.repeat(500)}`;

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  const result =
    method === 'initialize'
      ? {
          protocolVersion: '2025-11-25',
          capabilities: { tools: {}, logging: {} },
          serverInfo: { name: 'floods', version: '1' },
        }
      : method === 'tools/list'
        ? { tools: [{ name: 'a', inputSchema: { type: 'object' } }] }
        : undefined;
  if (id === undefined) return;
  const body = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...body })}\n`);
});

function flood() {
  while (process.stdout.write(noise));
  process.stdout.once('drain', () => setImmediate(flood));
}
flood();
process.stdin.on('end', () => process.exit(0));
