// The server behind the gateway in `npm run soak -- --attacks`: legacy, on stdio, one process for all.
// Its tools are what an attacker uses: slow, big, asking, with a hostile schema. `--deaf` stops reading after the list.
import { createInterface } from 'node:readline';

const isDeaf = process.argv.includes('--deaf');
const big = 'x'.repeat(30 * 1024 * 1024);
const schema = { type: 'object' };
const TOOLS = [
  { name: 'echo', inputSchema: schema },
  { name: 'slow', inputSchema: schema },
  { name: 'big', inputSchema: schema },
  { name: 'ask', inputSchema: schema },
  {
    name: 'trap',
    inputSchema: schema,
    outputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
  },
];

const lines = createInterface({ input: process.stdin });
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) return;
  const result = answers[method]?.(params, id);
  if (result === null) return;
  say({ id, ...(result ? { result } : { error: { code: -32601, message: 'Method not found' } }) });
  if (isDeaf && method === 'tools/list') process.stdin.pause();
});
lines.on('close', () => process.exit(0));

const text = (value) => ({ content: [{ type: 'text', text: value }] });
const answers = {
  initialize: () => ({
    protocolVersion: '2025-11-25',
    capabilities: { tools: {} },
    serverInfo: { name: 'attacked', version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call'({ name, arguments: args }, id) {
    if (name === 'slow') return null;
    if (name === 'big') return text(big);
    if (name === 'trap') return { ...text(''), structuredContent: { a: `${'a'.repeat(60)}!` } };
    if (name === 'ask') {
      const question = { message: `for ${id}`, requestedSchema: { type: 'object', properties: {} } };
      say({ id: `q${id}`, method: 'elicitation/create', params: question });
      return null;
    }
    return text(String(args?.text ?? ''));
  },
};

function say(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}
