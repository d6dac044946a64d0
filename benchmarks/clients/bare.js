/**
 * The limit: what Node itself costs for a client's part. A map of ids, `JSON.stringify`, one write per turn,
 * newlines, `JSON.parse`. It checks nothing, and `auto` is only a probe whose answer it waits for.
 */

import { spawn } from 'node:child_process';
import { drive } from './driver.js';

const CLIENT_INFO = { name: 'bare', version: '0.0.0' };
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': CLIENT_INFO,
};

await drive(async (mode, command, args) => {
  // Like the others, it passes on little of its environment: NODE_EXTRA_CA_CERTS alone can cost a server 40 ms.
  const env = { PATH: process.env.PATH, HOME: process.env.HOME };
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  /** @type {Map<number, (message: any) => void>} */
  const waiting = new Map();
  let nextId = 1;
  let outgoing = '';
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = /** @type {string} */ (lines.pop());
    for (const line of lines) {
      const message = JSON.parse(line);
      waiting.get(message.id)?.(message);
      waiting.delete(message.id);
    }
  });
  const write = (/** @type {object} */ message) => {
    if (outgoing === '') {
      queueMicrotask(() => {
        child.stdin.write(outgoing);
        outgoing = '';
      });
    }
    outgoing += `${JSON.stringify(message)}\n`;
  };
  const request = (/** @type {string} */ method, /** @type {object} */ params) =>
    new Promise((/** @type {(message: any) => void} */ resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      write({ jsonrpc: '2.0', id, method, params });
    });

  let modern = mode === 'modern';
  if (mode === 'auto') modern = (await request('server/discover', { _meta: ENVELOPE })).result !== undefined;
  if (!modern) {
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: CLIENT_INFO };
    await request('initialize', params);
    write({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }
  return {
    revision: modern ? '2026-07-28' : '2025-11-25',
    call: async (text) => {
      const params = { name: 'echo', arguments: { text } };
      const { result } = await request('tools/call', modern ? { ...params, _meta: ENVELOPE } : params);
      return result.content[0].text;
    },
    close: async () => void child.stdin.end(),
  };
});
