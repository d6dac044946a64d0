/**
 * The server behind every bridge: as lean as the bare loop, so that the bridge is what is measured, but with all
 * that a bridge may ask for at its start. Tools: `echo`, and `large`, whose text of 5 MB is encoded once.
 *
 * With the argument `legacy` it knows the legacy era only.
 */

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SUBSCRIPTION_KEY = 'io.modelcontextprotocol/subscriptionId';
const SERVER_INFO = { name: 'upstream', version: '0.0.0' };
const MODERN_META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };
const CAPABILITIES = { tools: {} };
const NEWLINE = 10;
const LARGE_BYTES = 5_000_000;
const KNOWS_MODERN = !process.argv.includes('legacy');

const inputSchema = { type: 'object', properties: { text: { type: 'string' } } };
const TOOLS = [
  { name: 'echo', description: 'Returns the text it is given.', inputSchema },
  { name: 'large', description: 'Returns 5 MB of text.', inputSchema },
];

/** @type {string | undefined} JSON of the content of `large` */
let largeContent;
/** @type {Buffer[]} the pieces of a line whose end has not arrived */
let pending = [];

process.stdin.on('data', (/** @type {Buffer} */ chunk) => {
  const end = chunk.lastIndexOf(NEWLINE);
  if (end === -1) {
    pending.push(chunk);
    return;
  }
  let lines = chunk.subarray(0, end);
  if (pending.length > 0) {
    pending.push(lines);
    lines = Buffer.concat(pending);
    pending = [];
  }
  if (end + 1 < chunk.length) pending.push(chunk.subarray(end + 1));

  let answers = '';
  for (const line of lines.toString('utf8').split('\n')) {
    const message = JSON.parse(line);
    if (message.id !== undefined) answers += `${answer(message)}\n`;
  }
  if (answers !== '') process.stdout.write(answers);
});

/** @param {{ id: string | number, method: string, params?: Record<string, any> }} request */
function answer({ id, method, params }) {
  const modern = KNOWS_MODERN && params?._meta?.[VERSION_KEY] !== undefined;
  const complete = (/** @type {object} */ result) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id,
      result: modern ? { resultType: 'complete', ...result, _meta: MODERN_META } : result,
    });
  switch (method) {
    case 'tools/call':
      return params?.name === 'large'
        ? `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${modern ? '"resultType":"complete",' : ''}"content":${large()}}}`
        : complete({ content: [{ type: 'text', text: params?.arguments.text }] });
    case 'tools/list':
      return complete(modern ? { tools: TOOLS, ttlMs: 3_600_000, cacheScope: 'public' } : { tools: TOOLS });
    case 'initialize':
      return complete({
        protocolVersion: params?.protocolVersion ?? '2025-11-25',
        capabilities: CAPABILITIES,
        serverInfo: SERVER_INFO,
      });
    case 'ping':
      return complete({});
    case 'server/discover':
      if (!modern) break;
      return complete({
        supportedVersions: ['2026-07-28'],
        capabilities: CAPABILITIES,
        ttlMs: 3_600_000,
        cacheScope: 'public',
      });
    case 'subscriptions/listen':
      if (!modern) break;
      return JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/subscriptions/acknowledged',
        params: { _meta: { [SUBSCRIPTION_KEY]: id }, notifications: {} },
      });
  }
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
}

function large() {
  if (largeContent === undefined) {
    const line = 'The quick brown fox jumps over the lazy dog, and the dog says "well jumped".\n';
    const text = line.repeat(Math.ceil(LARGE_BYTES / line.length)).slice(0, LARGE_BYTES);
    largeContent = JSON.stringify([{ type: 'text', text }]);
  }
  return largeContent;
}
