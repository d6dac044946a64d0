/**
 * The limit: what Node itself costs for this work. Bytes in, newlines, JSON.parse, an answer object,
 * JSON.stringify, one write per read. It answers correctly in both eras and does nothing else; in
 * particular it checks nothing, so no real server can be expected to match it.
 *
 * With the argument `legacy` it does not know `server/discover`, for the clients that ask.
 */

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SERVER_INFO = { name: 'bare-loop', version: '0.0.0' };
const MODERN_META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };
const NEWLINE = 10;
const KNOWS_DISCOVER = !process.argv.includes('legacy');

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
    if (message.id !== undefined) answers += `${JSON.stringify(answer(message))}\n`;
  }
  if (answers !== '') process.stdout.write(answers);
});

/** @param {{ id: string | number, method: string, params?: Record<string, any> }} request */
function answer({ id, method, params }) {
  if (method === 'tools/call') {
    const content = [{ type: 'text', text: params?.arguments.text }];
    const modern = params?._meta?.[VERSION_KEY] !== undefined;
    return modern
      ? { jsonrpc: '2.0', id, result: { resultType: 'complete', content, _meta: MODERN_META } }
      : { jsonrpc: '2.0', id, result: { content } };
  }
  if (method === 'initialize') {
    const protocolVersion = '2025-11-25';
    return {
      jsonrpc: '2.0',
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: SERVER_INFO },
    };
  }
  if (method === 'server/discover' && KNOWS_DISCOVER) {
    const supportedVersions = ['2026-07-28'];
    const hints = { ttlMs: 0, cacheScope: 'private', _meta: MODERN_META };
    const capabilities = { tools: {} };
    return {
      jsonrpc: '2.0',
      id,
      result: { resultType: 'complete', supportedVersions, capabilities, ...hints },
    };
  }
  return { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } };
}
