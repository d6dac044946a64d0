/**
 * The limit over HTTP: what `node:http` itself costs for this work. Body in, JSON.parse, an answer object,
 * JSON.stringify, one write. It answers a call correctly in both eras, and checks nothing.
 */

import { createServer } from 'node:http';
import { tellPort } from './support.js';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const SERVER_INFO = { name: 'bare-http', version: '0.0.0' };
const MODERN_META = { 'io.modelcontextprotocol/serverInfo': SERVER_INFO };

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(404, { 'content-length': '0' }).end();
    return;
  }
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const message = JSON.parse((chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)).toString('utf8'));
    if (message.id === undefined) {
      response.writeHead(202, { 'content-length': '0' });
      response.end();
      return;
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) });
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    });
    response.end(body);
  });
});
tellPort(server);

/** @param {{ method: string, params: Record<string, any> }} request */
function resultOf({ method, params }) {
  if (method === 'initialize') {
    return { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: SERVER_INFO };
  }
  const content = [{ type: 'text', text: params.arguments.text }];
  const modern = params._meta?.[VERSION_KEY] !== undefined;
  return modern ? { resultType: 'complete', content, _meta: MODERN_META } : { content };
}
