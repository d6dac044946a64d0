/** Calls to a replica, one at a time, in both eras. A call that fails throws. */

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

/** @param {string} url */
export async function openSession(url) {
  const welcome = await post(url, {}, INITIALIZE);
  const session = String(welcome.headers.get('mcp-session-id'));
  await welcome.text();
  const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' };
  const told = await post(url, headers, { jsonrpc: '2.0', method: 'notifications/initialized' });
  await told.text();
  return headers;
}

/**
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {number} id
 */
export async function echo(url, headers, id) {
  const params = { name: 'echo', arguments: { text: `call ${id}` } };
  const answer = await post(url, headers, { jsonrpc: '2.0', id, method: 'tools/call', params });
  const text = await answer.text();
  if (answer.status !== 200 || !text.includes(`call ${id}`)) throw new Error(`${answer.status}: ${text}`);
}

/**
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {object} message
 */
export function post(url, headers, message) {
  const own = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  return fetch(url, { method: 'POST', headers: { ...own, ...headers }, body: JSON.stringify(message) });
}

/**
 * The standing stream of a session.
 * @param {string} url
 * @param {Record<string, string>} headers
 * @param {AbortSignal} [signal]
 */
export async function openStream(url, headers, signal) {
  const own = { accept: 'text/event-stream', ...headers };
  const stream = await fetch(url, { headers: own, ...(signal && { signal }) });
  if (stream.status !== 200) throw new Error(`a stream: ${stream.status} ${await stream.text()}`);
  return stream;
}

/**
 * @param {string} url
 * @param {number} id
 */
export async function callModern(url, id) {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const params = { name: 'echo', arguments: { text: 'x' }, _meta };
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' };
  const answer = await post(url, headers, { jsonrpc: '2.0', id, method: 'tools/call', params });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`a modern call: ${answer.status} ${text}`);
}
