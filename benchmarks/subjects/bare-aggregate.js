/**
 * The limit of an aggregate: `node:http` in front, many servers behind. A list asks all of them at once, parses their
 * answers, and joins them under their names. It checks nothing, and its servers are opened at its start.
 *
 * Its argument is a configuration file with `mcpServers`.
 */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tellPort } from './support.js';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const { mcpServers } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const servers = Object.entries(mcpServers).map(([name, { command, args }]) => open(name, command, args));

tellPort(
  createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (part) => chunks.push(part));
    request.on('end', async () => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
      const result = method === 'tools/list' ? await list() : await callOne(params);
      const body = JSON.stringify({ jsonrpc: '2.0', id, result });
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      response.writeHead(200, headers);
      response.end(body);
    });
  }),
);

async function list() {
  const answers = await Promise.all(servers.map(({ ask }) => ask('tools/list', {})));
  const tools = answers.flatMap((answer, at) =>
    answer.tools.map((/** @type {{ name: string }} */ tool) => ({
      ...tool,
      name: `${servers[at].name}__${tool.name}`,
    })),
  );
  return { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' };
}

/** @param {{ name: string, arguments: object }} params */
async function callOne({ name, arguments: given }) {
  const [server, tool] = name.split('__');
  const found = servers.find((each) => each.name === server);
  return { resultType: 'complete', ...(await found?.ask('tools/call', { name: tool, arguments: given })) };
}

/**
 * @param {string} name
 * @param {string} command
 * @param {string[]} args
 */
function open(name, command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  /** @type {Map<number, (result: any) => void>} */
  const waiting = new Map();
  let nextId = 1;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = /** @type {string} */ (lines.pop());
    for (const line of lines) {
      const { id, result } = JSON.parse(line);
      waiting.get(id)?.(result);
      waiting.delete(id);
    }
  });
  const _meta = args.includes('legacy') ? {} : { [VERSION_KEY]: '2026-07-28' };
  const ask = (/** @type {string} */ method, /** @type {object} */ params) =>
    new Promise((/** @type {(result: any) => void} */ resolve) => {
      const id = nextId++;
      waiting.set(id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta } })}\n`);
    });
  return { name, ask };
}
